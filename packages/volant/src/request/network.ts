/** The network that a client is counted by: who has one address of IPv6 has 64 bits of them. */
import { isIPv4 } from 'node:net'

/** The most characters that are kept of a text that is no address. */
const longest = 64

/** Gives the /64 of an IPv6 address, and the IPv4 address that is mapped in one, however it is written. */
export function networkOf(ip: string): string {
  const zone = ip.indexOf('%')
  const groups = groupsOf(zone === -1 ? ip : ip.slice(0, zone))
  if (groups === null) return ip.slice(0, longest)
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
