/**
 * A clock that belongs to the test: time limits, heartbeats and expiry come when the test says so, however slow the
 * machine is. What the kit itself waits with (`eventually`, `within`) keeps to the real clock.
 */
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'
import { type Clock, install } from '@sinonjs/fake-timers'

/** What else has a clock, such as the engine. */
export interface OtherClock {
  hold(hold: boolean): void
  advance(ms: number): Promise<void>
}

export class TestClock {
  readonly #timers: Clock
  readonly #others: readonly OtherClock[]

  constructor(timers: Clock, others: readonly OtherClock[]) {
    this.#timers = timers
    this.#others = others
  }

  /**
   * Moves time on by `ms`: the timers that are due run in their order, each with what it causes without a socket. The event
   * loop goes round before the clocks of others move: a server reads first what was sent to it.
   */
  async advance(ms: number): Promise<void> {
    await this.#timers.tickAsync(ms)
    for (const other of this.#others) await other.advance(ms)
  }

  /** Runs the next timer, whenever it is due. */
  async next(): Promise<void> {
    await this.#timers.nextAsync()
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.countTimers()
  }

  /** Sets `Date` and leaves timers alone, as a correction of the system's clock does. */
  setDate(time: number | Date): void {
    this.#timers.setSystemTime(time)
  }
}

/**
 * Has time stand still until the test `t` ends: `Date`, `performance.now()`, timers, `node:timers/promises`, and the
 * clocks of `others`. Nothing in this process may run beside such a test that has timers of its own.
 */
export function testClock(t: TestContext, ...others: readonly OtherClock[]): TestClock {
  const timers = install({
    now: Date.now(),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    // undici keeps timers from before, and clears them when their sockets close.
    shouldClearNativeTimers: true,
  })
  for (const other of others) other.hold(true)
  // Modules that import { setTimeout } from 'node:timers/promises' see what stands there now.
  syncBuiltinESMExports()
  t.after(() => {
    timers.uninstall()
    for (const other of others) other.hold(false)
    syncBuiltinESMExports()
  })
  return new TestClock(timers, others)
}
