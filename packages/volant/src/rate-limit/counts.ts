/** Counts that are asked without waiting: those of this process, or of all workers of the machine. */
import type { RequestApp } from '../types/request.ts'
import type { Level } from './store.ts'

export interface Counts {
  /** The keys that are kept. */
  readonly keys: number
  /** The keys that had to go while they still counted. */
  readonly evicted: number
  /** Charges `cost` to all keys, or to none of them. The levels say how the keys stand, until the next call. */
  take(app: RequestApp, keys: readonly string[], cost: number): readonly Level[]
  /** Gives `cost` back to all keys. */
  refund(app: RequestApp, keys: readonly string[], cost: number): void
  /** Forgets keys of all policies, in all apps. */
  forget(keys: readonly string[]): void
}
