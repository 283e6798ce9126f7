/** The clock by which an adapter counts its time limits. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { engineClock } from '@volant/engine'
import { eventually, testClock, turns } from '@volant/test-kit'
import type { AdapterType } from 'volant'

export interface AdapterClock {
  /** True where time stands still until `advance`; false where it goes on, and `advance` waits. */
  readonly isHeld: boolean
  /** Since when, by `performance.now()`, a limit of the case counts at the earliest, where the clock is not held. */
  since: number
  /** Moves time on. What is late then has been ended when this resolves, if the clock is held. */
  advance(ms: number): Promise<void>
}

/**
 * Holds the clock of an adapter until `t` ends. The limits of `node-http` and `uwebsockets` are partly counted by node:http
 * and uWebSockets.js, whose clocks cannot be held: there time goes on, and cases take short limits.
 */
export function adapterClock(t: TestContext, adapter: AdapterType): AdapterClock {
  if (adapter !== 'native') return { isHeld: false, since: performance.now(), advance: (ms) => sleep(ms) }
  const clock = testClock(t, engineClock)
  return { isHeld: true, since: 0, advance: (ms) => clock.advance(ms) }
}

/**
 * Moves a held clock to a limit of `ms`. One millisecond earlier `isOver` must not hold yet; the caller checks what holds
 * afterwards. Where the clock is not held the limit comes by itself (`comes`).
 */
export async function reach(clock: AdapterClock, ms: number, isOver: () => boolean): Promise<void> {
  if (!clock.isHeld) return comes(clock, ms, isOver, `what ends after ${ms} ms`)
  await clock.advance(ms - 1)
  await turns()
  assert.equal(isOver(), false, `${ms - 1} ms are less than the limit`)
  await clock.advance(1)
}

/** How much later than a limit an end may come, in ms: servers look each second, and the default limits are longer. */
const latest = 4_000

/**
 * Waits for what a limit of `ms` ends, on a clock that is not held. An end that comes at once, or by another limit, such as
 * a default in place of what the app says, fails. That it comes too early is told by the time since the case began, or since
 * its limit before: a machine that stands still makes that longer, and never shorter.
 */
export async function comes(
  clock: AdapterClock,
  ms: number,
  isOver: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const { since } = clock
  const called = performance.now()
  await eventually(isOver, what)
  clock.since = performance.now()
  const passed = Math.round(clock.since - since)
  assert.ok(passed >= ms * 0.8, `${what} comes after ${passed} ms, ahead of its limit of ${ms} ms`)
  const late = Math.round(clock.since - called)
  assert.ok(late < ms + latest, `${what} comes after ${late} ms, and not by its limit of ${ms} ms`)
}
