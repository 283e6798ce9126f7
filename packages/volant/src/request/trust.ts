/** Decides by the option `trustProxy` which peers may say where a request came from. */
import { BlockList, isIP, SocketAddress } from 'node:net'
import { bad } from '../options/bad-option.ts'
import { checkOptionNames } from '../options/option-names.ts'
import type { Trust, Trusts } from '../types/request.ts'

/**
 * The proxies that are believed about a request's origin:
 *
 * - `true`: every peer. Then anybody who reaches the server names the address he likes; use it only where nothing but
 *   the proxy can connect.
 * - a number from 1 to 64: so many proxies, counted from the server outwards, whatever their addresses.
 * - addresses and CIDR ranges, and the names `'loopback'`, `'private'`, `'linklocal'` and `'unix'` (a peer on a Unix
 *   socket, which has no address).
 */
export type TrustedPeers = boolean | number | string | readonly string[]

/** The option `trustProxy` with a choice of fields. */
export interface TrustProxyOptions {
  /** The proxies that are believed. */
  from: TrustedPeers
  /**
   * The fields that the proxies write: X-Forwarded-For, -Proto and -Host, or Forwarded (RFC 7239). Default
   * `x-forwarded`. Only these are read, since a proxy that writes the one kind hands on what a client wrote in the
   * other.
   */
  headers?: 'x-forwarded' | 'forwarded' | undefined
}

/** A request may pass this many proxies; entries before those are not read. */
export const mostHops = 64

/** Gives null where nobody is trusted. Throws `E_BAD_OPTION`. */
export function resolveTrust(given: unknown): Trust | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const trusts = resolvePeers(given, 'trustProxy')
    return trusts === null ? null : { trusts, headers: 'x-forwarded' }
  }
  checkOptionNames('trustProxy', given, ['from', 'headers'])
  const { from, headers = 'x-forwarded' } = given as Partial<TrustProxyOptions>
  if (headers !== 'x-forwarded' && headers !== 'forwarded') {
    throw bad('trustProxy.headers', headers, "'x-forwarded' or 'forwarded'")
  }
  if (from === undefined) throw bad('trustProxy.from', from, expected)
  const trusts = resolvePeers(from, 'trustProxy.from')
  return trusts === null ? null : { trusts, headers }
}

/** IPv4 in IPv6 notation (RFC 4291 §2.5.5.2), as dual-stack sockets show it, becomes IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}

/** Gives the canonical form of an address; null for anything else, and for a zone, which only its own machine knows. */
export function canonicalAddress(text: string): string | null {
  const family = text.length > 45 || text.includes('%') ? 0 : isIP(text)
  if (family === 0) return null
  return family === 4 ? text : plainAddress(new SocketAddress({ address: text, family: 'ipv6' }).address)
}

const expected =
  "true, false, a number of proxies from 1 to 64, addresses, CIDR ranges, 'loopback', 'private', 'linklocal' or 'unix'"

function resolvePeers(given: unknown, name: string): Trusts | null {
  if (given === undefined || given === false) return null
  if (given === true) return () => true
  if (typeof given === 'number') {
    if (!Number.isInteger(given) || given < 1 || given > mostHops) throw bad(name, given, expected)
    return (_, hop) => hop < given
  }
  const entries: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (entries.length === 0) throw bad(name, 'an empty list', expected)
  const list = new BlockList()
  let unix = false
  for (const entry of entries) {
    if (entry === 'unix') unix = true
    else if (typeof entry !== 'string' || !addRange(list, entry)) throw bad(name, entry, expected)
  }
  return trustsListed(list, unix)
}

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
}

function addRange(list: BlockList, entry: string): boolean {
  if (Object.hasOwn(named, entry))
    return (named[entry] as readonly string[]).every((range) => addRange(list, range))
  const [, text = '', bits] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const address = canonicalAddress(text)
  if (address === null) return false
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  const most = family === 'ipv4' ? 32 : 128
  // `::ffff:10.0.0.0/104` counts bits of an address that is written with 32.
  const shift = family === 'ipv4' && text.includes(':') ? 96 : 0
  const prefix = bits === undefined ? most : Number(bits) - shift
  if (prefix < 0 || prefix > most) return false
  list.addSubnet(address, prefix, family)
  return true
}

/** Gives a check of addresses for a list of addresses, ranges and names of ranges; null if there is another text in it. */
export function listedPeers(entries: readonly string[]): Trusts | null {
  const list = new BlockList()
  return entries.every((entry) => addRange(list, entry)) ? trustsListed(list, false) : null
}

/** This many verdicts are kept, since a list is searched from its start for every address. */
const mostVerdicts = 1_000

function trustsListed(list: BlockList, unix: boolean): Trusts {
  const verdicts = new Map<string, boolean>()
  return (address, hop) => {
    if (address === '') return unix
    // Verdicts are kept on peers alone: the addresses in a field may be new every time.
    const kept = hop === 0 ? verdicts.get(address) : undefined
    if (kept !== undefined) return kept
    const zone = address.indexOf('%')
    const bare = zone === -1 ? address : address.slice(0, zone)
    const verdict = list.check(bare, bare.includes(':') ? 'ipv6' : 'ipv4')
    if (hop === 0) {
      if (verdicts.size >= mostVerdicts) verdicts.clear()
      verdicts.set(address, verdict)
    }
    return verdict
  }
}
