import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeMade } from '../src/schema/normalize.ts'
import * as normal from '../src/schema/strip/strip.ts'

type Schema = Parameters<typeof normal.strip>[1]

const known = new WeakMap<Schema, Schema>()

function normalOf(schema: Schema): Schema {
  const made = known.get(schema) ?? normalizeMade(schema)
  known.set(schema, made)
  return made
}

const strip = (value: unknown, schema: Schema) => normal.strip(value, normalOf(schema))
const undeclared = (value: unknown, schema: Schema) => normal.undeclared(value, normalOf(schema))

const user = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' } },
  required: ['id'],
}

function firstOf(value: unknown, schema: Schema): string | null {
  return undeclared(value, schema)?.pointers[0] ?? null
}

/** What is left of a value, and the place of the first property that is not: null if all is left. */
const cases: [title: string, schema: Schema, value: unknown, left: unknown, at: string | null][] = [
  ['all declared', user, { id: 1, name: 'Ada' }, { id: 1, name: 'Ada' }, null],
  ['one too many', user, { id: 1, hash: 'x', name: 'Ada' }, { id: 1, name: 'Ada' }, '/hash'],
  ['no properties at all', {}, { a: { b: 1 } }, { a: { b: 1 } }, null],
  ['any object', { type: 'object' }, { a: 1 }, { a: 1 }, null],
  ['an object without properties', { type: 'object', properties: {} }, { a: 1 }, {}, '/a'],
  ['nothing but a refusal', { additionalProperties: false }, { a: 1 }, {}, '/a'],
  ['rest of any kind', { ...user, additionalProperties: true }, { id: 1, a: 1 }, { id: 1, a: 1 }, null],
  [
    'rest with a schema',
    { ...user, additionalProperties: user },
    { id: 1, a: { id: 2, b: 3 } },
    { id: 1, a: { id: 2 } },
    '/a/b',
  ],
  [
    'a record',
    { additionalProperties: user },
    { x: { id: 1 }, y: { id: 2, z: 3 } },
    { x: { id: 1 }, y: { id: 2 } },
    '/y/z',
  ],
  [
    'what depends on a property that is there',
    { properties: { card: {} }, dependentSchemas: { card: { properties: { holder: {} } } } },
    { card: 1, holder: 'x', more: 1 },
    { card: 1, holder: 'x' },
    '/more',
  ],
  [
    'what depends on a property that is not there',
    { properties: { card: {} }, dependentSchemas: { card: { properties: { holder: {} } } } },
    { holder: 'x' },
    {},
    '/holder',
  ],
  [
    'what depends on one of two properties',
    {
      properties: { a: {}, b: {} },
      dependentSchemas: { a: { properties: { x: {} } }, b: { properties: { y: {} } } },
    },
    { b: 1, x: 1, y: 1 },
    { b: 1, y: 1 },
    '/x',
  ],
  ['unevaluated properties', { ...user, unevaluatedProperties: false }, { id: 1, a: 1 }, { id: 1 }, '/a'],
  [
    'unevaluated properties let through',
    { ...user, unevaluatedProperties: {} },
    { id: 1, a: 1 },
    { id: 1, a: 1 },
    null,
  ],
  [
    'patterns',
    { patternProperties: { '^x-': user, '^n': {} } },
    { 'x-a': { id: 1, q: 1 }, n: { any: 1 }, other: 1 },
    { 'x-a': { id: 1 }, n: { any: 1 } },
    '/x-a/q',
  ],
  ['a pattern that is none', { patternProperties: { '(': {} } }, { a: 1 }, {}, '/a'],
  [
    'deeper',
    { properties: { a: { properties: { b: user } } } },
    { a: { b: { c: 1 } } },
    { a: { b: {} } },
    '/a/b/c',
  ],
  ['items', { type: 'array', items: user }, [{ id: 1 }, { id: 2, x: 3 }], [{ id: 1 }, { id: 2 }], '/1/x'],
  [
    'first items and the rest',
    { prefixItems: [user, {}], items: { properties: {} } },
    [{ id: 1, x: 1 }, { x: 1 }, { x: 1 }, { x: 1 }],
    [{ id: 1 }, { x: 1 }, {}, {}],
    '/0/x',
  ],
  ['first items only', { prefixItems: [user] }, [{ id: 1 }, { x: 1 }], [{ id: 1 }, { x: 1 }], null],
  [
    'items as draft 7 has them',
    { items: [user], additionalItems: user },
    [{ id: 1 }, { x: 1 }],
    [{ id: 1 }, {}],
    '/1/x',
  ],
  ['references', { $ref: '#/$defs/user', $defs: { user } }, { id: 1, x: 1 }, { id: 1 }, '/x'],
  [
    'a reference beside properties',
    { $ref: '#/$defs/user', properties: { age: {} }, $defs: { user } },
    { id: 1, age: 2, x: 1 },
    { age: 2, id: 1 },
    '/x',
  ],
  [
    'names of schemas',
    {
      $ref: '#user',
      $defs: { a: { $anchor: 'user', properties: { b: { $ref: 'urn:b' } } }, b: { $id: 'urn:b', ...user } },
    },
    { b: { id: 1, x: 1 }, y: 1 },
    { b: { id: 1 } },
    '/b/x',
  ],
  [
    'a pointer with escapes',
    { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': user } },
    { id: 1, x: 1 },
    { id: 1 },
    '/x',
  ],
  [
    'a reference that leads nowhere says nothing',
    { $ref: 'https://elsewhere.invalid/user.json' },
    { a: 1 },
    { a: 1 },
    null,
  ],
  [
    'a schema within itself',
    { properties: { v: {}, next: { $ref: '#' } } },
    { v: 1, next: { v: 2, next: { v: 3, w: 4 } } },
    { v: 1, next: { v: 2, next: { v: 3 } } },
    '/next/next/w',
  ],
  ['a reference to itself', { $ref: '#' }, { a: 1 }, { a: 1 }, null],
  [
    'a branch that is the schema itself',
    { anyOf: [{ $ref: '#' }, { properties: { a: {} } }] },
    { a: 1, b: 2 },
    { a: 1, b: 2 },
    null,
  ],
  [
    'all of',
    { allOf: [user, { properties: { age: {} }, additionalProperties: false }, { required: ['age'] }] },
    { id: 1, age: 2, x: 3 },
    { id: 1, age: 2 },
    '/x',
  ],
  [
    'all of, within one property',
    {
      allOf: [
        { properties: { p: { properties: { a: {} } } } },
        { properties: { p: { properties: { b: {} } } } },
      ],
    },
    { p: { a: 1, b: 2, c: 3 } },
    { p: { a: 1, b: 2 } },
    '/p/c',
  ],
  [
    'branches told apart by a constant',
    {
      oneOf: [
        { properties: { kind: { const: 'cat' }, lives: {} } },
        { properties: { kind: { const: 'dog' }, tricks: {} } },
      ],
    },
    { kind: 'dog', lives: 9, tricks: [] },
    { kind: 'dog', tricks: [] },
    '/lives',
  ],
  [
    'branches told apart by a constant that each requires',
    {
      anyOf: [
        { properties: { kind: { const: 'cat' }, lives: {} }, required: ['kind'] },
        { $ref: '#/$defs/dog' },
        { type: 'null' },
      ],
      $defs: {
        dog: {
          allOf: [{ properties: { kind: { enum: ['dog'] } } }, { required: ['kind'] }],
          oneOf: [
            { properties: { size: { const: 1 }, a: {} }, required: ['size'] },
            { properties: { size: { const: 2 }, b: {} }, required: ['size'] },
          ],
        },
      },
    },
    { kind: 'dog', size: 2, lives: 9, a: 1, b: 2 },
    { kind: 'dog', size: 2, b: 2 },
    '/lives',
  ],
  [
    'a constant that no branch has',
    {
      anyOf: [1, 2].map((kind) => ({
        properties: { kind: { const: kind }, [`of${kind}`]: {} },
        required: ['kind'],
      })),
    },
    { kind: 3, of1: 1, of2: 2, of3: 3 },
    { kind: 3, of1: 1, of2: 2 },
    '/of3',
  ],
  [
    'branches told apart by what is required',
    { anyOf: [{ ...user }, { properties: { error: {}, id: {} }, required: ['error'] }] },
    { id: 1, error: 'x' },
    { id: 1, error: 'x' },
    null,
  ],
  ['a branch that lets all through', { anyOf: [user, {}] }, { id: 1, x: 1 }, { id: 1, x: 1 }, null],
  ['a branch of another type', { anyOf: [user, { type: 'null' }] }, { id: 1, x: 1 }, { id: 1 }, '/x'],
  [
    'no branch that fits',
    { anyOf: [{ ...user, type: 'string' }, { type: 'null' }] },
    { x: 1 },
    { x: 1 },
    null,
  ],
  [
    'branches that only require',
    { ...user, anyOf: [{ required: ['id'] }, { required: ['name'] }] },
    { id: 1, x: 1 },
    { id: 1 },
    '/x',
  ],
  [
    'branches in branches',
    {
      anyOf: [
        { anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: {} }, required: ['b'] }] },
        { type: 'null' },
      ],
    },
    { a: 1, b: 2 },
    { b: 2 },
    '/a',
  ],
  [
    'one property in two branches',
    { anyOf: [{ properties: { p: {} } }, { properties: { p: { properties: { a: {} } } } }] },
    { p: { a: 1, b: 2 } },
    { p: { a: 1, b: 2 } },
    null,
  ],
  [
    'items in branches',
    {
      items: {
        anyOf: [
          { properties: { a: { type: 'number' } } },
          { properties: { b: { type: 'number' } }, required: ['b'] },
        ],
      },
    },
    [
      { a: 1, x: 1 },
      { b: 1, x: 1 },
    ],
    [{ a: 1 }, { b: 1 }],
    '/0/x',
  ],
  [
    'if, then and else',
    {
      properties: { a: {} },
      if: { properties: { a: { const: 1 } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword
      then: { properties: { b: {} }, required: ['b'] },
      else: { properties: { c: {} }, required: ['c'] },
    },
    { a: 1, b: 2, x: 3 },
    { a: 1, b: 2 },
    '/x',
  ],
  [
    'dependent schemas',
    { properties: { a: {} }, dependentSchemas: { a: { properties: { b: {} } } } },
    { a: 1, b: 2, c: 3 },
    { a: 1, b: 2 },
    '/c',
  ],
  ['a nullable object', { ...user, type: ['object', 'null'] }, null, null, null],
  ['what JSON leaves out', user, { id: 1, f() {}, u: undefined, [Symbol('s')]: 1 }, { id: 1 }, null],
  ['a place with escapes', user, { 'a/b~c': 1 }, {}, '/a~1b~0c'],
  ['scalars', { type: 'string' }, 'text', 'text', null],
]

for (const [title, schema, value, left, at] of cases) {
  test(`undeclared properties: ${title}`, () => {
    const before = JSON.stringify(value)
    assert.equal(firstOf(value, schema), at)
    assert.equal(JSON.stringify(strip(value, schema)), JSON.stringify(left))
    assert.equal(JSON.stringify(value), before, 'the value itself is as it was')
  })
}

test('a value that loses nothing is not copied', () => {
  const value = { id: 1, name: 'Ada' }
  assert.equal(strip(value, user), value)
  const list = [value, value]
  assert.equal(strip(list, { items: user }), list)
})

test('a property named __proto__ never passes where properties are described', () => {
  const hostile = JSON.parse('{"id":1,"__proto__":{"admin":true}}') as unknown
  for (const schema of [
    user,
    { ...user, additionalProperties: { type: 'object' } },
    JSON.parse('{"properties":{"id":{},"__proto__":{}}}') as Schema,
    { patternProperties: { '': {} } },
  ]) {
    const left = strip(hostile, schema) as object
    assert.equal(JSON.stringify(left), '{"id":1}')
    assert.equal(Object.getPrototypeOf(left), Object.prototype)
    assert.equal(firstOf(hostile, schema), '/__proto__')
  }
})

test('what toJSON makes is held to the schema', () => {
  class User {
    id = 1
    hash = 'secret'
    toJSON(key: string) {
      return { id: this.id, hash: this.hash, key }
    }
  }
  const schema = { properties: { user } }
  assert.deepEqual(strip({ user: new User() }, schema), { user: { id: 1 } })
  assert.equal(firstOf({ user: new User() }, schema), '/user/hash')
  const dated = { properties: { at: { type: 'string', format: 'date-time' } } }
  const at = new Date(0)
  assert.equal((strip({ at, x: 1 }, dated) as { at: unknown }).at, at)
  assert.equal(JSON.stringify(strip({ user: at }, schema)), '{"user":"1970-01-01T00:00:00.000Z"}')
})

test('what toJSON makes is not asked for its own toJSON', () => {
  const inner = { id: 1, toJSON: () => ({ id: 2, hash: 'secret' }) }
  const model = { toJSON: () => inner }
  assert.equal(JSON.stringify(model), '{"id":1}')
  for (const schema of [user, { type: 'object', properties: {}, additionalProperties: true }]) {
    assert.equal(JSON.stringify(strip(model, schema)), '{"id":1}')
    assert.equal(JSON.stringify(strip([model], { items: schema })), '[{"id":1}]')
  }
})

test('properties are written in the order of the schema, those it does not name last', () => {
  const schema = {
    properties: { b: {}, a: { properties: { d: {}, c: {} } } },
    patternProperties: { '^x': {} },
  }
  const value = { x2: 1, a: { c: 1, d: 2, q: 0 }, x1: 2, b: 3, z: 4 }
  assert.equal(JSON.stringify(strip(value, schema)), '{"b":3,"a":{"d":2,"c":1},"x2":1,"x1":2}')
  assert.equal(JSON.stringify(strip({ a: { d: 1 }, b: 2 }, schema)), '{"b":2,"a":{"d":1}}')
})

test('properties of a prototype are not written, and so not undeclared', () => {
  class Row {
    id = 1
    get secret() {
      return 'x'
    }
  }
  assert.equal(firstOf(new Row(), user), null)
  assert.equal(JSON.stringify(strip(new Row(), user)), '{"id":1}')
})

test('cycles end, however many ways there are through them', () => {
  const node = { properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } } }
  const all: Record<string, unknown>[] = Array.from({ length: 40 }, () => ({}))
  for (const [at, each] of all.entries()) {
    each.a = all[(at + 1) % 40]
    each.b = all[(at + 7) % 40]
    each.c = all[(at + 13) % 40]
  }
  assert.throws(() => strip(all[0], node), TypeError)
  assert.equal(firstOf(all[0], node), null)
  const user: Record<string, unknown> = { name: 'Ada' }
  user.posts = [{ author: user, title: 'One' }]
  const author = { properties: { author: { properties: { name: {} } } } }
  const finite = { properties: { name: {}, posts: { items: author } } }
  assert.deepEqual(strip(user, finite), { name: 'Ada', posts: [{ author: { name: 'Ada' } }] })
  assert.equal(firstOf(user, finite), '/posts/0/author/posts')
  const shared = { a: {}, x: 1 }
  assert.deepEqual(strip({ a: shared, b: shared }, node), { a: { a: {} }, b: { a: {} } })
})

