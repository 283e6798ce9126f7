/** `memorySessions()` keeps sessions in this process. */
import { checkInteger, checkNames } from '../options/checks.ts'
import { refuseWorkers } from '../worker/one-process.ts'
import type { SessionRecord, SessionStore } from './store.ts'

/** The options of `memorySessions`. */
export interface MemorySessionsOptions {
  /** The most sessions. Past it those that were not used for longest go. Default 100,000. */
  maxSessions?: number | undefined
}

/**
 * Makes a store in memory, for development, tests, and apps of one process whose sessions may be lost with it:
 *
 *     session({ store: memorySessions() })
 *
 * Under `volant start` with several workers it is refused, since the next request of a browser may reach another one.
 * Throws `E_BAD_OPTION`.
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  checkNames('memorySessions', options, ['maxSessions'])
  const most = checkInteger(
    'memorySessions: maxSessions',
    options.maxSessions ?? 100_000,
    [1, 10_000_000],
    'a number of sessions from 1 to 10,000,000',
  )
  refuseWorkers(
    'memorySessions',
    'sessions',
    'redisSessions(client) of volant/redis, sqliteSessions(database), or sealed cookies: session({ keys })',
  )
  /** In the order in which they were used. */
  const records = new Map<string, { value: string; version: number; expires: number }>()

  const find = (id: string, now: number): { value: string; version: number; expires: number } | null => {
    const record = records.get(id)
    if (record === undefined) return null
    if (record.expires > now) return record
    records.delete(id)
    return null
  }

  const place = (id: string, value: string, version: number, expires: number): void => {
    records.delete(id)
    records.set(id, { value, version, expires })
    // What was not used for longest comes first: two steps for each that is added keep up with what expires.
    let steps = 2
    for (const [oldest, record] of records) {
      const isOver = record.expires <= performance.now()
      if (records.size <= most && (!isOver || steps-- === 0)) break
      records.delete(oldest)
    }
  }

  return {
    async get(id): Promise<SessionRecord | null> {
      const now = performance.now()
      const record = find(id, now)
      return record === null
        ? null
        : { value: record.value, version: record.version, ttl: record.expires - now }
    },
    async set(id, { value, version, ttl }) {
      const now = performance.now()
      if ((find(id, now)?.version ?? 0) !== version - 1) return false
      place(id, value, version, now + ttl)
      return true
    },
    async touch(id, ttl) {
      const now = performance.now()
      const record = find(id, now)
      if (record !== null) place(id, record.value, record.version, now + ttl)
    },
    async destroy(id) {
      records.delete(id)
    },
  }
}
