/** Whom a request is counted for: a client's network, or what the app says. */
import { createHash } from 'node:crypto'
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'
import { networkOf } from '../request/network.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'

/** Gives the key that a request is counted by. Without one, it is counted by its address. */
export type KeyGenerator = (
  ctx: Context,
) => string | number | null | undefined | Promise<string | number | null | undefined>

export type KeyOf = (ctx: RequestContext) => string | PromiseLike<string>

/** A longer key is replaced by its digest, so that a client's header decides neither memory nor the size of commands. */
const longestKey = 64

/** Makes the function that limits call; `where` names the option in messages. */
export function keyOfWith(generate: KeyGenerator | undefined, where: string): KeyOf {
  if (generate === undefined) return addressKey
  return (ctx) => {
    const given = generate(ctx)
    return isThenable(given)
      ? given.then((value) => checkedKey(value, ctx, where))
      : checkedKey(given, ctx, where)
  }
}

function checkedKey(given: unknown, ctx: RequestContext, where: string): string {
  if (given === undefined || given === null || given === '') return addressKey(ctx)
  if (typeof given !== 'string' && typeof given !== 'number') {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where} gave ${briefValue(given)} for ${ctx.method} ${ctx.pattern ?? ctx.path}: it gives a text or a number, or undefined for the address of the client`,
    )
  }
  return keyFrom(given)
}

/** The sign in front keeps keys of the app apart from addresses, whatever a client sends. */
export function keyFrom(given: string | number): string {
  const text = `=${given}`
  // In UTF-8 all broken surrogates are the same bytes.
  return text.length <= longestKey
    ? text
    : `#${createHash('sha256').update(text, 'utf16le').digest('base64url')}`
}

/** Gives the address of the client, of IPv6 the network of 64 bits: who has one address of it has all of them. */
export function addressKey(ctx: RequestContext): string {
  const { ip } = ctx
  return ip.includes(':') ? (networks.get(ip) ?? learnNetwork(ip)) : ip
}

/** The networks of addresses that were seen before, since it costs a microsecond to take an address apart. */
const networks = new Map<string, string>()
const mostNetworks = 1_000

function learnNetwork(ip: string): string {
  const network = networkOf(ip)
  if (networks.size >= mostNetworks) networks.clear()
  networks.set(ip, network)
  return network
}
