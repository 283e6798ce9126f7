import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HTTPError } from '../src/errors/errors.ts'
import { parseJson } from '../src/request/json.ts'

const refused = (text: string, maxDepth: number, code: string) =>
  assert.throws(
    () => parseJson(text, maxDepth),
    (error) => error instanceof HTTPError && error.status === 400 && error.code === code,
    text.slice(0, 60),
  )

test('depth is counted outside strings only', () => {
  assert.deepEqual(parseJson('[[1]]', 2), [[1]])
  refused('[[[1]]]', 2, 'E_JSON_DEPTH')
  refused('{"a":{"b":{}}}', 2, 'E_JSON_DEPTH')
  assert.equal(parseJson('"[[[{{{"', 1), '[[[{{{')
  assert.deepEqual(parseJson('["\\"[[[", "]"]', 1), ['"[[[', ']'])
  assert.deepEqual(parseJson('["\\\\", []]', 2), ['\\', []])
  assert.deepEqual(parseJson('[[],[],[],[]]', 2), [[], [], [], []])
  refused('['.repeat(100_000), 64, 'E_JSON_DEPTH')
})

test('a key __proto__ is refused however it is spelled and wherever it is', () => {
  for (const key of [
    '__proto__',
    '\\u005f_proto__',
    '__pr\\u006fto__',
    '\\u005F\\u005F\\u0070\\u0072\\u006F\\u0074\\u006F\\u005F\\u005F',
  ]) {
    refused(`{"${key}":1}`, 64, 'E_JSON_PROTO')
    refused(`[1,{"a":[{"${key}":{}}]}]`, 64, 'E_JSON_PROTO')
  }
  assert.deepEqual(parseJson('{"a":"__proto__","b":"\\u0041"}', 64), { a: '__proto__', b: 'A' })
  assert.deepEqual(parseJson('{"__proto":1,"proto__":2}', 64), { __proto: 1, proto__: 2 })
})

test('what is not JSON is malformed, and its text is not repeated', () => {
  for (const text of ['', '{', 'undefined', '{a:1}', "'x'", '[1,]', '1 2', '\ufeff1', 'NaN'])
    refused(text, 64, 'E_BODY_MALFORMED')
})
