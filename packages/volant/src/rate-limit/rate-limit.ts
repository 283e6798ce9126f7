/** `rateLimit()` refuses the requests of clients that send too many, with 429 (RFC 6585 §4). */
import { isIP } from 'node:net'
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { bad } from '../options/bad-option.ts'
import { printLine } from '../report/print-line.ts'
import type { Context } from '../types/context.ts'
import type { ResponseInfo } from '../types/declaration.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { Gate, RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import { clock, type Counter } from './counters.ts'
import type { Counts } from './counts.ts'
import {
  fieldNamesOf,
  fieldsOf,
  type Standing,
  type PlaceFields,
  refusalsOf,
  refuse,
  refuseUncounted,
} from './fields.ts'
import { StoreGuard } from './guard.ts'
import { networkOf } from '../request/network.ts'
import { keyFrom } from './key.ts'
import { MemoryCounts } from './memory.ts'
import { type Plan, planOf, type PolicyPlan, type RateLimitOptions } from './options.ts'
import { SharedCounts, workersTable } from './shared-counts.ts'
import { storedKeysOf, takesOf } from './stored-keys.ts'

/** The figures of a limit since it was made. */
export interface RateLimitStats {
  /** The requests that passed. */
  readonly allowed: number
  /** The requests that were answered with 429. */
  readonly refused: number
  /** The keys that are kept in memory now; where workers count together, those of all of them. */
  readonly keys: number
  /**
   * The keys that `cache` was too small for: they were forgotten while they still counted. Where workers count together,
   * those that their table was too small for, of all limits.
   */
  readonly evicted: number
  /** How often the store failed, or was not in time. */
  readonly storeErrors: number
  /** True where the store did not answer when it was asked last. */
  readonly storeDown: boolean
}

/** A limit, as a middleware. */
export interface RateLimiter extends FittingMiddleware<{ errors: { E_RATE_LIMITED: { status: 429 } } }> {
  /** Forgets what a key took: that of a request, an address, or one that `keyGenerator` gave. */
  readonly reset: (of: Context | string) => Promise<void>
  /** Gives the figures. */
  readonly stats: () => RateLimitStats
}

/**
 * Limits the requests of each client:
 *
 *     app.use(rateLimit({ max: 100, timeWindow: '1 minute' }))
 *     app.post('/login', rateLimit({ max: 5, groupId: 'login' }), signIn)
 *
 * A request past the limit is answered with 429 and Retry-After before the handler runs. It is an error like others,
 * `E_RATE_LIMITED`, which `onError` sees. Replies say how a limit stands in RateLimit fields. One limiter counts all
 * requests that pass it together, whichever routes it is given to.
 *
 * Throws `E_BAD_OPTION`.
 */
export function rateLimit(options: RateLimitOptions): RateLimiter {
  const plan = planOf(options)
  const limiter = new Limiter(plan)
  const layer = gateOf(limiter.gate(), {
    errors: refusalsOf(plan),
    exposes: fieldNamesOf(plan),
    ...(plan.refund === undefined ? {} : { onResponse: (ctx, info) => limiter.complete(ctx, info) as void }),
  })
  return Object.assign(layer, {
    reset: (of: Context | string) => limiter.reset(of),
    stats: () => limiter.stats(),
  }) as RateLimiter
}

hintMisuse(rateLimit, 'app.use(rateLimit({ max: 100 }))')

/** What a request was charged. */
interface Charge {
  readonly keys: readonly string[]
  readonly cost: number
  /** True where no store counted it. */
  readonly isLocal: boolean
}

class Limiter {
  readonly #plan: Plan
  readonly #place: PlaceFields | null
  readonly #counts: Counts
  readonly #guard: StoreGuard | null
  #allowed = 0
  #refused = 0
  /** What may be given back to requests: more than once where they pass the limiter more than once. */
  readonly #charges = new WeakMap<object, readonly Charge[]>()

