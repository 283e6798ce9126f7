/** Reads a request's paths, parameters, fields and addresses out of the shared memory. */
import { fieldSpanWords, parameterSpanWords, requestCounts, requestSpans } from './generated/layout.ts'
import { bytes, words } from './memory.ts'

/** Strings up to this length are read by a loop; a call of `latin1Slice` costs as much as that. */
const loopLength = 12

/** Reads Latin-1, as node:http does for fields. Targets are ASCII. */
export function readText(start: number, length: number): string {
  if (length > loopLength) return bytes.latin1Slice(start, start + length)
  let text = ''
  for (let at = start; at < start + length; at++) text += String.fromCharCode(bytes[at] as number)
  return text
}

export function fieldsOf(at: number): number {
  const params = (words[at + requestCounts] as number) & 0xff
  return (words[at + requestSpans] as number) + params * parameterSpanWords
}

export function readFieldName(span: number): string {
  return readText(words[span] as number, (words[span + 1] as number) & 0xffff)
}

export function readParam(at: number, index: number): string | undefined {
  if (index >= ((words[at + requestCounts] as number) & 0xff)) return undefined
  const span = (words[at + requestSpans] as number) + index * parameterSpanWords
  const length = words[span + 1] as number
  if (length < 0) return undefined
  const text = readText(words[span] as number, length)
  // The engine has checked that escapes are well-formed UTF-8.
  return text.includes('%') ? decodeURIComponent(text) : text
}

export function readPeer(at: number): string {
  const span = fieldsOf(at) + ((words[at + requestCounts] as number) >> 8) * fieldSpanWords
  const family = words[span] as number
  if (family === 0) return ''
  if (family === 4) return ipv4Text(words[span + 1] as number)
  const groups: number[] = []
  for (let word = 1; word <= 4; word++) {
    const pair = words[span + word] as number
    groups.push((pair >>> 16) & 0xffff, pair & 0xffff)
  }
  return formatIpv6(groups)
}

/** The texts of addresses that were read before: making one, and hashing it anew, costs about 100 ns. */
const ipv4Texts: string[] = Array<string>(256).fill('0.0.0.0')
const ipv4Words = new Int32Array(256)

function ipv4Text(ip: number): string {
  const at = (Math.imul(ip, 0x9e3779b1) >>> 24) & 255
  if (ipv4Words[at] === ip) return ipv4Texts[at] as string
  const text = `${(ip >>> 24) & 255}.${(ip >>> 16) & 255}.${(ip >>> 8) & 255}.${ip & 255}`
  ipv4Words[at] = ip
  ipv4Texts[at] = text
  return text
}

/** Writes lower-case hex, and the longest run of two or more zero groups as `::` (RFC 5952). */
function formatIpv6(groups: number[]): string {
  let best = -1
  let bestLength = 1
  for (let start = 0; start < 8; start++) {
    let end = start
    while (end < 8 && groups[end] === 0) end++
    if (end - start > bestLength) {
      best = start
      bestLength = end - start
    }
  }
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':')
  if (best === -1) return hex(groups)
  return `${hex(groups.slice(0, best))}::${hex(groups.slice(best + bestLength))}`
}

/** Gives the fields of a head that the engine has accepted: every line ends in CRLF and has a name and a colon. */
export function parseFields(head: Buffer): string[] {
  const raw: string[] = []
  const lines = head.toString('latin1').split('\r\n')
  for (const line of lines.slice(lines[0] === '' ? 2 : 1)) {
    const colon = line.indexOf(':')
    if (colon === -1) continue
    raw.push(line.slice(0, colon), line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, ''))
  }
  return raw
}
