import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Counter, counterOf } from '../src/rate-limit/counters.ts'
import type { Quota } from '../src/rate-limit/store.ts'
import { networkOf } from '../src/request/network.ts'
import { Table } from '../src/rate-limit/table.ts'

const second = 1_000_000

/** Keys that `crates/share` counts as well: a time in µs, a cost, and how the key stands then; for a refund, nothing. */
const cases = JSON.parse(
  readFileSync(new URL('../../../../crates/share/cases/counts.json', import.meta.url), 'utf8'),
) as (Quota & { readonly steps: readonly (readonly [now: number, cost: number, ...level: unknown[]])[] })[]

/** Sends requests at these times, and gives those that passed. */
function passing(counter: Counter, times: Iterable<number>, key = 'k'): number[] {
  const passed: number[] = []
  for (const now of times) {
    if (!counter.check(key, now, 1)) continue
    counter.charge()
    passed.push(now)
  }
  return passed
}

function* every(step: number, from: number, to: number): Generator<number> {
  for (let now = from; now < to; now += step) yield now
}

const starts = [0, 7 * second, 2 ** 31, 2 ** 32 - 3, 2 ** 40]

describe('counts on a virtual clock', () => {
  test('fixed: exactly max in each window, over a million requests', () => {
    for (const start of starts) {
      const counter = counterOf({ algorithm: 'fixed', max: 100, window: 1_000, burst: 100 }, 10)
      const passed = passing(counter, every(100, start, start + 20 * second))
      assert.equal(passed.length, 2_000)
      for (let at = 0; at < 20; at++) {
        const [from, to] = [start + at * second, start + (at + 1) * second]
        assert.equal(passed.filter((time) => time >= from && time < to).length, 100)
      }
    }
  })

  test('gcra: the burst, then one for each interval, and no window has more than burst and max', () => {
    for (const start of starts) {
      const counter = counterOf({ algorithm: 'gcra', max: 100, window: 1_000, burst: 20 }, 10)
      const passed = passing(counter, every(100, start, start + 20 * second))
      assert.equal(passed.length, 20 + 2_000 - 1)
      assert.deepEqual(passed.slice(0, 21), [...every(100, start, start + 2_000), start + 10_000])
      for (let at = 100; at < passed.length; at++) {
        assert.ok((passed[at] as number) - (passed[at - 100] as number) >= second - 20 * 10_000)
      }
    }
  })

  test('sliding: at most max in a window that is full, and about it in any other', () => {
    for (const start of starts) {
      const counter = counterOf({ algorithm: 'sliding', max: 100, window: 1_000, burst: 100 }, 10)
      const passed = passing(counter, every(100, start, start + 20 * second))
      assert.equal(passed.filter((time) => time < start + second).length, 100)
      for (let at = 100; at < passed.length; at++) {
        // The window before is weighted as if its requests had come evenly, and the first one came all at once.
        if ((passed[at - 100] as number) < start + second) continue
        assert.ok((passed[at] as number) - (passed[at - 100] as number) > 0.9 * second, String(at))
      }
      assert.ok(Math.abs(passed.length - 2_000) <= 100, String(passed.length))
    }
  })

  test('what a refusal says is when the next one passes, to the microsecond', () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      for (const max of [1, 2, 7, 100]) {
        const counter = counterOf({ algorithm, max, window: 1_000, burst: max }, 10)
        let now = 3 * second
        for (let round = 0; round < 300; round++) {
          if (counter.check('k', now, 1)) {
            counter.charge()
            now += round % 3 === 0 ? 1 : Math.floor((0.7 * second) / max)
            continue
          }
          const wait = Math.round(counter.retryAfter * 1_000)
          assert.ok(wait > 0)
          assert.equal(counter.remaining, 0)
          if (wait > 1)
            assert.equal(counter.check('k', now + wait - 2, 1), false, `${algorithm} ${max}: too long`)
          now += wait
          assert.equal(counter.check('k', now, 1), true, `${algorithm} ${max}: too short`)
          counter.charge()
        }
      }
    }
  })

  test('cases that the table of several processes has too', () => {
    for (const { steps, ...quota } of cases) {
      const counter = counterOf(quota, 10)
      for (const [now, cost, ...expected] of steps) {
        if (expected.length === 0) {
          counter.refund('k', now, cost)
          continue
        }
        if (counter.check('k', now, cost)) counter.charge()
        const { allowed, remaining, reset, retryAfter } = counter
        assert.deepEqual([allowed, remaining, reset, retryAfter], expected, `${quota.algorithm} at ${now}`)
      }
    }
  })

  test('keys do not touch each other', () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      const counter = counterOf({ algorithm, max: 3, window: 1_000, burst: 3 }, 1_000)
      for (let each = 0; each < 400; each++)
        assert.equal(passing(counter, every(1, 5, 10), `k${each}`).length, 3)
      for (let each = 0; each < 400; each++)
        assert.equal(passing(counter, every(1, 10, 15), `k${each}`).length, 0)
      assert.equal(counter.table.evicted, 0)
    }
  })
})

