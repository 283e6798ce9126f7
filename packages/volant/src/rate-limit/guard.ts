/** Asks a store of counts, but not while it is down, and not about keys that it refused before. */
import { inspect } from 'node:util'
import type { RequestContext } from '../types/request.ts'
import { Circuit } from './circuit.ts'
import { clock } from './counters.ts'
import type { Plan } from './options.ts'
import type { Level, RateLimitStore, Take } from './store.ts'
import { Table } from './table.ts'

const meanwhile = {
  local: 'each process counts by itself',
  allow: 'requests pass uncounted',
  deny: 'requests are answered with 503',
} as const

export class StoreGuard {
  readonly #store: RateLimitStore
  readonly #circuit: Circuit
  /** Until when a key is refused, and the units that it was refused for. */
  readonly #refused: Table

  constructor(store: RateLimitStore, { group, onStoreError, storeTimeout: timeout, cache }: Plan) {
    this.#store = store
    const names = {
      code: 'E_RATE_LIMIT_STORE',
      call: 'rateLimit()',
      store: `the store of the rate limit ${String(group)}`,
      meanwhile: meanwhile[onStoreError],
      again: 'counts all requests',
    } as const
    this.#circuit = new Circuit(names, timeout)
    this.#refused = new Table(2, cache, (values, at, now) => (values[at] as number) > now)
  }

  get errors(): number {
    return this.#circuit.errors
  }

  get isDown(): boolean {
    return this.#circuit.isDown
  }

  /** Gives a level for each of `takes`, null for those that are not known; null in place of all if the store is down. */
  take(
    ctx: RequestContext,
    takes: readonly Take[],
  ): readonly (Level | null)[] | Promise<readonly Level[] | null> | null {
    const known = this.#remembered(takes)
    if (known !== null) return known
    if (!this.#circuit.mayAsk()) return null
    return this.#ask(ctx, takes)
  }

  /** Gives units back. Never rejects. */
  async refund(ctx: RequestContext, takes: readonly Take[]): Promise<void> {
    this.#forget(takes.map(({ key }) => key))
    if (this.#circuit.mayAsk()) await this.#circuit.within(ctx, () => this.#store.refund(takes))
  }

  /** Forgets counts. Never rejects. */
  async reset(ctx: RequestContext | null, keys: readonly string[]): Promise<void> {
    this.#forget(keys)
    if (this.#circuit.mayAsk()) await this.#circuit.within(ctx, () => this.#store.reset(keys))
  }

  async #ask(ctx: RequestContext, takes: readonly Take[]): Promise<readonly Level[] | null> {
    const levels = await this.#circuit.within(ctx, async () => {
      const given: unknown = await this.#store.take(takes)
      if (Array.isArray(given) && given.length === takes.length && given.every(isLevel)) return given
      throw new Error(
        `take() gave ${inspect(given)}, and not ${takes.length} levels of { allowed, remaining, reset, retryAfter }`,
      )
    })
    if (levels === null) return null
    takes.forEach(({ key, cost }, at) => {
      const { allowed, retryAfter } = levels[at] as Level
      if (!allowed) this.#remember(key, cost, retryAfter)
    })
    return levels
  }

  #remembered(takes: readonly Take[]): readonly (Level | null)[] | null {
    const now = clock()
    const levels = takes.map(({ key, cost }) => this.#levelOf(key, cost, now))
    return levels.every((level) => level === null) ? null : levels
  }

  #levelOf(key: string, cost: number, now: number): Level | null {
    const at = this.#refused.find(key, now)
    if (at === -1) return null
    const { values } = this.#refused
    const left = ((values[at] as number) - now) / 1_000
    if (left <= 0 || cost < (values[at + 1] as number)) return null
    return { allowed: false, remaining: 0, reset: left, retryAfter: left }
  }

  #remember(key: string, cost: number, ms: number): void {
    const now = clock()
    const at = this.#refused.at(key, now)
    this.#refused.values[at] = now + Math.floor(ms * 1_000)
    this.#refused.values[at + 1] = cost
  }

  #forget(keys: readonly string[]): void {
    for (const key of keys) this.#refused.delete(key)
  }
}

/** A number that is none would refuse a key for ever. */
function isLevel(given: unknown): given is Level {
  const { allowed, remaining, reset, retryAfter } = (given ?? {}) as Partial<Record<keyof Level, unknown>>
  return (
    typeof allowed === 'boolean' &&
    Number.isInteger(remaining) &&
    [remaining, reset, retryAfter].every(isAmount)
  )
}

function isAmount(given: unknown): boolean {
  return typeof given === 'number' && given >= 0 && given < Infinity
}
