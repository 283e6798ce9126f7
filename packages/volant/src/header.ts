/** Checks of reply headers: what passes here may be written to a socket as it is (RFC 9110 §5.5, §5.6.2). */
import { VolantError } from './errors.ts'

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const forbiddenInValue = /[^\t\x20-\x7e\x80-\xff]/

/** Fields that frame the message or belong to the connection: only the engine writes them (RFC 9112 §6, §9). */
export const engineHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Most characters of a name or value; the engine carries lengths in 16 bits. */
const longest = 65_535

/** Names already found good, with their lower-case form. Bounded: names may be made from input. */
const known = new Map<string, string>()
const knownLimit = 1_000

/** The lower-case form of a good name; throws `E_BAD_HEADER` for any other. */
export function checkHeaderName(name: string): string {
  const lower = known.get(name)
  return lower === undefined ? learn(name) : lower
}

function learn(name: string): string {
  if (typeof name !== 'string' || !token.test(name)) {
    throw new VolantError('E_BAD_HEADER', `${JSON.stringify(name)} is not a header name`)
  }
  const lower = name.toLowerCase()
  if (engineHeaders.has(lower)) {
    throw new VolantError('E_BAD_HEADER', `the header ${name} is written by the server itself`)
  }
  if (known.size < knownLimit) known.set(name, lower)
  return lower
}

/**
 * Throws `E_BAD_HEADER` unless `name` is a token that is not the engine's own, and `value` a string of
 * tab, visible ASCII, space and 0x80–0xFF (sent as Latin-1).
 */
export function checkHeader(name: string, value: string): void {
  checkHeaderName(name)
  checkHeaderValue(name, value)
}

/** The value as a string; numbers are taken too. */
export function checkHeaderValue(name: string, value: string | number): string {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || forbiddenInValue.test(text)) {
    throw new VolantError('E_BAD_HEADER', `the value of header ${name} has a forbidden character`)
  }
  if (text.length > longest || name.length > longest) {
    throw new VolantError('E_BAD_HEADER', `a header is longer than ${longest} characters`)
  }
  return text
}