describe('the table of keys', () => {
  const alive = (values: Float64Array, at: number) => (values[at] as number) > 0

  test('the oldest keys go when there are too many, and those that counted are told', () => {
    const table = new Table(1, 100, alive)
    for (let each = 0; each < 1_000; each++) {
      table.values[table.at(`k${each}`, 0)] = each % 2
      assert.ok(table.size <= 100)
      table.at('busy', 0)
      assert.equal(table.values[table.at('busy', 0)], each === 0 ? 0 : 1, 'a key that is used stays')
      table.values[table.at('busy', 0)] = 1
    }
    assert.ok(table.evicted >= 440 && table.evicted <= 500, String(table.evicted))
    assert.equal(table.values[table.at('k999', 0)], 1)
    assert.equal(table.values[table.at('k1', 0)], 0)
  })

  test('a key of the old generation keeps its numbers when it makes the young one old', () => {
    const table = new Table(2, 4, () => true)
    const put = (key: string, value: number) => {
      const at = table.at(key, 0)
      table.values[at] = value
      table.values[at + 1] = -value
    }
    put('a', 1)
    put('b', 2)
    put('c', 3)
    put('d', 4)
    const at = table.at('a', 0)
    assert.deepEqual([table.values[at], table.values[at + 1]], [1, -1])
    assert.equal(table.evicted, 1)
  })

  test('deleted keys begin anew in either generation', () => {
    const table = new Table(1, 4, () => true)
    for (const key of ['a', 'b', 'c']) table.values[table.at(key, 0)] = 1
    table.delete('a')
    table.delete('c')
    table.delete('none')
    assert.deepEqual(
      ['a', 'c'].map((key) => table.values[table.at(key, 0)]),
      [0, 0],
    )
  })

  test('a key that is part of a long header does not keep the header in memory', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const table = new Table(1, 4_000, () => true)
    // The texts are made of bytes, as headers are: V8 shares the memory of such a text with its parts.
    const fill = (): void => {
      for (let each = 0; each < 2_000; each++) {
        const header = Buffer.alloc(8_000, `${String(each).padStart(30, '0')} `).toString('latin1')
        table.at(`=${header.slice(0, 30)}`, 0)
      }
    }
    collect()
    const before = process.memoryUsage().heapUsed
    fill()
    collect()
    const grown = process.memoryUsage().heapUsed - before
    assert.ok(grown < 4_000_000, `${grown} bytes`)
    assert.equal(table.size, 2_000)
    for (const key of ['=\ud800', '=\udfff\ud800', '=é€', '=']) {
      const at = table.at(key, 0)
      assert.equal(table.at(key, 0), at, 'it is the same key')
    }
  })

  test('a million keys take no more memory than the limit', () => {
    const counter = counterOf({ algorithm: 'gcra', max: 3, window: 60_000, burst: 3 }, 10_000)
    let seed = 1
    for (let each = 0; each < 1_000_000; each++) {
      seed = (seed * 48_271) % 0x7fffffff
      if (counter.check(`10.${seed}`, each, 1)) counter.charge()
    }
    assert.ok(counter.table.size <= 10_000)
    assert.ok(counter.table.values.length <= 5_000)
    assert.ok(counter.table.evicted > 900_000)
  })
})

test('networks of addresses', () => {
  for (const [address, network] of [
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:FFFF:192.0.2.1', '192.0.2.1'],
    ['::fffe:192.0.2.1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3', '1:2:3'],
    ['1::2::3', '1::2::3'],
    ['::ffff:1.2.3', '::ffff:1.2.3'],
    ['::12345', '::12345'],
  ] as const) {
    assert.equal(networkOf(address), network, address)
  }
})
