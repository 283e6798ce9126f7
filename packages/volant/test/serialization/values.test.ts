import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serializerFor } from '../../src/schema/strip/serializer.ts'
import { strip } from '../../src/schema/strip/strip.ts'
import { type Schema, textsOf } from './texts.ts'

const holder = { type: 'object', properties: { v: {}, list: { items: { properties: { v: {} } } } } }
const cycle: Record<string, unknown> = {}
cycle.v = cycle
const sparse: unknown[] = []
sparse[2] = 1

/** A value under a schema that declares `v`, and its text. */
const defined: [title: string, value: unknown, text: string][] = [
  ['Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['Date that is none', new Date(NaN), 'null'],
  ['bigint', 1n, 'threw TypeError'],
  ['undefined', undefined, ''],
  ['a function', () => 1, ''],
  ['a symbol', Symbol('s'), ''],
  ['undefined, a function and a symbol in an array', [undefined, () => 1, Symbol('s')], '[null,null,null]'],
  ['a sparse array', sparse, '[null,null,1]'],
  ['NaN and the infinities', [NaN, Infinity, -Infinity], '[null,null,null]'],
  ['negative zero', [-0, -0.0], '[0,0]'],
  ['beyond 2^53', [2 ** 53, 2 ** 53 + 2, 1e21, 1e-7], '[9007199254740992,9007199254740994,1e+21,1e-7]'],
  ['lone surrogates', ['\ud800', 'a\udc00b', '\ud83d\ude00'], '["\\ud800","a\\udc00b","😀"]'],
  [
    'line separators and controls',
    '\u2028\u2029\n\t\u0000\u007f"\\/',
    '"\u2028\u2029\\n\\t\\u0000\u007f\\"\\\\/"',
  ],
  ['a cycle', cycle, 'threw TypeError'],
  ['boxed primitives', [Object('s'), Object(1), Object(false)], '["s",1,false]'],
  ['a Map', new Map([['a', 1]]), '{}'],
  ['bytes', Buffer.from('hi'), '{"type":"Buffer","data":[104,105]}'],
  ['null', null, 'null'],
]

for (const [title, value, text] of defined) {
  test(`both ways of writing JSON agree: ${title}`, () => {
    const whole = text === '' ? '{}' : text.startsWith('threw') ? text : `{"v":${text}}`
    assert.deepEqual(new Set(textsOf(holder, { v: value })), new Set([whole]))
    const listed = text.startsWith('threw') ? text : `{"list":[${whole}]}`
    assert.deepEqual(new Set(textsOf(holder, { list: [{ v: value }] })), new Set([listed]))
  })
}

test('values that are not what the schema says are written as they are', () => {
  for (const value of [undefined, null, 1, 'text', true, [1, 2], new Date(0), () => 1, Symbol('s'), 1n]) {
    assert.equal(new Set(textsOf(holder, value)).size, 1, String(value))
    assert.equal(new Set(textsOf(holder, { list: value })).size, 1, String(value))
  }
  const typed = {
    properties: {
      text: { type: 'string' },
      whole: { type: 'integer' },
      when: { type: 'string', format: 'date' },
      flag: { type: 'boolean', nullable: true },
      one: { const: 'x' },
      some: { enum: ['a', 'b'] },
    },
    required: ['text', 'whole'],
  }
  for (const value of [
    { text: 1, whole: 1.5, when: new Date(0), flag: 'yes', one: 'y', some: 'c' },
    { text: null, whole: null, when: null, flag: null, one: null, some: null },
    { whole: '7', flag: 0 },
    {},
  ]) {
    assert.deepEqual(new Set(textsOf(typed, value)), new Set([JSON.stringify(value)]))
  }
})

test('only own, enumerable properties of instances are written', () => {
  class Row {
    id = 1
    hash = 'x'
    get name() {
      return 'Ada'
    }
  }
  const schema = { properties: { id: {}, name: {}, constructor: {}, toString: {}, valueOf: {} } }
  const bare = Object.assign(Object.create(null) as object, { id: 1, hash: 'x' })
  for (const value of [new Row(), bare, { id: 1, hash: 'x' }]) {
    assert.equal(serializerFor(schema, { alreadyStripped: false })(value), '{"id":1}')
    assert.equal(JSON.stringify(strip(value, schema)), '{"id":1}')
  }
})

test('an own property __proto__ is not written, and pollutes nothing', () => {
  const schema = JSON.parse('{"properties":{"a":{},"__proto__":{"properties":{"b":{}}}}}') as Schema
  const value = JSON.parse('{"a":1,"__proto__":{"b":1}}') as object
  assert.deepEqual(new Set(textsOf(schema, value).slice(0, 2)), new Set(['{"a":1}']))
  assert.equal(({} as { b?: unknown }).b, undefined)
})
