/** `redisStore()` has processes count together in Redis or Valkey. */
import { inspect } from 'node:util'
import type { Level, RateLimitStore, Take } from '../rate-limit/store.ts'
import type { RedisClient } from './client.ts'
import { openKeys } from './redis-keys.ts'
import { script } from './script.ts'

/**
 * Makes a store of a client that is connected, or will be: one of `redis` or of `ioredis`, also of their
 * clusters, in version 6 of either. The server is Redis from version 5 on, or Valkey:
 *
 *     const client = createClient({ url: 'redis://localhost' })
 *     client.connect().catch(() => {})
 *     app.use(rateLimit({ max: 100, store: redisStore(client), groupId: 'api' }))
 *
 * A request costs one call of a script, which checks and charges all its limits by the clock of the server. While the
 * client has no connection, requests do not wait for one: see `onStoreError` of `rateLimit`. The client gets a listener
 * for errors, so that a connection that is lost does not end the process. Closing it is left to you.
 *
 * Throws `E_BAD_OPTION`.
 */
export function redisStore(client: RedisClient): RateLimitStore {
  const keys = openKeys('redisStore', client)

  const run = (mode: 'take' | 'refund', takes: readonly Take[]): Promise<unknown> => {
    const values = takes.flatMap(({ algorithm, max, window, burst, cost }) =>
      [algorithm, max, window * 1_000, burst, cost].map(String),
    )
    const names = takes.map(({ key }) => key)
    return keys.run(script, names, [mode, ...values])
  }

  return {
    take: async (takes) => {
      const numbers = await run('take', takes)
      return takes.map((_, at) => levelOf(numbers, at * 4))
    },
    refund: async (takes) => void (await run('refund', takes)),
    reset: async (names) => {
      // Keys of several slots of a cluster cannot be deleted at once.
      await Promise.all(names.map((name) => keys.del(name)))
    },
  }
}

function levelOf(numbers: unknown, at: number): Level {
  const four: unknown[] = Array.isArray(numbers) ? numbers.slice(at, at + 4) : []
  // With stringNumbers, ioredis gives texts.
  if (four.length < 4 || !four.every((each) => /^\d+$/.test(String(each)))) {
    throw new Error(
      `the script of the rate limit got the reply ${inspect(numbers)}: is the server Redis or Valkey?`,
    )
  }
  const [allowed, remaining, reset, retryAfter] = four.map(Number) as [number, number, number, number]
  return { allowed: allowed === 1, remaining, reset: reset / 1_000, retryAfter: retryAfter / 1_000 }
}
