/** Asks a store of keys: within its time, and not while it is down. */
import { inspect } from 'node:util'
import { VolantError } from '../errors/errors.ts'
import { Circuit } from '../rate-limit/circuit.ts'
import type { RequestContext } from '../types/request.ts'
import type { KeyStore } from '../types/store.ts'
import { isFull, type OwnedSetOptions } from './full.ts'
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
  readonly #whileFull: string
  /** True once it was said that the store is full. */
  #isFullTold = false

  constructor({ store, storeTimeout, onStoreError, lockTimeout, keepFor }: IdempotencyPlan) {
    this.#store = store
    this.#lockTimeout = lockTimeout
    this.#keepFor = keepFor
    this.#whileFull = meanwhile[onStoreError]
    const names = {
      code: 'E_IDEMPOTENCY_STORE',
      call: 'idempotency()',
      store: 'the store of idempotency keys',
      meanwhile: meanwhile[onStoreError],
      again: 'keeps replies as before',
    } as const
    this.#circuit = new Circuit(names, storeTimeout)
  }

  /** Takes a key for its owner. Gives null where that was done, and else what another request has left there. */
  take(
    ctx: RequestContext,
    key: string,
    running: string,
    owner: string,
  ): Promise<KeyRecord | null | 'down' | 'full'> {
    const options: OwnedSetOptions = { ifAbsent: true, expires: this.#lockTimeout, owner }
    return this.#ask(ctx, async () => {
      for (let tries = 0; tries < mostTries; tries++) {
        if (await this.#store.set(key, running, options)) return null
        const found = await this.#store.get(key)
        if (found !== null) return readRecord(found)
      }
      throw new Error('a key was neither there nor could it be set')
    })
  }

  /** Holds a key on. Gives false where it belongs to another request by now. */
  hold(ctx: RequestContext, key: string, running: string): Promise<boolean | 'down'> {
    return this.#change(ctx, () =>
      this.#store.set(key, running, { ifEqual: running, expires: this.#lockTimeout }),
    )
  }

  /** Puts the reply in place of `running`. Gives false where another request has the key by now. */
  keep(
    ctx: RequestContext,
    key: string,
    { text: running, owner }: { readonly text: string; readonly owner: string },
    done: string,
  ): Promise<boolean | 'down'> {
    const expires = this.#keepFor
    const anew: OwnedSetOptions = { ifAbsent: true, expires, owner }
    return this.#change(
      ctx,
      async () =>
        (await this.#store.set(key, done, { ifEqual: running, expires })) ||
        // Its time was over, and nobody has come since.
        (await this.#store.set(key, done, anew)) ||
        // It was written before, and the answer came too late.
        (await this.#store.get(key)) === done,
    )
  }

  free(ctx: RequestContext, key: string, running: string): Promise<boolean | 'down'> {
    return this.#change(ctx, () => this.#store.del(key, { ifEqual: running }))
  }

  /** What a full store does not take is offered again, as to one that is down. */
  async #change(ctx: RequestContext, work: () => Promise<boolean>): Promise<boolean | 'down'> {
    const answer = await this.#ask(ctx, work)
    return answer === 'full' ? 'down' : answer
  }

  async #ask<T>(ctx: RequestContext, work: () => Promise<T>): Promise<T | 'down' | 'full'> {
    if (!this.#circuit.mayAsk()) return 'down'
    const answer = await this.#circuit.within(ctx, async () => {
      try {
        return { value: await work() }
      } catch (error) {
        // It answers: what it has is still found, and one caller that has no more room stops nobody else.
        if (!isFull(error)) throw error
        this.#tellFull(ctx, error)
        return { value: 'full' as const }
      }
    })
    return answer === null ? 'down' : answer.value
  }

  #tellFull(ctx: RequestContext, error: unknown): void {
    if (this.#isFullTold) return
    this.#isFullTold = true
    const message = error instanceof Error ? error.message : inspect(error)
    const failure = new VolantError(
      'E_IDEMPOTENCY_STORE',
      `the store of idempotency keys has no room (${message}): where a new key has none, ${this.#whileFull}; what is kept is still found. This is said once`,
      { cause: error },
    )
    ctx.app.report(failure, ctx)
  }
}
