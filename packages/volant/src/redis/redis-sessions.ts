/** `redisSessions()` keeps sessions in Redis or Valkey. */
import { checkNames, checkText } from '../options/checks.ts'
import type { SessionStore } from '../session/store.ts'
import type { RedisClient } from './client.ts'
import { openKeys } from './redis-keys.ts'
import { sessionScript } from './session-script.ts'

/** The options of `redisSessions`. */
export interface RedisSessionsOptions {
  /** The first part of names in Redis. Default `volant-session`. */
  nameSpace?: string | undefined
}

/**
 * Makes a store of sessions of a client that is connected, or will be: those that `redisStore` takes, too.
 *
 *     const client = createClient({ url: 'redis://localhost' })
 *     client.connect().catch(() => {})
 *     const sessions = session({ store: redisSessions(client) })
 *
 * Reading a session is one call of a script, and so is writing it. Redis removes what has expired. A server that may
 * evict keys (`maxmemory-policy`) signs people out. While the client has no connection, requests do not wait for one: see
 * `onStoreError` of `session`. Throws `E_BAD_OPTION`.
 */
export function redisSessions(client: RedisClient, options: RedisSessionsOptions = {}): SessionStore {
  checkNames('redisSessions', options, ['nameSpace'])
  const nameSpace = checkText(
    'redisSessions: nameSpace',
    options.nameSpace ?? 'volant-session',
    /^[\w.:/-]{1,64}$/,
    '1 to 64 letters, digits and characters of _ . : / -',
  )
  const keys = openKeys('redisSessions', client)
  const run = (id: string, ...values: string[]): Promise<unknown> =>
    keys.run(sessionScript, [`${nameSpace}:${id}`], values)

  return {
    async get(id) {
      const given = await run(id, 'get')
      if (given === null) return null
      const [text, left] = Array.isArray(given) ? (given as readonly unknown[]) : []
      const [, version, value] = /^(\d+) (.*)$/s.exec(String(text)) ?? []
      if (version === undefined || value === undefined) {
        throw new Error('the script of sessions got a reply that is none: is the server Redis or Valkey?')
      }
      // −1 is a key that somebody has made last for ever.
      return { value, version: Number(version), ttl: Number(left) < 0 ? Infinity : Number(left) }
    },
    async set(id, { value, version, ttl }) {
      const written = await run(id, 'set', String(version), String(Math.ceil(ttl)), value)
      // With stringNumbers, ioredis gives texts.
      if (['0', '1'].includes(String(written))) return String(written) === '1'
      throw new Error('the script of sessions got a reply that is none: is the server Redis or Valkey?')
    },
    async touch(id, ttl) {
      await run(id, 'touch', String(Math.ceil(ttl)))
    },
    async destroy(id) {
      await keys.del(`${nameSpace}:${id}`)
    },
  }
}
