/** The limits of one process: counted at once, and exactly, since nothing else runs in between. */
import { clock, type Counter, counterOf } from './counters.ts'
import type { Counts } from './counts.ts'
import { Groups } from './groups.ts'
import type { Plan } from './options.ts'
import type { RequestApp } from '../types/request.ts'

const groups = new Groups<readonly Counter[]>()

export class MemoryCounts implements Counts {
  readonly #plan: Plan
  /** The counters of limits without a group. */
  readonly #own: readonly Counter[] | null
  /** The counters of the group by app. */
  readonly #byApp = new WeakMap<RequestApp, readonly Counter[]>()
  /** The counters of all apps. */
  readonly #all = new Set<Counter>()

  constructor(plan: Plan) {
    this.#plan = plan
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

  take(app: RequestApp, keys: readonly string[], cost: number): readonly Counter[] {
    const counters = this.of(app)
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
    return counters
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
    const counters = groups.of(app, this.#plan, () => this.#make())
    for (const counter of counters) this.#all.add(counter)
    this.#byApp.set(app, counters)
    return counters
  }

  #sum(of: (counter: Counter) => number): number {
    let sum = 0
    for (const counter of this.#all) sum += of(counter)
    return sum
  }
}
