/** The code that is generated from a schema, and what is done without it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { rootNodeOf } from '../../src/schema/strip/schema-node.ts'
import { compileStrip } from '../../src/schema/strip/strip-codegen.ts'
import { serializerFor } from '../../src/schema/strip/serializer.ts'

const holder = { type: 'object', properties: { v: {}, list: { items: { properties: { v: {} } } } } }

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
  const serializer = new URL('../../src/schema/strip/serializer.js', import.meta.url).href
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