  constructor(plan: Plan) {
    const { store } = plan
    this.#plan = plan
    this.#place = fieldsOf(plan)
    this.#counts = countsOf(plan)
    this.#guard = store === null ? null : new StoreGuard(store, plan)
  }

  gate(): Gate {
    const { policies, cost, allows, refund } = this.#plan
    const [{ keyOf }, ...others] = policies as [PolicyPlan, ...PolicyPlan[]]
    const counts = this.#counts
    const isPlain = others.length === 0 && allows === null && refund === undefined && this.#guard === null
    if (!isPlain || typeof cost === 'function' || !(counts instanceof MemoryCounts)) {
      return (ctx) => this.#run(ctx)
    }
    return (ctx) => {
      const key = keyOf(ctx)
      return typeof key === 'string'
        ? this.#passOne(counts, ctx, key, cost)
        : key.then((later) => this.#passOne(counts, ctx, later, cost))
    }
  }

  /** Gives back what a request took, if `refund` says so. */
  complete(given: object, info: ResponseInfo): unknown {
    const charges = this.#charges.get(given)
    if (charges === undefined) return undefined
    return when(this.#plan.refund?.(given as Context, info), (isDue) => {
      // A reset may have come in between.
      if (isDue !== true || !this.#charges.delete(given)) return
      for (const charge of charges) this.#giveBack(given as RequestContext, charge)
    })
  }

  #giveBack(ctx: RequestContext, charge: Charge): void {
    if (this.#guard === null || charge.isLocal) this.#counts.refund(ctx.app, charge.keys, charge.cost)
    else void this.#guard.refund(ctx, takesOf(this.#plan, charge.keys, charge.cost))
  }

  async reset(of: Context | string): Promise<void> {
    if (typeof of === 'string') {
      const address = isIP(of) === 6 ? networkOf(of) : of
      await this.#forget(null, isIP(of) === 0 ? [keyFrom(of)] : [keyFrom(of), address])
    } else if (typeof of === 'object' && of !== null && typeof of.ip === 'string') {
      this.#charges.delete(of)
      const ctx = of as unknown as RequestContext
      await this.#forget(ctx, await this.#keysOf(ctx))
    } else throw bad('reset of rateLimit()', of, 'a context, an address or a key')
  }

  async #forget(ctx: RequestContext | null, keys: readonly string[]): Promise<void> {
    this.#counts.forget(keys)
    if (this.#guard === null) return
    await this.#guard.reset(
      ctx,
      [...new Set(keys)].flatMap((key) => storedKeysOf(this.#plan, key)),
    )
  }

  stats(): RateLimitStats {
    const { keys, evicted } = this.#counts
    const { errors = 0, isDown = false } = this.#guard ?? {}
    return {
      allowed: this.#allowed,
      refused: this.#refused,
      keys,
      evicted,
      storeErrors: errors,
      storeDown: isDown,
    }
  }

  /** Counts a request by the only policy, in memory. */
  #passOne(counts: MemoryCounts, ctx: RequestContext, key: string, cost: number): undefined {
    const counters = counts.of(ctx.app)
    const counter = counters[0] as Counter
    if (!counter.check(key, clock(), Math.min(cost, counter.most))) return this.#refuse(ctx, [key], counters)
    counter.charge()
    this.#allowed++
    if (this.#place !== null) this.#place(ctx, counters)
    return undefined
  }

  #run(ctx: RequestContext): unknown {
    const { allows } = this.#plan
    return when(this.#keysOf(ctx), (keys) =>
      when(allows === null ? false : allows(ctx, keys), (isListed) =>
        isListed === true ? undefined : when(this.#costOf(ctx), (cost) => this.#pass(ctx, keys, cost)),
      ),
    )
  }

  #pass(ctx: RequestContext, keys: readonly string[], cost: number): unknown {
    if (this.#guard === null) return this.#passLocally(ctx, keys, cost)
    return when(this.#guard.take(ctx, takesOf(this.#plan, keys, cost)), (levels) =>
      levels === null
        ? this.#passWithoutStore(ctx, keys, cost)
        : this.#conclude(ctx, { keys, cost, isLocal: false }, levels),
    )
  }

  #passWithoutStore(ctx: RequestContext, keys: readonly string[], cost: number): undefined {
    const { onStoreError } = this.#plan
    if (onStoreError === 'local') return this.#passLocally(ctx, keys, cost)
    if (onStoreError === 'deny') return refuseUncounted(ctx)
    this.#allowed++
    return undefined
  }

  #passLocally(ctx: RequestContext, keys: readonly string[], cost: number): undefined {
    const levels = this.#counts.take(ctx.app, keys, cost)
    return this.#conclude(ctx, { keys, cost, isLocal: true }, levels)
  }

