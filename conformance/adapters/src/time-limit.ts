/** Time limits: what they end is not over before them, and it is over at them. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { engineClock } from '@volant/engine'
import { eventually, testClock, turns } from '@volant/test-kit'
import { type AdapterClock, comes } from './clock.ts'

/**
 * Has `limit` ms pass, and waits until `isOver`. Where the clock is held, it may not be over before the last of them, and
 * no time passes after it. Elsewhere both bounds are near the limit (`comes`).
 */
export async function passes(
  clock: AdapterClock,
  limit: number,
  isOver: () => boolean,
  what: string,
): Promise<void> {
  if (!clock.isHeld) return comes(clock, limit, isOver, what)
  // The server reads what was sent to it: its time begins then.
  await turns()
  await clock.advance(limit - 1)
  await turns()
  assert.equal(isOver(), false, `${what} comes too early`)
  await clock.advance(1)
  await eventually(isOver, what)
}

/**
 * Holds the clock of the framework and of its engine until `t` ends: for limits that no adapter leaves to the server below
 * it, such as those of handlers.
 */
export function frameworkClock(t: TestContext): AdapterClock {
  const clock = testClock(t, engineClock)
  return { isHeld: true, since: 0, advance: (ms) => clock.advance(ms) }
}
