import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextId } from '../src/context/id.ts'

test('ids differ, also where a block of them ends', () => {
  const first = nextId()
  assert.match(first, /^[\w-]{6}-[0-9a-z]{4,}$/)
  const seen = new Set<string>()
  for (let count = 0; count < 1_000; count++) seen.add(nextId())
  assert.equal(seen.size, 1_000)
  let previous = first
  let wrapped = ''
  for (let count = 0; count < 36 ** 4 && wrapped === ''; count++) {
    const id = nextId()
    assert.notEqual(id, previous)
    if (id.length > first.length) wrapped = id
    previous = id
  }
  assert.equal(wrapped.slice(7), '10000')
  assert.ok(wrapped.startsWith(first.slice(0, 7)))
})
