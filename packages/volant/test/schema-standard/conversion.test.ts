import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { run, told } from './kit.ts'

/** Of one property of a query. */
const asText = (property: unknown, value: unknown): unknown => {
  const outcome = run({ type: 'object', properties: { a: property } }, { a: value }, 'text')
  return 'value' in outcome ? (outcome.value as { a: unknown }).a : outcome.issues[0]?.message
}

test('text becomes what the schema asks for, by its spelling in JSON', () => {
  const table: [property: unknown, text: unknown, expected: unknown][] = [
    [{ type: 'number' }, '1', 1],
    [{ type: 'number' }, '-1.5', -1.5],
    [{ type: 'number' }, '1e3', 1000],
    [{ type: 'number' }, '0', 0],
    [{ type: 'integer' }, '5.0', 5],
    [{ type: 'integer' }, '9007199254740991', 9007199254740991],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'boolean' }, 'false', false],
    [{ type: 'null' }, '', null],
    [{ type: 'string' }, '1', '1'],
    [Type.Unknown(), '1', '1'],
    [{ type: ['integer', 'string'] }, '1', 1],
    [{ type: ['integer', 'string'] }, 'x', 'x'],
    [{ type: ['string', 'integer'] }, '1', '1'],
    [{ anyOf: [{ type: 'integer' }, { const: 'all' }] }, 'all', 'all'],
    [{ anyOf: [{ type: 'integer' }, { const: 'all' }] }, '7', 7],
    [{ enum: [1, 'two', true, null] }, '1', 1],
    [{ enum: [1, 'two', true, null] }, 'two', 'two'],
    [{ enum: [1, 'two', true, null] }, 'true', true],
    [{ enum: [1, 'two', true, null] }, '', null],
    [{ type: 'array', items: { type: 'integer' } }, '1', [1]],
    [{ type: 'array', items: { type: 'integer' } }, ['1', '2'], [1, 2]],
    [{ type: 'array' }, ['1'], ['1']],
    [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'boolean' } }] }, 'true', 'true'],
    [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'boolean' } }] }, ['true'], [true]],
    [{ allOf: [{ type: 'integer' }, { minimum: 2 }] }, '2', 2],
  ]
  for (const [property, text, expected] of table) {
    assert.deepEqual(asText(property, text), expected, `${JSON.stringify(property)} ${String(text)}`)
  }
  for (const text of [
    '',
    ' 1',
    '1 ',
    '+1',
    '01',
    '0x10',
    '1_0',
    '.5',
    '5.',
    'NaN',
    'Infinity',
    '1n',
    '١',
    '1,5',
  ]) {
    assert.equal(asText({ type: 'number' }, text), 'must be number', text)
  }
  // Past what a number can hold: another one, or none.
  assert.equal(asText({ type: 'integer' }, '9007199254740993'), 'must be integer')
  assert.equal(asText({ type: 'number' }, '1e999'), 'must be number')
  for (const text of ['', '0', '1', 'TRUE', 'yes', 'on']) {
    assert.equal(asText({ type: 'boolean' }, text), 'must be boolean', text)
  }
  assert.equal(asText({ type: 'string' }, ['a', 'b']), 'must be string')
})

test('text of names that are not declared one by one', () => {
  const pairs = Object.assign(Object.create(null) as object, {
    n: '1',
    x1: '2',
    other: 'true',
    __proto__: null,
  })
  const outcome = run(
    {
      $ref: '#/$defs/pairs',
      $defs: {
        pairs: {
          type: 'object',
          properties: { n: { $ref: '#/$defs/n' } },
          patternProperties: { '^x': { type: 'integer' } },
          additionalProperties: { type: 'boolean' },
        },
        n: { type: 'integer' },
      },
    },
    pairs,
    'text',
  )
  assert.deepEqual({ ...(outcome as { value: object }).value }, { n: 1, x1: 2, other: true })
})

test('__proto__ in a query is a name like others, and no prototype', () => {
  const pairs = Object.create(null) as Record<string, unknown>
  Object.defineProperty(pairs, '__proto__', { value: '7', enumerable: true })
  const outcome = run({ type: 'object', additionalProperties: { type: 'integer' } }, pairs, 'text')
  const { value } = outcome as { value: Record<string, unknown> }
  assert.deepEqual(Object.entries(value), [['__proto__', 7]])
  assert.deepEqual(told({ type: 'object', additionalProperties: false }, pairs, 'text'), [
    '/__proto__ is not declared',
  ])
})

test('a body is not converted', () => {
  assert.deepEqual(told({ type: 'object', properties: { a: { type: 'number' } } }, { a: '1' }), [
    '/a must be number',
  ])
  assert.deepEqual(told({ type: 'array' }, 'x'), ['/ must be array'])
})

test('defaults are put into a copy, and not into what a handler gave', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'integer', default: 5 },
      b: { type: 'object', properties: { c: { type: 'array', default: [] } }, required: ['c'] },
    },
    required: ['a'],
  }
  const given = Object.freeze({ b: Object.freeze({}) })
  assert.deepEqual(run(schema, given), { value: { a: 5, b: { c: [] } } })
  const [first, second] = [run(schema, given), run(schema, given)] as { value: { b: { c: unknown[] } } }[]
  first?.value.b.c.push(1)
  assert.deepEqual(second?.value.b.c, [])
  assert.deepEqual(told(schema, given, 'response'), ['/a is required', '/b/c is required'])
  const full = { a: 1, b: { c: [] } }
  assert.equal((run(schema, full, 'response') as { value: unknown }).value, full)
})
