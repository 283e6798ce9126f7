/** Policies counted in memory. Times are integers of microseconds on a clock that never goes back. */
import { Table } from './table.ts'
import type { Level, Quota } from './store.ts'

/** Gives the microseconds since the process started. */
export function clock(): number {
  return Math.floor(performance.now() * 1_000)
}

/**
 * One policy and its counts by key. A request is first checked by every policy, and charged by each of them only if all
 * let it pass. After `check` the fields say how `key` stands as if it were charged.
 */
export abstract class Counter implements Level {
  allowed = true
  remaining = 0
  reset = 0
  retryAfter = 0
  /** The units that a key may have at once. */
  readonly most: number
  readonly table: Table
  protected readonly window: number
  protected at = 0

  constructor(quota: Quota, width: number, keys: number) {
    this.most = quota.algorithm === 'gcra' ? quota.burst : quota.max
    this.window = quota.window * 1_000
    this.table = new Table(width, keys, (values, at, now) => this.isLive(values, at, now))
  }

  /** True if `key` may have `cost` now. */
  abstract check(key: string, now: number, cost: number): boolean
  /** Charges what was checked last. */
  abstract charge(): void
  /** Says how the key stands without the charge, since another limit refused. */
  spare(cost: number): void {
    if (this.allowed) this.remaining += cost
  }

  /** Gives `cost` back to `key`. */
  abstract refund(key: string, now: number, cost: number): void
  protected abstract isLive(values: Float64Array, at: number, now: number): boolean

  protected verdict(allowed: boolean, remaining: number, reset: number, retryAfter: number): boolean {
    this.allowed = allowed
    this.remaining = remaining
    this.reset = reset / 1_000
    this.retryAfter = retryAfter / 1_000
    return allowed
  }
}

export function counterOf(quota: Quota, keys: number): Counter {
  if (quota.algorithm === 'gcra') return new Gcra(quota, keys)
  return quota.algorithm === 'fixed' ? new FixedWindow(quota, keys) : new SlidingWindow(quota, keys)
}

/**
 * The generic cell rate algorithm (ITU-T I.371): a key has one number, the time at which all of its quota is there
 * again. A unit moves it by `interval`, and it may be `depth` ahead at most.
 */
class Gcra extends Counter {
  readonly #interval: number
  readonly #depth: number
  #next = 0

  constructor(quota: Quota, keys: number) {
    super(quota, 1, keys)
    this.#interval = Math.ceil(this.window / quota.max)
    this.#depth = this.#interval * quota.burst
  }

  check(key: string, now: number, cost: number): boolean {
    const at = this.table.at(key, now)
    const full = this.table.values[at] as number
    const ahead = full > now ? full - now : 0
    const next = ahead + this.#interval * cost
    this.at = at
    if (next > this.#depth) {
      const left = Math.floor((this.#depth - ahead) / this.#interval)
      return this.verdict(false, left, ahead, next - this.#depth)
    }
    this.#next = now + next
    const remaining = Math.floor((this.#depth - next) / this.#interval)
    return this.verdict(true, remaining, remaining > 0 ? next : next + this.#interval - this.#depth, 0)
  }

  charge(): void {
    this.table.values[this.at] = this.#next
  }

  refund(key: string, now: number, cost: number): void {
    const at = this.table.at(key, now)
    this.table.values[at] = Math.max(0, (this.table.values[at] as number) - this.#interval * cost)
  }

  protected isLive(values: Float64Array, at: number, now: number): boolean {
    return (values[at] as number) > now
  }
}

/** Counts in windows, each of which begins with the first request of a key after the one before. */
class FixedWindow extends Counter {
  readonly #max: number
  #count = 0
  #start = 0

  constructor(quota: Quota, keys: number) {
    super(quota, 2, keys)
    this.#max = quota.max
  }

  check(key: string, now: number, cost: number): boolean {
    const at = this.table.at(key, now)
    const { values } = this.table
    const isOver = !this.isLive(values, at, now)
    const start = isOver ? now : (values[at] as number)
    const count = isOver ? 0 : (values[at + 1] as number)
    const rest = start + this.window - now
    this.at = at
    if (count + cost > this.#max) return this.verdict(false, this.#max - count, rest, rest)
    this.#start = start
    this.#count = count + cost
    return this.verdict(true, this.#max - this.#count, rest, 0)
  }

  charge(): void {
    this.table.values[this.at] = this.#start
    this.table.values[this.at + 1] = this.#count
  }

  refund(key: string, now: number, cost: number): void {
    const at = this.table.at(key, now)
    const { values } = this.table
    if (this.isLive(values, at, now)) values[at + 1] = Math.max(0, (values[at + 1] as number) - cost)
  }

  protected isLive(values: Float64Array, at: number, now: number): boolean {
    return (values[at + 1] as number) > 0 && now < (values[at] as number) + this.window
  }
}

/**
 * Counts in windows, and adds the share of the window before that a window which ends now would have: a key cannot have
 * twice its quota around the end of a window.
 */
class SlidingWindow extends Counter {
  readonly #max: number
  #start = 0
  #count = 0
  #before = 0

  constructor(quota: Quota, keys: number) {
    super(quota, 3, keys)
    this.#max = quota.max
  }

  check(key: string, now: number, cost: number): boolean {
    const { window } = this
    this.#read(key, now)
    const passed = now - this.#start
    const weighted = this.#count + (this.#before * (window - passed)) / window
    const rest = window - passed
    if (weighted + cost > this.#max) {
      return this.verdict(
        false,
        Math.max(0, Math.floor(this.#max - weighted)),
        rest,
        this.#wait(passed, cost),
      )
    }
    this.#count += cost
    const remaining = Math.floor(this.#max - weighted - cost)
    return this.verdict(true, remaining, remaining > 0 ? rest : this.#wait(passed, 1), 0)
  }

  charge(): void {
    const { values } = this.table
    values[this.at] = this.#start
    values[this.at + 1] = this.#count
    values[this.at + 2] = this.#before
  }

  refund(key: string, now: number, cost: number): void {
    this.#read(key, now)
    // What was charged may be in the window before by now.
    const rest = Math.max(0, cost - this.#count)
    this.#count = Math.max(0, this.#count - cost)
    this.#before = Math.max(0, this.#before - rest)
    this.charge()
  }

  protected isLive(values: Float64Array, at: number, now: number): boolean {
    return (
      (values[at + 1] as number) + (values[at + 2] as number) > 0 &&
      now < (values[at] as number) + 2 * this.window
    )
  }

  #read(key: string, now: number): void {
    const at = this.table.at(key, now)
    const { values } = this.table
    this.at = at
    const isLive = this.isLive(values, at, now)
    const start = isLive ? (values[at] as number) : now
    const isNext = now >= start + this.window
    this.#start = isNext ? start + this.window : start
    this.#before = isLive ? (values[isNext ? at + 1 : at + 2] as number) : 0
    this.#count = isLive && !isNext ? (values[at + 1] as number) : 0
  }

  /** Gives the microseconds until `cost` fits, `passed` after the start of the window. */
  #wait(passed: number, cost: number): number {
    const room = this.#max - cost
    const { window } = this
    // The weight of a window of `count` is down to `room` when 1 − room / count of the next one have passed.
    if (this.#count <= room) {
      return Math.max(1, Math.ceil(window * (1 - (room - this.#count) / this.#before)) - passed)
    }
    return window - passed + Math.ceil(window * (1 - room / this.#count))
  }
}
