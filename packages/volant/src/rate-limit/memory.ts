/** The limits of one process: counted at once, and exactly, since nothing else runs in between. */
import { VolantError } from '../errors/errors.ts'
import { clock, type Counter, counterOf } from './counters.ts'
import type { Plan } from './options.ts'
import type { RequestApp } from '../types/request.ts'

/** The counters that limits of one `groupId` share in an app. */
const groups = new WeakMap<RequestApp, Map<string, { numbers: string; counters: readonly Counter[] }>>()

export class MemoryCounts {
  readonly #plan: Plan
  /** The counters of limits without a group. */
  readonly #own: readonly Counter[] | null
  /** The counters of the group by app. */
  readonly #byApp = new WeakMap<RequestApp, readonly Counter[]>()
  /** The counters of all apps. */
  readonly #all = new Set<Counter>()

  /** Each key may have its `max` divided by `share`. */
  constructor(plan: Plan, share = 1) {
    this.#plan = {
      ...plan,
      policies: plan.policies.map((policy) => ({
        ...policy,
        max: Math.max(1, Math.floor(policy.max / share)),
        burst: Math.max(1, Math.floor(policy.burst / share)),
      })),
    }
    this.#own = plan.group === undefined ? this.#make() : null
  }

  get keys(): number {
    return this.#sum(({ table }) => table.size)
  }

  get evicted(): number {
    return this.#sum(({ table }) => table.evicted)
  }

  /** Gives the counters of the policies in their order. */
  of(app: RequestApp): readonly Counter[] {
    return this.#own ?? this.#byApp.get(app) ?? this.#shared(app)
  }

  /** Charges `cost` to all keys, or to none of them. The counters say how the keys stand. */
  take(counters: readonly Counter[], keys: readonly string[], cost: number): boolean {
    const now = clock()
    let passes = true
    for (let at = 0; at < counters.length; at++) {
      const counter = counters[at] as Counter
      if (!counter.check(keys[at] as string, now, Math.min(cost, counter.most))) passes = false
    }
    for (const counter of counters) {
      if (passes) counter.charge()
      else counter.spare(Math.min(cost, counter.most))
    }
    return passes
  }

  refund(app: RequestApp, keys: readonly string[], cost: number): void {
    const now = clock()
    const counters = this.of(app)
    counters.forEach((counter, at) => counter.refund(keys[at] as string, now, Math.min(cost, counter.most)))
  }

  forget(keys: readonly string[]): void {
    for (const { table } of this.#all) for (const key of keys) table.delete(key)
  }

  #make(): readonly Counter[] {
    const counters = this.#plan.policies.map((policy) => counterOf(policy, this.#plan.cache))
    for (const counter of counters) this.#all.add(counter)
    return counters
  }

  #shared(app: RequestApp): readonly Counter[] {
    const { policies, cache, group = '', nameSpace } = this.#plan
    let shared = groups.get(app)
    if (shared === undefined) groups.set(app, (shared = new Map()))
    const numbers = JSON.stringify([policies, cache])
    const name = `${nameSpace}:${group}`
    let found = shared.get(name)
    if (found === undefined) shared.set(name, (found = { numbers, counters: this.#make() }))
    if (found.numbers !== numbers) {
      throw new VolantError(
        'E_BAD_OPTION',
        `rateLimit: two limits have the groupId ${JSON.stringify(group)} and other numbers, so they cannot count together: give one of them another groupId`,
      )
    }
    for (const counter of found.counters) this.#all.add(counter)
    this.#byApp.set(app, found.counters)
    return found.counters
  }

  #sum(of: (counter: Counter) => number): number {
    let sum = 0
    for (const counter of this.#all) sum += of(counter)
    return sum
  }
}
