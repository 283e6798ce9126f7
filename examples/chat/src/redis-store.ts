/** The store of several processes, in Redis. */
import { createClient } from 'redis'
import { Message } from './messages.ts'
import { kept, type Store } from './store.ts'

/** One step, so that numbers have no holes and a message that is sent twice is kept once. */
const keep = `
if not redis.call('SET', KEYS[1], 1, 'NX', 'EX', 600) then return 0 end
local id = redis.call('INCR', KEYS[2])
redis.call('ZADD', KEYS[3], id, ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - ARGV[2])
return id`

/** A command that cannot be run now fails, and does not wait for Redis. */
export const redisAt = (url: string) =>
  createClient({ url, disableOfflineQueue: true, commandOptions: { timeout: 2_000 } })

export function redisStore(redis: ReturnType<typeof redisAt>): Store {
  return {
    hashOf: (name) => redis.hGet('chat:members', name),
    add: async (name, hash) => (await redis.hSetNX('chat:members', name, hash)) === 1,
    async keep(room, message) {
      const place = `chat:{${room}}`
      const id = await redis.eval(keep, {
        keys: [`${place}:key:${message.key}`, `${place}:id`, `${place}:messages`],
        arguments: [JSON.stringify(message), String(kept)],
      })
      return id === 0 ? null : { id: Number(id), ...message }
    },
    async last(room) {
      const rows = await redis.zRangeWithScores(`chat:{${room}}:messages`, 0, -1)
      return rows.map(({ score, value }) => Message.parse({ ...JSON.parse(value), id: score }))
    },
  }
}
