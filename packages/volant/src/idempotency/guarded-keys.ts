/** Asks a store of keys: within its time, and not while it is down. */
import { Circuit } from '../rate-limit/circuit.ts'
import type { RequestContext } from '../types/request.ts'
import type { KeyStore } from '../types/store.ts'
import type { IdempotencyPlan } from './options.ts'
import { type KeyRecord, readRecord } from './records.ts'

const meanwhile = {
  deny: 'requests with a key are answered with 503',
  allow: 'requests with a key run, and so do their repetitions',
} as const

/** A key that another request has may become free while it is looked at. */
const mostTries = 3

export class GuardedKeys {
  readonly #store: KeyStore
  readonly #circuit: Circuit
  readonly #lockTimeout: number
  readonly #keepFor: number

  constructor({ store, storeTimeout, onStoreError, lockTimeout, keepFor }: IdempotencyPlan) {
    this.#store = store
    this.#lockTimeout = lockTimeout
    this.#keepFor = keepFor
    const names = {
      code: 'E_IDEMPOTENCY_STORE',
      call: 'idempotency()',
      store: 'the store of idempotency keys',
      meanwhile: meanwhile[onStoreError],
      again: 'keeps replies as before',
    } as const
    this.#circuit = new Circuit(names, storeTimeout)
  }

  /** Takes a key. Gives null where that was done, and else what another request has left there. */
  take(ctx: RequestContext, key: string, running: string): Promise<KeyRecord | null | 'down'> {
    return this.#ask(ctx, async () => {
      for (let tries = 0; tries < mostTries; tries++) {
        if (await this.#store.set(key, running, { ifAbsent: true, expires: this.#lockTimeout })) return null
        const found = await this.#store.get(key)
        if (found !== null) return readRecord(found)
      }
      throw new Error('a key was neither there nor could it be set')
    })
  }

  /** Holds a key on. Gives false where it belongs to another request by now. */
  hold(ctx: RequestContext, key: string, running: string): Promise<boolean | 'down'> {
    return this.#ask(ctx, () =>
      this.#store.set(key, running, { ifEqual: running, expires: this.#lockTimeout }),
    )
  }

  /** Puts the reply in place of `running`. Gives false where another request has the key by now. */
  keep(ctx: RequestContext, key: string, running: string, done: string): Promise<boolean | 'down'> {
    const expires = this.#keepFor
    return this.#ask(
      ctx,
      async () =>
        (await this.#store.set(key, done, { ifEqual: running, expires })) ||
        // Its time was over, and nobody has come since.
        (await this.#store.set(key, done, { ifAbsent: true, expires })) ||
        // It was written before, and the answer came too late.
        (await this.#store.get(key)) === done,
    )
  }

  free(ctx: RequestContext, key: string, running: string): Promise<boolean | 'down'> {
    return this.#ask(ctx, () => this.#store.del(key, { ifEqual: running }))
  }

  async #ask<T>(ctx: RequestContext, work: () => Promise<T>): Promise<T | 'down'> {
    if (!this.#circuit.mayAsk()) return 'down'
    const answer = await this.#circuit.within(ctx, async () => ({ value: await work() }))
    return answer === null ? 'down' : answer.value
  }
}
