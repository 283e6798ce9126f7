import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
import type { CountedLimit, CountTable } from '../src/load.ts'
import { createTable, sharedTable } from '../src/native-table.ts'

const minute = 60_000_000
const [gcra, fixed] = [0, 1]
const bytes = 1 << 20

function limitOf(table: CountTable, identity: string, ...quotas: number[]): CountedLimit {
  return table.limit(identity, Float64Array.from(quotas))
}

/** How many requests pass, of so many. */
function passed(limit: CountedLimit, count: number, ...keys: string[]): number {
  const levels = new Float64Array(4 * 16)
  let passes = 0
  for (let each = 0; each < count; each++) if (limit.take(1, levels, ...keys)) passes++
  return passes
}

const fd = createTable(bytes)
if (fd !== null) {
  const table = sharedTable(fd) as CountTable

  test('a table counts, gives back, and forgets', () => {
    const limit = limitOf(table, 'a', gcra, 3, minute, 3)
    const levels = new Float64Array(4)
    assert.equal(limit.take(2, levels, 'k'), true)
    assert.deepEqual([...levels], [1, 1, 40_000_000, 0])
    assert.equal(limit.take(2, levels, 'k'), false)
    const [allowed, remaining, , wait] = levels as unknown as [number, number, number, number]
    assert.deepEqual([allowed, remaining], [0, 1])
    assert.ok(wait > 0 && wait <= 20_000_000, String(wait))
    assert.equal(limit.keys(), 1)
    limit.refund(2, 'k')
    assert.equal(passed(limit, 5, 'k'), 3)
    limit.reset('k')
    assert.equal(limit.keys(), 0)
    assert.equal(passed(limit, 5, 'k'), 3)
    assert.deepEqual(table.stats(), { evicted: 0, broken: 0 })
  })

  test('limits count together by identity and numbers, and each policy by its key', () => {
    const one = limitOf(table, 'together', fixed, 4, minute, 4, gcra, 100, minute, 6)
    const same = limitOf(table, 'together', fixed, 4, minute, 4, gcra, 100, minute, 6)
    assert.equal(passed(one, 3, 'k', 'all'), 3)
    assert.equal(passed(same, 3, 'k', 'all'), 1)
    assert.equal(passed(same, 9, 'other', 'all'), 2, 'the second policy has no more')
    assert.equal(passed(same, 9, 'third', 'none'), 4)
    assert.equal(passed(limitOf(table, 'together', fixed, 5, minute, 5), 9, 'k'), 5)
    assert.equal(passed(limitOf(table, 'apart', fixed, 4, minute, 4), 9, 'k'), 4)
  })

  test('keys are told apart, of whatever length and letters', () => {
    const limit = limitOf(table, 'keys', fixed, 1, minute, 1)
    const lengths = [0, 1, 126, 127, 128, 129, 5_000].map((length) => 'x'.repeat(length))
    for (const key of ['\ud800', '\udfff\ud800', 'é', 'e\u0301', '€', '\0', ...lengths]) {
      assert.equal(passed(limit, 2, key), 1, `${key.length} ${key}`)
    }
  })

  test('more keys than there is room for: those that go are counted', () => {
    const small = createTable(1 << 14) as number
    const few = sharedTable(small) as CountTable
    const limit = limitOf(few, 'keys', fixed, 1, minute, 1)
    let passes = 0
    for (let each = 0; each < 1_000; each++) passes += passed(limit, 1, `k${each}`)
    assert.equal(passes, 1_000)
    // 16 KiB have a header and 31 buckets of 15 keys.
    assert.ok(limit.keys() <= 465 && limit.keys() > 400, String(limit.keys()))
    assert.equal(few.stats().evicted + limit.keys(), 1_000)
  })

  test('a descriptor is opened once', () => {
    assert.equal(sharedTable(fd), table)
  })

  test('wrong arguments throw', () => {
    for (const size of [0, 1_023, -1, Number.NaN, 2 ** 33, Infinity]) {
      assert.throws(() => createTable(size), { code: 'E_BAD_OPTION', message: /1024 to 4294967296 bytes/ })
    }
    const file = openSync(import.meta.filename ?? new URL(import.meta.url), 'r')
    for (const other of [file, 1_000_000, -1]) {
      assert.throws(() => sharedTable(other), { code: 'E_ENGINE', message: /is no table of counts/ })
    }
    closeSync(file)
    for (const numbers of [
      [],
      [gcra, 1, 1],
      [7, 1, 1, 1],
      [gcra, 0, 1, 1],
      [gcra, Number.NaN, 1, 1],
      Array<number>(4 * 17).fill(1),
    ]) {
      assert.throws(() => limitOf(table, 'x', ...numbers), { code: 'E_INTERNAL' }, String(numbers))
    }
    const limit = limitOf(table, 'wrong', gcra, 3, minute, 3) as unknown as Record<
      string,
      (...given: unknown[]) => unknown
    >
    for (const given of [
      [1, new Float64Array(3), 'k'],
      [1, new Float64Array(4)],
      [1, {}, 'k'],
      ['1', null, 5],
    ]) {
      assert.throws(() => limit['take']?.(...given), { code: 'E_INTERNAL' })
    }
    assert.throws(() => limit['refund']?.(1), { code: 'E_INTERNAL' })
    assert.throws(() => limit['reset']?.(), { code: 'E_INTERNAL' })
  })
}
