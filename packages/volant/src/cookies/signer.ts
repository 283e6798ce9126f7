/**
 * Signs the values of cookies (HMAC-SHA-256): `VALUE.END.ID.MAC`, where clients may read the value and not change it.
 * END is the second in which it ends, in base 36, or nothing. ID names the key. The signature covers the name, too.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKeys, type DerivedKey } from './key-ring.ts'
import type { CookieCodec } from './protected-cookie.ts'

/** Throws `E_BAD_OPTION` for keys that are too short; `where` names the option. */
export function signerOf(keys: readonly (string | undefined)[], where: string): CookieCodec {
  const derived = deriveKeys(keys, 'sign cookie', where)
  const [newest] = derived as [DerivedKey, ...DerivedKey[]]
  return {
    write(name, value, end) {
      const tail = `${end}.${newest.id}`
      return `${value}.${tail}.${signature(newest, name, `${encodeURIComponent(value)}.${tail}`)}`
    },
    read(name, raw) {
      const beforeSignature = raw.lastIndexOf('.')
      const beforeId = raw.lastIndexOf('.', beforeSignature - 1)
      const beforeEnd = raw.lastIndexOf('.', beforeId - 1)
      if (beforeEnd < 0) return null
      const id = raw.slice(beforeId + 1, beforeSignature)
      const key = derived.find((each) => each.id === id)
      if (key === undefined) return null
      const expected = signature(key, name, raw.slice(0, beforeSignature))
      if (!isSame(raw.slice(beforeSignature + 1), expected)) return null
      return {
        value: decodeURIComponent(raw.slice(0, beforeEnd)),
        end: raw.slice(beforeEnd + 1, beforeId),
        isNewest: key === newest,
      }
    },
  }
}

/** Signs the text that is sent, so that it has one spelling. A name has no `=`. */
function signature({ secret }: DerivedKey, name: string, sent: string): string {
  return createHmac('sha256', secret).update(`${name}=${sent}`).digest('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
