/** What a session is to those who keep it: in its cookie, or in a store. */
import type { RequestContext } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'

/** A valid session that came with a request. */
export interface OpenedSession {
  /** The secret that makes the cookie's holder its owner: 192 random bits in base64url. */
  readonly secret: string
  /** When it began, in milliseconds of Unix time. */
  readonly began: number
  readonly values: Readonly<Record<string, unknown>>
  /** True where its time should be extended, or an older key sealed it. */
  readonly isStale: boolean
  /** True for a while after a sign-in put another session in its place: it can be read, and not changed. */
  readonly isReplaced: boolean
  /** What the store has of it. */
  readonly stored: Stored | null
}

export interface Stored {
  readonly version: number
  /** The ids of the sessions that took its place. */
  readonly successors: readonly string[]
}

/** What a request did to its session. */
export interface Change {
  /** The session that goes on. */
  readonly opened: OpenedSession | null
  /** The session that came, where `signIn` or `signOut` ended it. */
  readonly before: OpenedSession | null
  readonly ending: 'signIn' | 'signOut' | null
  /** The JSON of what was set by key; null for what was deleted. */
  readonly changes: ReadonlyMap<string, string | null>
  /** The secret of the session that begins; null where none does. */
  readonly secret: string | null
}

export interface Keeper {
  readonly cookieName: string
  /** Gives the session of a request; a promise where it is in a store. */
  open(ctx: RequestContext): OpenedSession | null | Promise<OpenedSession | null>
  /**
   * Writes what a request did, and then the cookie. Without a reply it writes what counts without a cookie. Throws where
   * that is impossible.
   */
  write(ctx: RequestContext, change: Change, reply: OutgoingReply | null): void | Promise<void>
}
