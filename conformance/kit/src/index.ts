export { RedisServer, withoutRedis } from './redis-server.ts'
export { stderrLines } from './stderr.ts'
export { deferred, eventually, unchanging, within } from './waiting.ts'
