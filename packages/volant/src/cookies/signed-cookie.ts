/** `signedCookie()` makes a cookie that clients can read, and cannot change. */
import { protectedCookie, type ProtectedCookie, type ProtectedCookieOptions } from './protected-cookie.ts'
import { signerOf } from './signer.ts'

/**
 * Makes a cookie whose value is signed (HMAC-SHA-256): clients can read it, and cannot change it.
 *
 *     const theme = signedCookie('theme', { keys: [process.env.COOKIE_KEY], maxAge: 31_536_000 })
 *     app.put('/theme/:name', (ctx) => theme.set(ctx, ctx.params.name))
 *
 * Throws `E_BAD_OPTION`.
 */
export function signedCookie(name: string, options: ProtectedCookieOptions): ProtectedCookie {
  return protectedCookie('signedCookie', name, options, signerOf)
}
