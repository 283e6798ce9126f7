import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { normalizeMade } from '../src/schema/normalize.ts'
import { rootNodeOf } from '../src/schema/strip/schema-node.ts'
import { compileStrip } from '../src/schema/strip/strip-codegen.ts'
import { serializerFor } from '../src/schema/strip/serializer.ts'
import { strip, undeclared } from '../src/schema/strip/strip.ts'

type Schema = Parameters<typeof strip>[1]

/** The text, or what was thrown instead. */
function outcome(serialize: (value: unknown) => string, value: unknown): string {
  try {
    return String(serialize(value))
  } catch (error) {
    return `threw ${(error as Error).name}`
  }
}

/** By all ways there are: compiled, walked, and JSON.stringify for what is stripped already. */
function textsOf(schema: Schema, value: unknown): string[] {
  return [
    outcome(serializerFor(schema, { alreadyStripped: false }), value),
    outcome((given) => JSON.stringify(strip(given, schema)), value),
    outcome(serializerFor(schema, { alreadyStripped: true }), value),
    outcome(serializerFor(null, { alreadyStripped: false }), value),
  ]
}

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

test('names of properties are text in the generated code, whatever is in them', () => {
  const names = [
    '"]; globalThis.broken = true; //',
    '`${globalThis.broken = true}`',
    "'+(globalThis.broken=true)+'",
    '\u2028globalThis.broken = true',
    '*/ globalThis.broken = true /*',
    'toJSON',
    'key',
    '',
    '1',
    '-0',
  ]
  const properties = Object.fromEntries(names.map((name) => [name, { properties: { a: {} } }]))
  const value = Object.fromEntries([...names, 'secret'].map((name) => [name, { a: 1, secret: 2 }]))
  const node = rootNodeOf({ properties })
  assert.ok(compileStrip(node))
  const wanted = Object.fromEntries(names.map((name) => [name, { a: 1 }]))
  assert.equal(serializerFor({ properties }, { alreadyStripped: false })(value), JSON.stringify(wanted))
  assert.equal((globalThis as { broken?: boolean }).broken, undefined)
})

test('an own property __proto__ is not written, and pollutes nothing', () => {
  const schema = JSON.parse('{"properties":{"a":{},"__proto__":{"properties":{"b":{}}}}}') as Schema
  const value = JSON.parse('{"a":1,"__proto__":{"b":1}}') as object
  assert.deepEqual(new Set(textsOf(schema, value).slice(0, 2)), new Set(['{"a":1}']))
  assert.equal(({} as { b?: unknown }).b, undefined)
})

test('nothing of a schema is read before the first value', () => {
  let reads = 0
  const schema = new Proxy(holder, {
    get(target, name, receiver) {
      reads++
      return Reflect.get(target, name, receiver) as unknown
    },
  })
  const serialize = serializerFor(schema, { alreadyStripped: false })
  assert.equal(reads, 0)
  serialize({})
  assert.ok(reads > 0)
  const before = reads
  serialize({ v: 1 })
  assert.equal(reads, before)
})

test('what cannot lose anything is given to JSON.stringify, and so is what is too large to compile', () => {
  assert.equal(serializerFor({ type: 'string' }, { alreadyStripped: false })('x'), '"x"')
  const many = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`p${at}`, {}]))
  assert.equal(compileStrip(rootNodeOf({ properties: many })), null)
  assert.equal(serializerFor({ properties: many }, { alreadyStripped: false })({ p7: 1, q: 2 }), '{"p7":1}')
  const { p0: _, ...fewer } = many
  assert.ok(compileStrip(rootNodeOf({ properties: fewer })))
})

test('values nested so deep that the generated code gives up are written, or refused as JSON.stringify refuses', () => {
  const node = { properties: { next: { $ref: '#' } } }
  let value: object = { x: 1 }
  for (let depth = 0; depth < 500; depth++) value = { next: value }
  assert.equal(
    serializerFor(node, { alreadyStripped: false })(value),
    `${'{"next":'.repeat(500)}{}${'}'.repeat(500)}`,
  )
  const circle: Record<string, unknown> = {}
  circle.next = { next: circle }
  assert.throws(() => serializerFor(node, { alreadyStripped: false })(circle), TypeError)
})

test('a process that allows no generated code gets the same text', () => {
  const serializer = new URL('../src/schema/strip/serializer.js', import.meta.url).href
  const script = `
    import { serializerFor } from ${JSON.stringify(serializer)}
    const schema = { properties: { b: {}, a: { items: { properties: { c: {} } } } } }
    console.log(serializerFor(schema, { alreadyStripped: false })({ a: [{ c: 1, d: 2 }], x: 1, b: 2 }))`
  for (const flags of [[], ['--disallow-code-generation-from-strings']]) {
    const text = execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', script], {
      encoding: 'utf8',
    })
    assert.equal(text, '{"b":2,"a":[{"c":1}]}\n')
  }
})

/** mulberry32 */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const names = ['a', 'b', 'c', 'x-d', 'x-e', '7', 'toJSON', 'kind']

class Random {
  readonly #next: () => number
  /** Whether values are such as JSON.parse gives. */
  readonly #isPlain: boolean

