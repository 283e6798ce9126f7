import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRequire } from 'node:module'
import { Type } from 'typebox'
import * as z from 'zod'
import { formats } from '../src/schema/keywords.ts'
import { standardOf, type SchemaUse } from '../src/schema/standard.ts'

type Outcome = { value: unknown } | { issues: { message: string; path: string[] }[] }

const run = (schema: unknown, value: unknown, use: SchemaUse = 'body'): Outcome =>
  standardOf(schema, 'test', use).validate(value) as Outcome

const told = (schema: unknown, value: unknown, use: SchemaUse = 'body'): string[] => {
  const outcome = run(schema, value, use)
  assert.ok('issues' in outcome, `${JSON.stringify(value)} passed`)
  return outcome.issues.map(({ path, message }) => `/${path.join('/')} ${message}`)
}

const passes = (schema: unknown, value: unknown): boolean => 'value' in run(schema, value)

/** Of one property of a query. */
const asText = (property: unknown, value: unknown): unknown => {
  const outcome = run({ type: 'object', properties: { a: property } }, { a: value }, 'text')
  return 'value' in outcome ? (outcome.value as { a: unknown }).a : outcome.issues[0]?.message
}

test('a Standard Schema is its own', () => {
  const schema = z.string()
  assert.equal(standardOf(schema, 'test', 'response'), schema['~standard'])
  const other = { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } }
  assert.equal(standardOf(other, 'test'), other['~standard'])
})

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

test('all that is wrong is told, each in one issue and without the value', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2 },
      'a/b~c': { type: 'number' },
      role: { enum: ['admin', 'user'] },
      kind: { const: 1 },
      nullable: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      literals: { anyOf: [{ const: 'x' }, { const: 'y' }, { type: 'integer' }] },
      shape: {
        oneOf: [
          {
            type: 'object',
            properties: { t: { const: 'circle' }, r: { type: 'number' } },
            required: ['t', 'r'],
          },
          {
            type: 'object',
            properties: { t: { const: 'square' }, a: { type: 'number' } },
            required: ['t', 'a'],
          },
        ],
      },
      open: { anyOf: [{ required: ['x'] }, { required: ['y'] }] },
      list: { type: 'array', uniqueItems: true, contains: { type: 'string' } },
      price: { multipleOf: 0.01 },
      mail: { format: 'email' },
      never: false,
      not: { not: { type: 'string' } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword
      if: { if: { type: 'string' }, then: { minLength: 3 } },
      map: { propertyNames: { pattern: '^[a-z]+$' } },
    },
    required: ['id'],
    additionalProperties: false,
    dependentRequired: { name: ['surname'] },
  }
  const given = {
    name: 'N',
    'a/b~c': 'SECRET',
    role: 'SECRET',
    kind: 2,
    nullable: 4,
    literals: 'SECRET',
    shape: { t: 'circle', r: 'SECRET' },
    open: {},
    list: [1, 1],
    price: 0.015,
    mail: 'SECRET',
    never: 1,
    not: 'SECRET',
    if: 'no',
    map: { 'A B': 1 },
    more: 'SECRET',
  }
  const issues = told(schema, given)
  assert.deepEqual(issues.sort(), [
    '/a/b~c must be number',
    '/id is required',
    '/if must NOT have fewer than 3 characters',
    '/kind must be 1',
    '/list must contain at least 1 valid item(s)',
    '/list must not have the same item twice',
    '/literals must be "x", "y" or integer',
    '/mail must match format "email"',
    '/map/A B has a name that is not allowed',
    '/more is not declared',
    '/name must NOT have fewer than 2 characters',
    '/never must not be there',
    '/not must not be what its schema excludes',
    '/nullable must be string or null',
    '/open must be one of its alternatives',
    '/price must be multiple of 0.01',
    '/role must be "admin" or "user"',
    '/shape/r must be number',
    '/surname is required beside "name"',
  ])
  assert.ok(!issues.join().includes('SECRET'))
  assert.deepEqual(told({ oneOf: [{ type: 'number' }, { minimum: 1 }] }, 2), [
    '/ must be only one of its alternatives',
  ])
  assert.ok(passes({ multipleOf: 0.01 }, 19.99))
})

