/** `sealedCookie()` makes a cookie that clients can neither read nor change. */
import {
  type CookieCodec,
  protectedCookie,
  type ProtectedCookie,
  type ProtectedCookieOptions,
} from './protected-cookie.ts'
import { sealerOf } from './sealer.ts'

/**
 * Makes a cookie whose value is encrypted (AES-256-GCM): clients can neither read nor change it. A value of about 3,000
 * bytes is the longest that browsers keep.
 *
 *     const invitation = sealedCookie('__Host-invitation', { keys: [process.env.COOKIE_KEY], maxAge: 3_600 })
 *
 * Throws `E_BAD_OPTION`.
 */
export function sealedCookie(name: string, options: ProtectedCookieOptions): ProtectedCookie {
  return protectedCookie('sealedCookie', name, options, codecOf)
}

/** The sealed text is `END.VALUE`. */
function codecOf(keys: readonly (string | undefined)[], where: string): CookieCodec {
  const sealer = sealerOf(keys, 'cookie', where)
  return {
    write: (name, value, end) => sealer.seal(name, `${end}.${value}`),
    read(name, raw) {
      const opened = sealer.open(name, raw)
      if (opened === null) return null
      const { text, isNewest } = opened
      const dot = text.indexOf('.')
      return { value: text.slice(dot + 1), end: text.slice(0, dot), isNewest }
    },
  }
}
