import assert from 'node:assert/strict'
import { type TestClock, turns } from '@volant/test-kit'

/** Gives what `work` gives when `ms` are over, and fails if it ends one before. */
export async function atLimit<T>(work: Promise<T>, clock: TestClock, ms: number): Promise<T> {
  let isDone = false
  const ended = work.finally(() => (isDone = true))
  await turns()
  await clock.advance(ms - 1)
  await turns()
  assert.equal(isDone, false, `ended before ${ms} ms`)
  await clock.advance(1)
  return ended
}