test('alternatives that are referred to', () => {
  const schema = {
    type: 'object',
    properties: {
      shape: { anyOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/square' }] },
      n: { type: 'number' },
    },
    $defs: {
      circle: { type: 'object', properties: { t: { const: 'circle' }, at: { $ref: '#/$defs/point' } } },
      square: { type: 'object', properties: { t: { const: 'square' }, at: { $ref: '#/$defs/point' } } },
      point: { type: 'object', properties: { x: { type: 'number' } } },
    },
  }
  assert.deepEqual(told(schema, { shape: { t: 'square' }, n: 'x' }), ['/n must be number'])
  assert.deepEqual(told(schema, { n: 'x', shape: 4 }).sort(), ['/n must be number', '/shape must be object'])
  assert.deepEqual(told(schema, { n: 'x', shape: { t: 'line' } }).sort(), [
    '/n must be number',
    '/shape must be one of its alternatives',
  ])
})

test('properties that every object inherits are none', () => {
  const schema = { type: 'object', properties: { constructor: { type: 'string' } }, required: ['toString'] }
  assert.deepEqual(told(schema, {}), ['/toString is required'])
  assert.ok(passes(schema, { toString: 1 }))
  assert.deepEqual(told(schema, { toString: 1, constructor: 2 }), ['/constructor must be string'])
})

test('every draft is read', () => {
  const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false }
  assert.deepEqual(told(tuple, [1, 2]).sort(), ['/ must NOT have more than 1 items', '/0 must be string'])
  const seven = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'http://example.com/root.json',
    definitions: {
      name: { $id: '#name', type: 'string' },
      item: {
        $id: 'item.json',
        type: 'object',
        properties: { deep: { $ref: '#/definitions/n' } },
        definitions: { n: { type: 'number' } },
      },
    },
    type: 'object',
    properties: {
      a: { $ref: '#name' },
      b: { $ref: 'item.json' },
      c: { $ref: 'http://example.com/item.json#/definitions/n' },
      d: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
      e: { $ref: '#/properties/d/items/1' },
    },
    dependencies: { a: ['b'], c: { required: ['a'] } },
  }
  assert.deepEqual(told(seven, { a: 1, c: 'x', d: [1, 'x'], e: 'x', b: { deep: 'x' } }).sort(), [
    '/a must be string',
    '/b/deep must be number',
    '/c must be number',
    '/d/0 must be string',
    '/d/1 must be number',
    '/e must be number',
  ])
  assert.deepEqual(told(seven, { a: 'x' }), ['/b is required beside "a"'])
  assert.ok(passes({ type: 'string', nullable: true }, null))
  const anchored = { $defs: { x: { $anchor: 'here', type: 'string' } }, $ref: '#here' }
  assert.deepEqual(told(anchored, 1), ['/ must be string'])
  const tree = { $id: 'tree', type: 'object', properties: { next: { $ref: 'tree' }, n: { type: 'number' } } }
  assert.deepEqual(told(tree, { next: { next: { n: 'x' } } }), ['/next/next/n must be number'])
  // Two schemas may have one $id.
  assert.ok(passes({ $id: 'tree', type: 'string' }, 'x'))
})

test('TypeBox', () => {
  const Node = Type.Cyclic(
    { Node: Type.Object({ next: Type.Optional(Type.Ref('Node')), n: Type.Number() }) },
    'Node',
  )
  assert.ok(passes(Node, { n: 1, next: { n: 2 } }))
  assert.deepEqual(told(Node, { n: 1, next: { n: 'x' } }), ['/next/n must be number'])
  const all = Type.Object({
    pair: Type.Tuple([Type.String(), Type.Number()]),
    map: Type.Record(Type.String(), Type.Integer()),
    role: Type.Union([Type.Literal('a'), Type.Null()]),
    both: Type.Intersect([Type.Object({ x: Type.String() }), Type.Object({ y: Type.String() })]),
    like: Type.String({ pattern: /^[a-z]+$/ }),
  })
  assert.ok(passes(all, { pair: ['a', 1], map: { k: 1 }, role: null, both: { x: '', y: '' }, like: 'a' }))
  assert.deepEqual(
    told(all, { pair: ['a'], map: { k: 'x' }, role: 'b', both: { x: '' }, like: '1' }).sort(),
    [
      '/both/y is required',
      '/like must match pattern "^[a-z]+$"',
      '/map/k must be integer',
      '/pair must NOT have fewer than 2 items',
      '/role must be "a" or null',
    ],
  )
})

