/**
 * The limits of all workers of a machine: counted in memory that their supervisor shares with them, at once, and exactly,
 * since a key is locked while it is charged (`crates/share`).
 */
import { type CountedLimit, type CountTable, sharedTable } from '@volant/engine'
import { printLine } from '../report/print-line.ts'
import type { RequestApp } from '../types/request.ts'
import { supervision } from '../worker/supervision.ts'
import type { Counts } from './counts.ts'
import { Groups } from './groups.ts'
import type { Plan } from './options.ts'
import type { Level, RateLimitAlgorithm } from './store.ts'

let told = false
let toldOfEvictions = false

/** Gives the table that this worker counts in; null in a process without a supervisor. */
export function workersTable(): CountTable | null {
  const supervisor = supervision()
  if (supervisor === null) return null
  const table = supervisor.table === null ? null : sharedTable(supervisor.table)
  if (table === null && !told && supervisor.workers > 1 && supervisor.worker === 0) {
    told = true
    printLine(
      'volant: rateLimit() counts in each worker by itself, since they have no table to share: with N workers N times as much passes',
    )
  }
  return table
}

const groups = new Groups<CountedLimit>()

/** How many limits without a group have the same numbers in this process. */
const ordinals = new Map<string, number>()

export class SharedCounts implements Counts {
  readonly #plan: Plan
  readonly #table: CountTable
  /** The limit, if it has no group. */
  readonly #own: CountedLimit | null
  /** The limit of the group by app. */
  readonly #byApp = new WeakMap<RequestApp, CountedLimit>()
  /** The limits of all apps. */
  readonly #all = new Set<CountedLimit>()
  readonly #numbers: Float64Array
  readonly #levels: readonly MutableLevel[]
  /** What the table had evicted when this limit was made: a process that is replaced tells what happens anew. */
  readonly #evictedBefore: number
  #takes = 0

  constructor(plan: Plan, table: CountTable) {
    this.#plan = plan
    this.#table = table
    this.#evictedBefore = table.stats().evicted
    this.#numbers = new Float64Array(plan.policies.length * width)
    this.#levels = plan.policies.map(() => ({ allowed: true, remaining: 0, reset: 0, retryAfter: 0 }))
    this.#own = plan.group === undefined ? this.#make(ordinalOf(plan)) : null
  }

  get keys(): number {
    let sum = 0
    for (const limit of this.#all) sum += limit.keys()
    return sum
  }

  get evicted(): number {
    const { evicted } = this.#table.stats()
    this.#tellOf(evicted)
    return evicted
  }

  take(app: RequestApp, keys: readonly string[], cost: number): readonly Level[] {
    const numbers = this.#numbers
    this.#of(app).take(cost, numbers, ...keys)
    if (!toldOfEvictions && ++this.#takes % takesBetweenLooks === 0) this.#tellOf(this.#table.stats().evicted)
    let at = 0
    for (const level of this.#levels) {
      level.allowed = numbers[at] === 1
      level.remaining = numbers[at + 1] as number
      level.reset = (numbers[at + 2] as number) / 1_000
      level.retryAfter = (numbers[at + 3] as number) / 1_000
      at += width
    }
    return this.#levels
  }

  refund(app: RequestApp, keys: readonly string[], cost: number): void {
    this.#of(app).refund(cost, ...keys)
  }

  forget(keys: readonly string[]): void {
    for (const limit of this.#all) for (const key of keys) limit.reset(key)
  }

  /** Tells once in this process that keys are forgotten early. */
  #tellOf(evicted: number): void {
    const count = evicted - this.#evictedBefore
    if (toldOfEvictions || count <= 0) return
    toldOfEvictions = true
    printLine(
      `volant: the table in which workers count rate limits forgot ${count} ${count === 1 ? 'key that' : 'keys that'} still counted, and forgets more: such a key has its whole quota again. The limit with the most keys loses them first: give it a shorter timeWindow, keys that no client can choose, or a store`,
    )
  }

  #of(app: RequestApp): CountedLimit {
    return this.#own ?? this.#byApp.get(app) ?? this.#grouped(app)
  }

  #grouped(app: RequestApp): CountedLimit {
    const limit = groups.of(app, this.#plan, () => this.#make(this.#plan.group))
    this.#all.add(limit)
    this.#byApp.set(app, limit)
    return limit
  }

  /**
   * Makes the limit of a name. While workers are replaced, old code and new code run side by side: a limit whose numbers
   * have changed is another one.
   */
  #make(name: string | number | undefined): CountedLimit {
    const { nameSpace, policies } = this.#plan
    const quotas = policies.flatMap(({ algorithm, max, window, burst }) => [
      codes[algorithm],
      max,
      window * 1_000,
      burst,
    ])
    const limit = this.#table.limit(JSON.stringify([nameSpace, name, policies]), Float64Array.from(quotas))
    this.#all.add(limit)
    return limit
  }
}

/**
 * Numbers the limits without a group: the nth one of the same numbers is the same in all workers. So a limit that new code
 * adds does not become another one.
 */
function ordinalOf({ nameSpace, policies }: Plan): number {
  const numbers = JSON.stringify([nameSpace, policies])
  const ordinal = ordinals.get(numbers) ?? 0
  ordinals.set(numbers, ordinal + 1)
  return ordinal
}

/** A flood of keys makes so many requests in no time, and a look at the table's figures costs more than a request. */
const takesBetweenLooks = 1_024

type MutableLevel = { -readonly [Name in keyof Level]: Level[Name] }

/** As the engine has them. */
const codes: Readonly<Record<RateLimitAlgorithm, number>> = { gcra: 0, fixed: 1, sliding: 2 }
/** The numbers of a level. */
const width = 4
