export { csrf, type CsrfErrors, type CsrfOptions } from './csrf.ts'
export type { CsrfTokens } from './csrf-token.ts'
export { session, type SessionMiddleware } from './session.ts'
export { memorySessions, type MemorySessionsOptions } from './memory.ts'
export {
  type SqliteDatabase,
  sqliteSessions,
  type SqliteSessionsOptions,
  type SqliteStatement,
} from './sqlite.ts'
export type { SessionCookieOptions, SessionOptions } from './options.ts'
export type { SessionRecord, SessionStore } from './store.ts'
export type { Frozen, Session } from './types.ts'
export { sealedCookie } from '../cookies/sealed-cookie.ts'
export { signedCookie } from '../cookies/signed-cookie.ts'
export type { CookieLife, ProtectedCookie, ProtectedCookieOptions } from '../cookies/protected-cookie.ts'
