export { idempotency, type IdempotencyErrors } from './idempotency.ts'
export type { IdempotencyOptions } from './options.ts'
export { memoryKeys, type MemoryKeysOptions } from './memory-keys.ts'
export type { DelOptions, KeyStore, SetOptions } from '../types/store.ts'
