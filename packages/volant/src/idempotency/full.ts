/** A store of keys that has no room: it answers, so that what it has can still be found. */
import { VolantError } from '../errors/errors.ts'
import type { SetOptions } from '../types/store.ts'

/** A store that counts what each caller has is told the caller too. Other stores take no notice. */
export interface OwnedSetOptions extends SetOptions {
  /** Whom the key is counted for. Default: whom the key was counted for before, else nobody. */
  readonly owner?: string | undefined
}

/** What `set` rejects with where there is no room. */
export class StoreFull extends VolantError {
  constructor(message: string) {
    super('E_IDEMPOTENCY_STORE', message)
  }
}

/** True for what a store says that has no room. Redis and Valkey say OOM at `maxmemory`, from within scripts as well. */
export function isFull(error: unknown): boolean {
  return (
    error instanceof StoreFull ||
    (error instanceof Error && error.message.includes('OOM command not allowed'))
  )
}
