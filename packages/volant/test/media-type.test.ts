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
