import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HTTPError } from '../src/errors/errors.ts'
import { parseForm, parseQuery } from '../src/request/query.ts'

test('pairs agree with URLSearchParams', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const parts = [
    'a',
    'b',
    '=',
    '&',
    '+',
    '%20',
    '%C3%A9',
    'constructor',
    '__proto__',
    '%3D',
    '%26',
    '1',
    '=&',
    '&&',
  ]
  for (let round = 0; round < 5_000; round++) {
    const text = Array.from({ length: random(12) }, () => parts[random(parts.length)]).join('')
    const expected = new Map<string, string[]>()
    for (const [name, value] of new URLSearchParams(text))
      expected.set(name, [...(expected.get(name) ?? []), value])
    for (const parse of [parseQuery, parseForm]) {
      const pairs = parse(text, 100)
      assert.deepEqual(Object.keys(pairs).sort(), [...expected.keys()].sort(), text)
      for (const [name, values] of expected) assert.deepEqual([pairs[name]].flat(), values, text)
    }
  }
})

test('nothing is inherited', () => {
  const pairs = parseQuery('a=1', 10)
  assert.equal(pairs['constructor'], undefined)
  assert.equal(pairs['__proto__'], undefined)
  assert.equal('toString' in pairs, false)
})

test('malformed escapes: kept in a query, refused in a form', () => {
  assert.equal(parseQuery('a=10%', 10)['a'], '10%')
  assert.equal(parseQuery('a=%zz', 10)['a'], '%zz')
  assert.equal(parseQuery('a=%ff', 10)['a'], '\ufffd')
  for (const text of ['a=10%', 'a=%zz', '%zz=a', 'a=%ff']) {
    assert.throws(
      () => parseForm(text, 10),
      (error) => error instanceof HTTPError && error.code === 'E_BODY_MALFORMED',
    )
  }
})
