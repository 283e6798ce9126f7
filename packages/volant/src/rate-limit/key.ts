/** Whom a request is counted for: a client's network, or what the app says. */
import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'
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

/** Gives the /64 of an IPv6 address, and the IPv4 address that is mapped in one, however it is written. */
export function networkOf(ip: string): string {
  const zone = ip.indexOf('%')
  const groups = groupsOf(zone === -1 ? ip : ip.slice(0, zone))
  if (groups === null) return ip.slice(0, longestKey)
  const [a, b, c, d, e, f, g, h] = groups as [number, number, number, number, number, number, number, number]
  if ((a | b | c | d | e) === 0 && f === 0xffff) return `${g >> 8}.${g & 255}.${h >> 8}.${h & 255}`
  return `${a.toString(16)}:${b.toString(16)}:${c.toString(16)}:${d.toString(16)}::/64`
}

/** Gives the eight groups of an address (RFC 4291 §2.2), or null if it is none. */
function groupsOf(address: string): number[] | null {
  const gap = address.indexOf('::')
  const head = partOf(gap === -1 ? address : address.slice(0, gap))
  const tail = gap === -1 ? [] : partOf(address.slice(gap + 2))
  if (head === null || tail === null) return null
  const missing = 8 - head.length - tail.length
  if (gap === -1 ? missing !== 0 : missing < 1) return null
  return [...head, ...Array<number>(missing).fill(0), ...tail]
}

function partOf(text: string): number[] | null {
  if (text === '') return []
  const groups: number[] = []
  for (const part of text.split(':')) {
    if (part.includes('.')) {
      if (!isIPv4(part)) return null
      const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
      groups.push(a * 256 + b, c * 256 + d)
    } else {
      const group = Number.parseInt(part, 16)
      if (!(group >= 0 && group <= 0xffff)) return null
      groups.push(group)
    }
  }
  return groups
}
