export { redisStore } from './redis-store.ts'
export { redisSessions, type RedisSessionsOptions } from './redis-sessions.ts'
export type { IoRedisClient, NodeRedisClient, RedisClient } from './client.ts'
