/** What a store of sessions does. `memorySessions`, `sqliteSessions` and `redisSessions` are stores. */

/** A session in a store. */
export interface SessionRecord {
  /** The values and times of the session, for the store a text that it gives back as it got it. */
  readonly value: string
  /** The number of times that it was written, from 1. */
  readonly version: number
  /** The milliseconds that it has left. */
  readonly ttl: number
}

/**
 * Keeps sessions for one or more processes. A store that cannot do what it is asked rejects: it is never asked for
 * longer than `storeTimeout`, and what happens then is `onStoreError`. An `id` has 43 characters of base64url, and is a
 * digest of what is in the cookie.
 */
export interface SessionStore {
  /** Gives the session; null for one that it does not have, or that has no time left. */
  get(id: string): Promise<SessionRecord | null>
  /**
   * Writes a session, in one step, if the version that is stored is the one before that of `record`: none for version 1.
   * Gives true where it was written, false where it was not, because of another version or none.
   */
  set(id: string, record: SessionRecord): Promise<boolean>
  /** Gives a session `ttl` milliseconds from now on. It leaves the version alone, and does nothing for one that is gone. */
  touch(id: string, ttl: number): Promise<void>
  /** Forgets a session, if it is there. */
  destroy(id: string): Promise<void>
}
