import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMediaType } from '../src/request/media-type.ts'

const table: [string, string | null, string?][] = [
  ['application/json', 'application/json'],
  ['APPLICATION/JSON', 'application/json'],
  ['application/json;charset=UTF-8', 'application/json', 'utf-8'],
  ['application/json ; charset="utf-8"', 'application/json', 'utf-8'],
  ['application/json\t;\tcharset=utf-8', 'application/json', 'utf-8'],
  ['application/json; charset="\\u\\t\\f-8"', 'application/json', 'utf-8'],
  ['application/json;', 'application/json'],
  ['application/json;;a=b;', 'application/json'],
  ['text/plain; format=flowed; charset=x', 'text/plain', 'x'],
  ['text/plain; a="b;charset=c"', 'text/plain'],
  ['', null],
  [' application/json', null],
  ['\tapplication/json', null],
  ['application/json\t', null],
  ['application /json', null],
  ['application/', null],
  ['/json', null],
  ['application/json x', null],
  ['application/json, text/html', null],
  ['application/json; charset', null],
  ['application/json; charset=', null],
  ['application/json; charset =x', null],
  ['application/json; charset="x', null],
  ['application/json; charset=x; charset=x', null],
  ['application/json\u0000', null],
  ['application/jsön', null],
]

test('media types', () => {
  for (const [value, essence, charset] of table) {
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
