/** Values that are more than JSON has: prototypes, toJSON, cycles, and very many of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstOf, type Schema, strip, undeclared, user } from './undeclared.ts'

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
  let looks = 0
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (...given) => (looks++, Reflect.get(...given) as unknown),
      ownKeys: (own) => (looks++, Reflect.ownKeys(own)),
      getOwnPropertyDescriptor: (own, name) => (looks++, Reflect.getOwnPropertyDescriptor(own, name)),
    })
  const many = counted(Array.from({ length: 80_000 }, (_, y) => counted({ y })))
  assert.equal(firstOf(many, { items: open }), null)
  assert.ok(looks <= 16 * many.length, `${looks} looks`)
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
