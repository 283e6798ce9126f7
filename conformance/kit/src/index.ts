export { PostgresServer, withoutPostgres } from './postgres-server.ts'
export { RedisServer, withoutRedis } from './redis-server.ts'
export { stderrLines } from './stderr.ts'
export { deferred, eventually, unchanging, within } from './waiting.ts'