test('mistakes in a schema are told with their place, when it is registered', () => {
  class Thing {
    type = 'object'
  }
  const cyclic: Record<string, unknown> = { type: 'object' }
  cyclic.properties = { self: cyclic }
  assert.ok(passes(Type.Unknown(), 1))
  const table: [schema: unknown, message: RegExp][] = [
    [undefined, /test takes a schema with '~standard'.*not undefined/],
    [null, /not null/],
    ['object', /not string/],
    [() => true, /not function/],
    [new Thing(), /not an object with type/],
    [{}, /not an object with no keys/],
    [{ kind: 'object' }, /not an object with kind/],
    [{ name: z.string() }, /not an object with name/],
    [{ '~standard': {} }, /takes a schema/],
    [{ type: 'strin' }, /#\/type takes one or more of object, .*, not "strin"/],
    [{ type: 'object', properties: { a: { type: 'date' } } }, /#\/properties\/a\/type takes/],
    [{ type: 'object', properties: { a: z.string() } }, /#\/properties\/a is of another library/],
    [{ type: 'object', properties: { a: 'string' } }, /#\/properties\/a takes a schema, not "string"/],
    [{ type: 'object', properties: [] }, /#\/properties takes schemas by name, not an empty array/],
    [{ type: 'object', required: true }, /#\/required takes an array of texts, not true/],
    [{ type: 'object', requried: ['a'] }, /#\/requried is no keyword.*did you mean "required"/],
    [{ type: 'string', minlength: 1 }, /did you mean "minLength"/],
    [{ type: 'string', minLength: -1 }, /#\/minLength takes a whole number from 0, not -1/],
    [{ exclusiveMinimum: true, minimum: 1 }, /#\/exclusiveMinimum takes a number, not true/],
    [{ multipleOf: 0 }, /#\/multipleOf takes a number over 0/],
    [{ type: 'string', pattern: '(' }, /#\/pattern takes a regular expression/],
    [{ type: 'string', pattern: /a/i }, /#\/pattern has flags/],
    [{ patternProperties: { '(': {} } }, /#\/patternProperties\/\( is no regular expression/],
    [{ type: 'string', format: 'e-mail' }, /#\/format takes one of .*, not "e-mail"/],
    [{ enum: [] }, /#\/enum takes an array of values/],
    [{ anyOf: [] }, /#\/anyOf takes an array of schemas/],
    [{ const: 1n }, /#\/const takes JSON, not 1n/],
    [{ $ref: '#/$defs/none' }, /#\/\$ref leads nowhere, and nothing is loaded: "#\/\$defs\/none"/],
    [{ properties: { a: { $ref: 'http://127.0.0.1:1/x.json' } } }, /#\/properties\/a\/\$ref leads nowhere/],
    [{ $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, /#\/\$schema is draft 2020-12/],
    [{ $schema: 'https://example.com/own', type: 'object' }, /#\/\$schema/],
    [cyclic, /#\/properties\/self contains itself/],
    [JSON.parse('{"properties":{"__proto__":{}}}'), /#\/properties has a key __proto__/],
    [Type.BigInt(), /#\/type takes/],
    [Type.Refine(Type.String(), () => false), /has a refinement or a codec of TypeBox/],
    [Type.Codec(Type.String()).Decode(Number).Encode(String), /has a refinement or a codec of TypeBox/],
  ]
  for (const [schema, message] of table) {
    assert.throws(() => standardOf(schema, 'test'), { code: 'E_BAD_SCHEMA', message }, String(message))
  }
  // What others put beside keywords is theirs.
  assert.ok(
    passes({ type: 'string', example: 'x', 'x-own': { a: 1 }, xml: {}, order: 1, markdown: () => 1 }, 'a'),
  )
})

test('what was registered stays as it was', () => {
  const schema: { type: string } = { type: 'string' }
  const standard = standardOf(schema, 'test')
  schema.type = 'number'
  assert.deepEqual(standard.validate('x'), { value: 'x' })
})

test('the formats are those of ajv-formats', () => {
  const { fullFormats } = createRequire(import.meta.url)('ajv-formats/dist/formats.js') as {
    fullFormats: Record<string, unknown>
  }
  assert.deepEqual(formats, Object.keys(fullFormats))
  assert.ok(passes({ format: 'url' }, 'https://example.com/a'))
  assert.ok(!passes({ format: 'url' }, 'nope'))
})

test('a large or recursive value does not choose how long it takes', () => {
  /** Gives the milliseconds of processor time. */
  const timed = (schema: unknown, value: unknown): number => {
    run(schema, Array.isArray(value) ? [] : {})
    const start = process.cpuUsage().user
    const outcome = run(schema, value)
    const took = (process.cpuUsage().user - start) / 1_000
    assert.ok('value' in outcome || outcome.issues.length < 2_000)
    return took
  }
  const objects = Array.from({ length: 60_000 }, (_, at) => ({ id: at }))
  const numbers = { type: 'array', items: { type: 'number' } }
  assert.ok(
    timed(
      numbers,
      Array.from({ length: 500_000 }, () => 'x'),
    ) < 1_000,
  )
  assert.ok(timed({ type: 'array', uniqueItems: true }, objects) < 8_000)
  for (const format of formats) {
    for (const text of ['http://[' + ':a@'.repeat(300_000), 'a'.repeat(1_000_000), '1'.repeat(1_000_000)]) {
      assert.ok(
        timed({ type: 'object', properties: { a: { type: 'string', format } } }, { a: text }) < 5_000,
        format,
      )
    }
  }
  // Both alternatives fail at each level: to look for all faults would take 2^60 steps.
  const branch = (name: string) => ({
    type: 'object',
    properties: { t: { const: name }, next: { $ref: '#/$defs/node' } },
    required: ['t'],
  })
  const tree = { $ref: '#/$defs/node', $defs: { node: { anyOf: [branch('a'), branch('b')] } } }
  let deep: unknown = {}
  for (let level = 0; level < 60; level++) deep = { t: level % 2 === 0 ? 'a' : 'b', next: deep }
  assert.ok(timed(tree, deep) < 5_000)
  assert.ok(
    told(
      { type: 'object', additionalProperties: { type: 'number' } },
      Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`k${at}`, 'x'])),
    ).length === 250,
  )
})
