/** A wait fails by a hang on any machine, and not by a machine that is slow. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Patience } from '../src/patience.ts'

/** Waits with a time of 1000 ms for what never comes, and returns how long that took. */
function waitInVain(waitsPerMs: number): number {
  let now = 0
  const sources = { now: () => now, coreWaits: () => waitsPerMs * now }
  const patience = new Patience(1_000, sources)
  for (let left = patience.left(); left > 0; left = patience.left()) now += left
  return now
}

describe('Patience', () => {
  test('is over after its time where threads do not wait for a core', () => {
    assert.equal(waitInVain(0), 1_000)
    assert.equal(waitInVain(0.09), 1_000)
  })

  test('is extended as long as threads wait for a core', () => {
    let now = 0
    let waits = 0
    const patience = new Patience(1_000, { now: () => now, coreWaits: () => waits })
    for (let half = 0; half < 6; half++) {
      assert.ok(patience.left() > 0, `after ${now} ms`)
      now += 500
      waits += 100
    }
    assert.equal(patience.left(), 500)
    now += 500
    assert.equal(patience.left(), 0)
  })

  test('ends on a slow machine, too', () => {
    assert.equal(waitInVain(4), 6_000)
  })

  test('begins anew when something has come', () => {
    let now = 0
    const patience = new Patience(1_000, { now: () => now, coreWaits: () => 0 })
    now = 500
    assert.equal(patience.left(), 500)
    now = 900
    patience.renew()
    now = 1_400
    assert.equal(patience.left(), 500)
    now = 1_900
    assert.equal(patience.left(), 0)
  })
})