  #conclude(ctx: RequestContext, charge: Charge, levels: Standing): undefined {
    for (const level of levels) if (level?.allowed === false) return this.#refuse(ctx, charge.keys, levels)
    this.#allowed++
    if (this.#plan.refund !== undefined) this.#charges.set(ctx, [...(this.#charges.get(ctx) ?? []), charge])
    if (this.#place !== null) this.#place(ctx, levels)
    return undefined
  }

  #refuse(ctx: RequestContext, keys: readonly string[], levels: Standing): never {
    const key = keys[levels.findIndex((level) => level?.allowed === false)] as string
    this.#refused++
    if (this.#place !== null) this.#place(ctx, levels)
    warnOfProxy(ctx, key)
    if (this.#plan.onExceeded !== undefined) void this.#tell(ctx, key)
    return refuse(ctx, levels)
  }

  /** A listener that fails changes nothing for the client. */
  async #tell(ctx: RequestContext, key: string): Promise<void> {
    try {
      await this.#plan.onExceeded?.(ctx as unknown as Context, key)
    } catch (error) {
      ctx.app.report(error, ctx)
    }
  }

  #keysOf(ctx: RequestContext): readonly string[] | PromiseLike<readonly string[]> {
    const keys = this.#plan.policies.map(({ keyOf }) => keyOf(ctx))
    return keys.every((key) => typeof key === 'string') ? keys : Promise.all(keys)
  }

  #costOf(ctx: RequestContext): number | PromiseLike<number> {
    const { cost } = this.#plan
    if (typeof cost === 'number') return cost
    return when(cost(ctx as unknown as Context), (given) => {
      if (Number.isSafeInteger(given) && given >= 0) return given
      throw bad(`rateLimit: what cost gave for ${ctx.method} ${ctx.path}`, given, 'an integer from 0')
    })
  }
}

/** Gives the counts of this process, or those that the workers of the machine share. */
function countsOf(plan: Plan): Counts {
  const local = divided(plan)
  const table = workersTable()
  return table === null ? new MemoryCounts(local) : new SharedCounts(local, table)
}

/** Gives what counts alone while the store fails: a key may have `max` divided by those who do. */
function divided(plan: Plan): Plan {
  const share = (units: number): number => Math.max(1, Math.floor(units / plan.workers))
  const policies = plan.policies.map((policy) => ({
    ...policy,
    max: share(policy.max),
    burst: share(policy.burst),
  }))
  return { ...plan, policies }
}

/** Calls `next` with the value: at once, unless it has to be awaited. */
function when<T, R>(value: T | PromiseLike<T>, next: (value: T) => R): R | PromiseLike<Awaited<R>> {
  return isThenable(value)
    ? (value.then(next as (value: unknown) => R) as PromiseLike<Awaited<R>>)
    : next(value)
}

let warned = false

/** Tells once that all clients behind a proxy are counted as one. */
function warnOfProxy(ctx: RequestContext, key: string): void {
  if (warned || ctx.app.trust !== null || /^[=#]/.test(key)) return
  if (ctx.exchange.header('x-forwarded-for') === undefined) return
  warned = true
  printLine(
    `volant: rateLimit() refused a request from ${key === '' ? 'a Unix socket' : key} that has X-Forwarded-For: if that is the address of a proxy, all its clients are counted as one, until createApp({ trustProxy }) names the proxy`,
  )
}
