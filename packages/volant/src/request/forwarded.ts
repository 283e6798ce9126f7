/**
 * Finds the origin of a request by what trusted proxies say: X-Forwarded-For, -Proto and -Host, or Forwarded (RFC
 * 7239). Lists are read from the right, since everything left of what trusted proxies wrote may be the client's
 * invention.
 */
// proxy-addr gives `unknown` as an address, and has no Forwarded (docs/decisions/0013-what-libraries-do.md).
import type { Exchange } from '@volant/engine'
import { isHost } from '../routing/host.ts'
import { parametersOf } from './parameters.ts'
import { canonicalAddress, mostHops, plainAddress } from './trust.ts'
import type { Trust, Trusts } from '../types/request.ts'

export interface Origin {
  /** The first address that is not a trusted proxy's, or the farthest that is known. */
  readonly ip: string
  /** The addresses from `ip` to the peer of the connection. */
  readonly ips: readonly string[]
  readonly protocol: 'http' | 'https'
  /** The authority the client asked: name or address, and a port unless it is the protocol's. */
  readonly host: string
}

/** Gives the address of the peer. This function and the two below ignore the fields of proxies. */
export function peerOf(exchange: Exchange): string {
  return plainAddress(exchange.remoteAddress)
}

export function protocolOf(exchange: Exchange): 'http' | 'https' {
  return exchange.encrypted === true ? 'https' : 'http'
}

export function hostOf(exchange: Exchange): string {
  return exchange.authority
}

export function originOf(exchange: Exchange, trust: Trust): Origin {
  const ip = peerOf(exchange)
  const direct: Origin = { ip, ips: [ip], protocol: protocolOf(exchange), host: hostOf(exchange) }
  if (!trust.trusts(ip, 0)) return direct
  return trust.headers === 'forwarded'
    ? byForwarded(exchange, trust.trusts, direct)
    : byXForwarded(exchange, trust.trusts, direct)
}

function byXForwarded(exchange: Exchange, trusts: Trusts, direct: Origin): Origin {
  const ips = [direct.ip]
  let hops = 0
  let list = exchange.header('x-forwarded-for')
  while (hops < mostHops && trusts(ips[0] as string, hops)) {
    hops++
    if (list === undefined) break
    const comma = list.lastIndexOf(',')
    const address = addressOf(list.slice(comma + 1).trim())
    list = comma === -1 ? undefined : list.slice(0, comma)
    if (address === null) break
    ips.unshift(address)
  }
  const protocol = fromRight(exchange.header('x-forwarded-proto'), hops)?.toLowerCase()
  const host = fromRight(exchange.header('x-forwarded-host'), hops)
  return {
    ip: ips[0] as string,
    ips,
    protocol: isProtocol(protocol) ? protocol : direct.protocol,
    host: isAuthority(host) ? host : direct.host,
  }
}

/** Gives the entry that the `hops`th proxy from the right wrote, or the first one if the others did not add any. */
function fromRight(list: string | undefined, hops: number): string | undefined {
  if (list === undefined) return undefined
  let end = list.length
  for (let left = hops; ; left--) {
    const comma = list.lastIndexOf(',', end - 1)
    if (left === 1 || comma <= 0) return list.slice(comma + 1, end).trim()
    end = comma
  }
}

function byForwarded(exchange: Exchange, trusts: Trusts, direct: Origin): Origin {
  const ips = [direct.ip]
  let { protocol, host } = direct
  let rest = exchange.header('forwarded')
  for (let hop = 0; hop < mostHops && rest !== undefined && trusts(ips[0] as string, hop); hop++) {
    const start = lastElement(rest)
    const element = parseElement(rest.slice(start))
    if (element === null) break
    rest = start === 0 ? undefined : rest.slice(0, start - 1)
    // Each proxy says how it was reached itself: the farthest trusted one says how the client reached it.
    const scheme = element['proto']?.toLowerCase()
    protocol = isProtocol(scheme) ? scheme : direct.protocol
    host = isAuthority(element['host']) ? element['host'] : direct.host
    const address = addressOf(element['for'] ?? '')
    if (address === null) break
    ips.unshift(address)
  }
  return { ip: ips[0] as string, ips, protocol, host }
}

/** Gives the start of a list's last element: it follows the last comma outside quotes, read from the right. */
function lastElement(list: string): number {
  let quoted = false
  for (let at = list.length - 1; at >= 0; at--) {
    const code = list.charCodeAt(at)
    if (code === 0x22) {
      let slashes = at
      while (slashes > 0 && list.charCodeAt(slashes - 1) === 0x5c) slashes--
      if ((at - slashes) % 2 === 0) quoted = !quoted
      at = slashes
    } else if (code === 0x2c && !quoted) return at + 1
  }
  return 0
}

/** Gives the pairs of one element by lower-case name, or null if it is malformed or has a name twice. */
function parseElement(element: string): Record<string, string> | null {
  const pairs = parametersOf(`;${element.trim()}`, 0)
  if (pairs === null || new Set(pairs.map(([name]) => name)).size < pairs.length) return null
  return Object.assign(Object.create(null), Object.fromEntries(pairs))
}

/** Gives an address without its port and brackets; null for `unknown`, for obfuscated names (RFC 7239 §6.3) and garbage. */
function addressOf(node: string): string | null {
  // The longest one is an IPv6 address of 45 characters, brackets, a colon and a port.
  if (node.length > 53) return null
  const [, inner, v4] = /^(?:\[([^\]]*)\]|([0-9.]+))(?::[0-9A-Za-z._-]{1,5})?$/.exec(node) ?? []
  if (inner !== undefined) return inner.includes(':') ? canonicalAddress(inner) : null
  return canonicalAddress(v4 ?? node)
}

function isProtocol(text: string | undefined): text is 'http' | 'https' {
  return text === 'http' || text === 'https'
}

function isAuthority(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text.length <= 261 && isHost(text)
}
