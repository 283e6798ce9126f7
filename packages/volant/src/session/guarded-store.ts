/** Asks a store of sessions: within its time, and not while it is down. */
import { inspect } from 'node:util'
import { refusal } from '../errors/errors.ts'
import { Circuit } from '../rate-limit/circuit.ts'
import type { RequestContext } from '../types/request.ts'
import type { SessionPlan } from './options.ts'
import type { SessionRecord, SessionStore } from './store.ts'

const meanwhile = {
  deny: 'requests that need a session are answered with 503',
  anonymous: 'requests have no session, and those that change one are answered with 503',
} as const

/** A store is down where one of these gives `'down'`. */
export class GuardedStore {
  readonly #store: SessionStore
  readonly #circuit: Circuit

  constructor(store: SessionStore, { storeTimeout, onStoreError }: SessionPlan) {
    this.#store = store
    const names = {
      code: 'E_SESSION_STORE',
      call: 'session()',
      store: 'the store of sessions',
      meanwhile: meanwhile[onStoreError],
      again: 'has sessions as before',
    } as const
    this.#circuit = new Circuit(names, storeTimeout)
  }

  get(ctx: RequestContext, id: string): Promise<SessionRecord | 'none' | 'down'> {
    return this.#ask(ctx, async () => {
      const given: unknown = await this.#store.get(id)
      if (given === null || given === undefined) return 'none'
      const { value, version, ttl } = given as Partial<Record<keyof SessionRecord, unknown>>
      if (typeof value === 'string' && Number.isSafeInteger(version) && typeof ttl === 'number') {
        return given as SessionRecord
      }
      throw new Error(`get() gave a record that is not { value, version, ttl }, but ${kindOf(given)}`)
    })
  }

  set(ctx: RequestContext, id: string, record: SessionRecord): Promise<boolean | 'down'> {
    return this.#ask(ctx, async () => {
      const given: unknown = await this.#store.set(id, record)
      if (typeof given === 'boolean') return given
      throw new Error(`set() gave ${inspect(given)}, which does not say whether the session was written`)
    })
  }

  touch(ctx: RequestContext, id: string, ttl: number): Promise<unknown> {
    return this.#ask(ctx, async () => (await this.#store.touch(id, ttl), true))
  }

  destroy(ctx: RequestContext, id: string): Promise<true | 'down'> {
    return this.#ask(ctx, async () => (await this.#store.destroy(id), true as const))
  }

  async #ask<T>(ctx: RequestContext, work: () => Promise<T>): Promise<T | 'down'> {
    if (!this.#circuit.mayAsk()) return 'down'
    return (await this.#circuit.within(ctx, work)) ?? 'down'
  }
}

/** What a store gave is not shown, since it is somebody's session. */
function kindOf(given: unknown): string {
  return typeof given === 'object' ? `an object of ${Object.keys(given as object).join(', ')}` : typeof given
}

/** Refuses a request whose session cannot be read or written. */
export function refuseWithoutStore(ctx: RequestContext): never {
  ctx.place('retry-after', 'retry-after', '1')
  throw refusal('E_SESSION_STORE', 'Sessions cannot be read or written now: ask again in a second')
}
