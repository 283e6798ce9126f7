import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMediaType } from '../src/request/media-type.ts'
import { mediaTypes } from './media-type-rows.ts'

test('media types', () => {
  for (const [value, essence, charset] of mediaTypes) {
    // Twice: the second answer comes from the cache.
    for (let round = 0; round < 2; round++) {
      const parsed = parseMediaType(value)
      assert.equal(parsed?.essence ?? null, essence, JSON.stringify(value))
      assert.equal(parsed?.charset, charset, JSON.stringify(value))
    }
  }
})

test('parsing is linear in the length', () => {
  const time = (length: number) => {
    const values = [
      '; a="'.repeat(length),
      `x/y${'; a=b'.repeat(length)}`,
      `x/y${' '.repeat(length)}x`,
      `x/y;a="${'\\'.repeat(length)}`,
    ]
    let best = Infinity
    for (let round = 0; round < 5; round++) {
      const start = process.hrtime.bigint()
      for (const value of values) parseMediaType(value)
      best = Math.min(best, Number(process.hrtime.bigint() - start))
    }
    return best
  }
  time(1_000)
  assert.ok(time(64_000) < 16 * time(8_000) + 1e8)
})
