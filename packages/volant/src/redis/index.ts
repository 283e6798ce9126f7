export { redisStore } from './redis-store.ts'
export type { IoRedisClient, NodeRedisClient, RedisClient } from './client.ts'
