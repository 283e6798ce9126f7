/** The keys that seal and sign: their check, and what is derived from each of them for one purpose. */
import { hkdfSync } from 'node:crypto'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'

/** The fewest bytes of a key: what AES-256 and HMAC-SHA-256 can make use of. */
const leastBytes = 32
/** More keys than these are no rotation, but a mistake. */
const mostKeys = 16
/** Eight characters name a key. Nobody gains from two keys with one name: the first of them is tried alone. */
const idBytes = 6
const secretBytes = 32

/** What was derived from a key. */
export interface DerivedKey {
  /** Names the key in what it made, so that only this key is tried. */
  readonly id: string
  readonly secret: Buffer
}

/** Derives the keys for `purpose` (HKDF-SHA-256, RFC 5869). Throws `E_BAD_OPTION`, which never shows a key. */
export function deriveKeys(
  keys: readonly (string | undefined)[],
  purpose: string,
  where: string,
): DerivedKey[] {
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > mostKeys) {
    throw badKeys(`${where} takes an array of 1 to ${mostKeys} texts, the newest first`, brief(keys))
  }
  return Array.from(keys as readonly unknown[], (key, index) => {
    if (typeof key !== 'string')
      throw badKeys(
        `${where}[${index}] takes a text`,
        key === undefined ? 'undefined (is its environment variable set?)' : brief(key),
      )
    const bytes = Buffer.byteLength(key)
    if (bytes >= leastBytes) return derive(key, purpose)
    throw badKeys(`${where}[${index}] takes a text of ${leastBytes} bytes or more`, `one of ${bytes}`)
  })
}

function derive(key: string, purpose: string): DerivedKey {
  const info = `volant v1 ${purpose}`
  const derived = Buffer.from(hkdfSync('sha256', key, '', info, secretBytes + idBytes))
  return {
    id: derived.toString('base64url', secretBytes),
    secret: derived.subarray(0, secretBytes),
  }
}

function badKeys(wanted: string, given: string): VolantError {
  return new VolantError('E_BAD_OPTION', `${wanted}, not ${given}: make a key with "openssl rand -base64 32"`)
}

/** A text is not shown, since it may be a key. */
function brief(given: unknown): string {
  return typeof given === 'string' ? 'a text' : briefValue(given)
}
