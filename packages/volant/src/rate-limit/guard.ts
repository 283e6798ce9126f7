/**
 * Keeps requests from waiting for a store: it has a time to answer in, is not asked while it is down, and not about keys
 * that it refused before.
 */
import { inspect } from 'node:util'
import { VolantError } from '../errors/errors.ts'
import { printLine } from '../report/print-line.ts'
import type { RequestContext } from '../types/request.ts'
import { clock } from './counters.ts'
import type { Plan } from './options.ts'
import type { Level, RateLimitStore, Take } from './store.ts'
import { Table } from './table.ts'

/** So many failures one after the other open the circuit: for a second the store is not asked. */
const mostFailures = 5
const restMs = 1_000

const meanwhile = {
  local: 'each process counts by itself',
  allow: 'requests pass uncounted',
  deny: 'requests are answered with 503',
} as const

export class StoreGuard {
  errors = 0
  readonly #store: RateLimitStore
  readonly #name: string
  readonly #meanwhile: string
  readonly #timeout: number
  /** Until when a key is refused, and the units that it was refused for. */
  readonly #refused: Table
  #failures = 0
  #lastFailure = 0
  #isProbing = false
  /** True once it was said that the store is down, until it is said that it answers. */
  #isTold = false

  constructor(store: RateLimitStore, { group, onStoreError, storeTimeout: timeout, cache }: Plan) {
    this.#store = store
    this.#name = String(group)
    this.#meanwhile = meanwhile[onStoreError]
    this.#timeout = timeout
    this.#refused = new Table(2, cache, (values, at, now) => (values[at] as number) > now)
  }

  /** True where the store did not answer when it was asked last. */
  get isDown(): boolean {
    return this.#failures > 0
  }

  /** Gives a level for each of `takes`, null for those that are not known; null in place of all if the store is down. */
  take(
    ctx: RequestContext,
    takes: readonly Take[],
  ): readonly (Level | null)[] | Promise<readonly Level[] | null> | null {
    const known = this.#remembered(takes)
    if (known !== null) return known
    if (!this.#mayAsk()) return null
    return this.#ask(ctx, takes)
  }

  /** Gives units back. Never rejects. */
  async refund(ctx: RequestContext, takes: readonly Take[]): Promise<void> {
    this.#forget(takes.map(({ key }) => key))
    if (this.#mayAsk()) await this.#within(ctx, () => this.#store.refund(takes))
  }

  /** Forgets counts. Never rejects. */
  async reset(ctx: RequestContext | null, keys: readonly string[]): Promise<void> {
    this.#forget(keys)
    if (this.#mayAsk()) await this.#within(ctx, () => this.#store.reset(keys))
  }

  async #ask(ctx: RequestContext, takes: readonly Take[]): Promise<readonly Level[] | null> {
    const levels = await this.#within(ctx, async () => {
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

  /** Gives the result of `work`, or null where it fails or takes too long. */
  #within<T>(ctx: RequestContext | null, work: () => Promise<T>): Promise<T | null> {
    return new Promise((resolve) => {
      const fail = (error: unknown): void => {
        clearTimeout(timer)
        this.#failed(ctx, error)
        resolve(null)
      }
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        fail(new Error(`no answer within ${this.#timeout} ms`))
      }, this.#timeout)
      let promise: Promise<T>
      try {
        promise = work()
      } catch (error) {
        return fail(error)
      }
      promise.then(
        (value) => {
          if (isLate) return
          clearTimeout(timer)
          this.#answered(ctx)
          resolve(value)
        },
        (error: unknown) => {
          if (!isLate) fail(error)
        },
      )
    })
  }

  /** After a second of rest one request at a time finds out whether the store answers again. */
  #mayAsk(): boolean {
    if (this.#failures < mostFailures) return true
    if (this.#isProbing || performance.now() - this.#lastFailure < restMs) return false
    this.#isProbing = true
    return true
  }

  #answered(ctx: RequestContext | null): void {
    this.#failures = 0
    this.#isProbing = false
    // A store that fails now and then is told of once.
    if (!this.#isTold || performance.now() - this.#lastFailure < restMs) return
    this.#isTold = false
    if (ctx === null || ctx.app.reportsToStderr) {
      printLine(`volant: rateLimit(): the store of ${this.#name} answers again, and counts all requests`)
    }
  }

  #failed(ctx: RequestContext | null, error: unknown): void {
    this.errors++
    this.#failures++
    this.#isProbing = false
    this.#lastFailure = performance.now()
    if (this.#isTold) return
    this.#isTold = true
    const message = error instanceof Error ? error.message : inspect(error)
    const failure = new VolantError(
      'E_RATE_LIMIT_STORE',
      `the store of the rate limit ${this.#name} fails (${message}): until it answers, ${this.#meanwhile}. This is said once`,
      { cause: error },
    )
    if (ctx === null) printLine(`volant: ${inspect(failure)}`)
    else ctx.app.report(failure, ctx)
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
