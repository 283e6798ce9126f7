export { rateLimit, type RateLimiter, type RateLimitStats } from './rate-limit.ts'
export type { RateLimitOptions, RateLimitPolicy } from './options.ts'
export type { KeyGenerator } from './key.ts'
export type { Level, Quota, RateLimitAlgorithm, RateLimitStore, Take } from './store.ts'
