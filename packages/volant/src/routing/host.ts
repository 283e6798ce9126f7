import { isIPv6 } from 'node:net'

/**
 * Matches a registered name or an IP literal, and a port (RFC 9110 §7.2). It takes no comma, which joins two headers.
 */
const host = /^(?:(?:[A-Za-z0-9\-._~!$&'()*+;=]|%[0-9A-Fa-f]{2})+|\[([0-9A-Fa-f:.]+)\])(?::(\d{0,5}))?$/

/** True when `value` may be a Host; it may be empty. */
export function isHost(value: string): boolean {
  if (value === '') return true
  const match = host.exec(value)
  if (match === null || Number(match[2] ?? 0) > 65_535) return false
  return match[1] === undefined || isIPv6(match[1])
}