test('an object that is used again where all may be is no cycle, and what comes after it is looked at', () => {
  const schema = { properties: { a: { properties: { open: {} } }, b: {}, c: {} } }
  const open = { anyOf: [{ type: 'object', properties: { x: {} } }, { type: 'object' }] }
  const shared = { y: 1 }
  const value = { list: [shared, shared], user: { id: 1, password: 'x' } }
  const listed = { properties: { list: { items: open }, user: { properties: { id: {} } } } }
  assert.equal(firstOf(value, listed), '/user/password')
  assert.equal(firstOf({ a: shared, b: shared }, schema), '/a/y')
  const many = Array.from({ length: 80_000 }, (_, y) => ({ y }))
  const start = performance.now()
  assert.equal(firstOf(many, { items: open }), null)
  assert.ok(performance.now() - start < 20_000)
})

test('unions within unions, and many of them, cost a bounded amount', () => {
  const node = {
    anyOf: [
      { properties: { next: { $ref: '#' }, a: { type: 'string' } } },
      { properties: { next: { $ref: '#' }, a: {}, b: { type: 'string' } } },
    ],
  }
  // Each level fits the second branch alone, and tells so last.
  let value: object = { a: 1, secret: 1 }
  for (let depth = 0; depth < 300; depth++) value = { next: value, a: 1, b: 'x' }
  assert.equal(firstOf(value, node), `${'/next'.repeat(300)}/secret`)
  const groups = Array.from({ length: 40 }, (_, at) => ({
    anyOf: [{ properties: { [`a${at}`]: {} } }, { properties: { [`b${at}`]: {} } }],
  }))
  assert.deepEqual(strip({ a0: 1, b39: 2, c: 3 }, { allOf: groups }), { a0: 1, b39: 2 })
})

test('all of them are named, those that items have in common once, and ten at most', () => {
  const row = { id: 1, hash: 'x', salt: 'y' }
  assert.deepEqual(undeclared([{ id: 1 }, row, { ...row, pin: 1 }, row], { items: user }), {
    pointers: ['/1/hash', '/1/salt', '/2/pin'],
    more: 0,
  })
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`n${at}`, at]))
  const found = undeclared({ id: 1, ...many }, user)
  assert.deepEqual(
    found?.pointers,
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => `/n${at}`),
  )
  assert.equal(found.more, 2)
  const rows = Array.from({ length: 3 }, () => ({ id: 1, ...many }))
  assert.equal(undeclared(rows, { items: user })?.more, 6)
  const cycle: Record<string, unknown> = { id: 1, extra: 1 }
  cycle['self'] = cycle
  const node = { properties: { id: {}, self: { $ref: '#' } } }
  assert.equal(firstOf(cycle, node), '/extra')
})
