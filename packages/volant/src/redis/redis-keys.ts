/** `redisKeys()` keeps texts by key in Redis or Valkey, and runs scripts there. */
import { inspect } from 'node:util'
import { bad } from '../options/bad-option.ts'
import type { Store } from '../types/store.ts'
import { asksOf, type RedisClient } from './client.ts'
import { keysScript } from './keys-script.ts'
import { checkReady, Scripts } from './scripts.ts'

/**
 * Makes a store of a client that is connected, or will be: one of `redis` or of `ioredis`, also of their clusters, in
 * version 6 of either. The server is Redis from version 5 on, or Valkey:
 *
 *     const store = redisKeys(client)
 *     const mine = randomUUID()
 *     if (await store.set('nightly', mine, { ifAbsent: true, expires: 60_000 })) await nightly()
 *
 * It is the store of `idempotency()`, and of what an app shares between its processes: leases, counters, flags. For rate
 * limits there is `redisStore`, for sessions `redisSessions`. Each call is one call of a script. While the client has no
 * connection, calls reject at once. The client gets a listener for errors, so that a connection that is lost does not end
 * the process. Closing it is left to you. Throws `E_BAD_OPTION`.
 */
export function redisKeys(client: RedisClient): Store {
  return openKeys('redisKeys', client)
}

/** As `redisKeys`, for a function that has another name in messages. */
export function openKeys(where: string, client: RedisClient): Store {
  const asks = asksOf(client)
  if (asks === null) throw bad(where, client, 'a client of redis (createClient()) or ioredis (new Redis())')
  const scripts = new Scripts(asks)
  const ask = (key: string, ...values: string[]): Promise<unknown> => scripts.run(keysScript, [key], values)
  return {
    run: (script, keys, args) => scripts.run(script, keys, args),
    async get(key) {
      const value = await ask(key, 'get')
      return value === null || value === undefined ? null : String(value)
    },
    async set(key, value, { ifAbsent = false, ifEqual, expires } = {}) {
      checkConditions(ifAbsent, ifEqual, expires)
      const condition = ifAbsent ? ['absent'] : ifEqual === undefined ? [] : ['equal', ifEqual]
      return isDone(await ask(key, 'set', value, String(expires ?? ''), ...condition))
    },
    async del(key, { ifEqual } = {}) {
      if (ifEqual !== undefined) return isDone(await ask(key, 'del', ifEqual))
      checkReady(asks)
      return isDone(await asks.forget(key))
    },
  }
}

function checkConditions(ifAbsent: boolean, ifEqual: string | undefined, expires: number | undefined): void {
  if (ifAbsent && ifEqual !== undefined) {
    throw bad('set', { ifAbsent, ifEqual }, 'ifAbsent or ifEqual, which cannot both hold')
  }
  if (expires !== undefined && (!Number.isSafeInteger(expires) || expires < 1)) {
    throw bad('set: expires', expires, 'milliseconds, an integer from 1')
  }
}

function isDone(given: unknown): boolean {
  // With stringNumbers, ioredis gives texts.
  if (['0', '1'].includes(String(given))) return String(given) === '1'
  throw new Error(
    `a key was written or deleted with the reply ${inspect(given)}: is the server Redis or Valkey?`,
  )
}
