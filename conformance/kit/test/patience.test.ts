/** A wait fails by a hang on any machine, and not by a machine that is slow. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { coreWaits, Patience } from '../src/patience.ts'
import { eventually } from '../src/waiting.ts'

/** Waits with a time of 1000 ms for what never comes, and returns how long that took. */
function waitInVain(waitsPerMs: number): number {
  let now = 0
  const sources = { now: () => now, coreWaits: () => new Map([['1', waitsPerMs * now]]) }
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
    const patience = new Patience(1_000, { now: () => now, coreWaits: () => new Map([['1', waits]]) })
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
    const patience = new Patience(1_000, { now: () => now, coreWaits: () => new Map() })
    now = 500
    assert.equal(patience.left(), 500)
    now = 900
    patience.renew()
    now = 1_400
    assert.equal(patience.left(), 500)
    now = 1_900
    assert.equal(patience.left(), 0)
  })

  test('is extended by what one thread waits for while another ends', () => {
    let now = 0
    let waits = new Map([
      ['1', 0],
      ['2', 90_000],
    ])
    const patience = new Patience(1_000, { now: () => now, coreWaits: () => waits })
    now = 500
    assert.equal(patience.left(), 500)
    now = 1_000
    waits = new Map([['1', 51]])
    assert.equal(patience.left(), 500)
  })

  test(
    'reads for how long a thread waited for a core that another has',
    { skip: process.platform === 'linux' ? false : 'Linux' },
    async () => {
      const sum = (): number => [...coreWaits().values()].reduce((one, other) => one + other, 0)
      const before = sum()
      const stop = new Int32Array(new SharedArrayBuffer(4))
      const busy = "while (Atomics.load(require('node:worker_threads').workerData, 0) === 0);"
      // More threads than cores, which the kernel lets run in turn.
      const workers = Array.from(
        { length: 2 * availableParallelism() },
        () => new Worker(busy, { eval: true, workerData: stop }),
      )
      try {
        await eventually(() => sum() > before + 20, 'threads wait for a core')
      } finally {
        Atomics.store(stop, 0, 1)
        await Promise.all(workers.map((worker) => once(worker, 'exit')))
      }
    },
  )
})