  constructor(seed: number, isPlain: boolean) {
    this.#next = random(seed)
    this.#isPlain = isPlain
  }

  below(count: number): number {
    return Math.floor(this.#next() * count)
  }

  pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T
  }

  schema(depth: number): Schema {
    const deeper = () => this.schema(depth - 1)
    switch (this.below(depth <= 0 ? 3 : 12)) {
      case 0:
        return {}
      case 1:
        return { type: this.pick(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']) }
      case 2:
        return this.pick([
          { $ref: '#' },
          { $ref: '#/$defs/one' },
          { $ref: '#two' },
          { type: ['string', 'null'] },
        ])
      case 3:
        return { type: 'array', items: deeper() }
      case 4:
        return { prefixItems: [deeper(), deeper()], ...(this.below(2) === 0 ? { items: deeper() } : {}) }
      case 5:
        return { allOf: [deeper(), deeper()] }
      case 6:
        return { [this.pick(['anyOf', 'oneOf'])]: [deeper(), deeper(), { type: 'null' }] }
      case 7:
        return {
          oneOf: [1, 2].map((kind) => ({
            type: 'object',
            properties: { kind: { const: kind }, [this.pick(names)]: deeper() },
            required: ['kind'],
          })),
        }
      case 8:
        return {
          patternProperties: { '^x-': deeper() },
          additionalProperties: this.pick([true, false, deeper()]),
        }
      default: {
        const own = names.filter(() => this.below(2) === 0)
        const rest = this.pick([
          {},
          {},
          {},
          { additionalProperties: false },
          { additionalProperties: deeper() },
        ])
        return {
          type: 'object',
          properties: Object.fromEntries(own.map((name) => [name, deeper()])),
          required: own.filter(() => this.below(3) === 0),
          ...rest,
        }
      }
    }
  }

  document(): Schema {
    const root = { ...this.schema(3) }
    const $defs = { one: this.schema(2), two: { $anchor: 'two', ...this.schema(1) } }
    return normalizeMade({ ...root, $defs })
  }

  value(depth: number): unknown {
    const deeper = () => this.value(depth - 1)
    switch (this.below(depth <= 0 ? 4 : 10)) {
      case 0:
        return this.pick([0, 1, 2, -1.5, 2 ** 53])
      case 1:
        return this.pick(['', 'a', 'ü"\\\n', '\u2028'])
      case 2:
        return this.pick([true, false, null])
      case 3:
        return this.#isPlain ? null : this.#odd()
      case 4:
        return Array.from({ length: this.below(4) }, deeper)
      default: {
        const order = names.filter(() => this.below(2) === 0).sort(() => this.below(3) - 1)
        return Object.fromEntries(order.map((name) => [name, name === 'kind' ? this.below(3) : deeper()]))
      }
    }
  }

  #odd(): unknown {
    class Model {
      readonly made: unknown
      constructor(made: unknown) {
        this.made = made
      }
      toJSON() {
        return this.made
      }
    }
    return this.pick<() => unknown>([
      () => undefined,
      () => NaN,
      () => -0,
      () => '\ud800',
      () => new Date(1e12),
      () => Symbol('s'),
      () => () => 1,
      () => 1n,
      () => new Map([['a', 1]]),
      () => Buffer.from('a'),
      () => new Model(this.value(1)),
      () => Object.assign(Object.create(null) as object, { b: 1, a: 2 }),
      () => Object.assign(Object.create({ a: 1 }) as object, { c: 1, b: 2 }),
      () => {
        const circle: Record<string, unknown> = { a: 1 }
        circle.b = circle
        return circle
      },
    ])()
  }
}

test('generated code and walk give the same text, for any schema and any value', () => {
  let compiled = 0
  for (let seed = 0; seed < 1500; seed++) {
    const source = new Random(seed, false)
    const schema = source.document()
    if (compileStrip(rootNodeOf(schema)) !== null) compiled++
    for (let round = 0; round < 4; round++) {
      const [fast, walked] = textsOf(schema, source.value(4))
      assert.equal(fast, walked, `seed ${seed}, round ${round}: ${JSON.stringify(schema)}`)
    }
  }
  assert.ok(compiled > 250, `${compiled} schemas were compiled`)
})

test('what leaves is declared, and nothing that is declared stays', () => {
  let lost = 0
  for (let seed = 0; seed < 1500; seed++) {
    const source = new Random(seed, true)
    const schema = source.document()
    const serialize = serializerFor(schema, { alreadyStripped: false })
    for (let round = 0; round < 4; round++) {
      const value = source.value(4)
      const left = JSON.parse(serialize(value)) as unknown
      const found = undeclared(value, schema)?.pointers[0] ?? null
      const where = `seed ${seed}, round ${round}: ${JSON.stringify(schema)} ${JSON.stringify(value)}`
      assert.equal(undeclared(left, schema), null, where)
      if (found === null) assert.deepEqual(left, value, where)
      else {
        lost++
        assert.notDeepEqual(left, value, where)
      }
    }
  }
  assert.ok(lost > 500, `${lost} values lost something`)
})
