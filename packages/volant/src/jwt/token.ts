/** A signed token in compact form (RFC 7515 §7.1): its three parts, read strictly. */
import { isUtf8 } from 'node:buffer'

/** The most characters that `maxTokenSize` may allow. */
export const mostTokenSize = 65_536

/** Why a token is refused. Clients are told of `expired` alone. */
export const faults = {
  size: 'The token is longer than maxTokenSize',
  form: 'The token is not a signed token in compact form',
  algorithm: 'The algorithm of the token is not among algorithms',
  critical: 'The token has a critical header parameter, and none is known',
  type: 'The type in the header of the token is not typ',
  signature: 'The signature of the token does not fit',
  key: 'No key fits the token',
  claims: 'The claims of the token are not a JSON object',
  missing: 'The token lacks a claim that is required',
  times: 'A time in the token is not a number',
  expired: 'The token has expired',
  early: 'The token is not valid yet',
  issued: 'The token was issued in the future',
  age: 'The token is older than maxTokenAge',
  issuer: 'The issuer of the token is not issuer',
  audience: 'The token is for another audience',
  subject: 'The subject of the token is not subject',
  schema: 'The claims of the token are not what their schema asks for',
} as const

export type Fault = keyof typeof faults

/** What is known of a header. */
export interface TokenHeader {
  readonly alg: string
  readonly typ: unknown
  readonly kid: unknown
}

/** The claims of a token by name. */
export type Claims = Record<string, unknown>

/** The claims that RFC 7519 §4.1 registers, and any others. */
export interface JwtClaims {
  /** The issuer. */
  iss?: string
  /** The subject, such as the id of a user. */
  sub?: string
  /** Those whom the token is for. */
  aud?: string | string[]
  /** The time from which on the token is refused, in seconds since 1970. */
  exp?: number
  /** The time before which the token is refused, in seconds since 1970. */
  nbf?: number
  /** The time at which the token was issued, in seconds since 1970. */
  iat?: number
  /** The id of the token. */
  jti?: string
  /** Other claims. */
  [name: string]: unknown
}

/** True where the dots at these places are the only ones. */
export function isCompact(token: string, first: number, last: number): boolean {
  return first !== -1 && first !== last && token.indexOf('.', first + 1) === last
}

/** Reads the header, which nobody has verified yet. */
export function readHeader(text: string): TokenHeader | Fault {
  const header = readObject(text)
  if (header === null || typeof header['alg'] !== 'string') return 'form'
  // RFC 7515 §4.1.11: who does not know a critical parameter refuses the token. RFC 7797 §7: a JWT has no use for b64.
  if (Object.hasOwn(header, 'crit')) return 'critical'
  return { alg: header['alg'], typ: header['typ'], kid: header['kid'] }
}

/** Gives the JSON object that a part is; null for anything else. A member that comes twice has its last value. */
export function readObject(text: string): Claims | null {
  const size = decoded.write(text, 'base64url')
  if (!isStrict(text, size)) return null
  const json = decoded.toString('utf8', 0, size)
  if (json.includes('\uFFFD') && !isUtf8(decoded.subarray(0, size))) return null
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return null
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : null
}

/** The memory for the bytes of a part, which are read at once. */
const decoded = Buffer.alloc((mostTokenSize * 3) / 4)

/** True for base64url without padding, line breaks or other characters (RFC 7515 §2), decoded to `size` bytes. */
function isStrict(text: string, size: number): boolean {
  // Node.js skips ASCII that is not base64, so that its length tells of it, takes the low byte of other characters, and
  // + and / for - and _. A pattern that tests all characters takes twice as long as these tests together.
  if (size !== (text.length * 3) >> 2 || text.length % 4 === 1) return false
  return !text.includes('+') && !text.includes('/') && Buffer.byteLength(text) === text.length
}

/** True for the only spelling of its bytes: a signature that is not verified as text may have others. */
export function isCanonical(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text
}

/** RFC 7515 §4.1.9: `application/` may be left out. */
export function mediaTypeOf(typ: string): string {
  const lower = typ.toLowerCase()
  return lower.includes('/') ? lower : `application/${lower}`
}
