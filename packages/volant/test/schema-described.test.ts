import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import * as z from 'zod'
import { jsonSchemaOf } from '../src/schema/json-schema.ts'
import { isVoid } from '../src/schema/vendors/vendor-of.ts'
import type { Schema } from '../src/index.ts'

const said = (schema: Schema, io: 'input' | 'output'): unknown => {
  const described = jsonSchemaOf(schema, io)
  assert.ok('schema' in described, JSON.stringify(described))
  return described.schema
}

const date = { type: 'string', format: 'date-time' }

test('Zod: what goes in and what comes out, dates as they are written, what cannot be said left open', () => {
  const schema = z.object({
    id: z.string().transform(Number),
    at: z.date(),
    big: z.bigint(),
    limit: z.number().default(5),
  })
  assert.deepEqual(said(schema, 'input'), {
    type: 'object',
    properties: { id: { type: 'string' }, at: date, big: {}, limit: { default: 5, type: 'number' } },
    required: ['id', 'at', 'big'],
  })
  assert.deepEqual(said(schema, 'output'), {
    type: 'object',
    properties: { id: {}, at: date, big: {}, limit: { default: 5, type: 'number' } },
    required: ['id', 'at', 'big', 'limit'],
    additionalProperties: false,
  })
})

test('ArkType', () => {
  const schema = type({ n: 'string.numeric.parse', at: 'Date', big: 'bigint', 'o?': 'string' })
  const { properties, required } = said(schema, 'output') as Record<string, unknown>
  assert.deepEqual(properties, { n: { type: 'number' }, at: date, big: {}, o: { type: 'string' } })
  assert.deepEqual((required as string[]).toSorted(), ['at', 'big', 'n'])
  const input = said(schema, 'input') as { properties: Record<string, { type: string }> }
  assert.equal(input.properties['n']?.type, 'string')
})

test('Valibot, by the package for it, or as a schema that package made', () => {
  const schema = v.object({
    n: v.pipe(v.string(), v.transform(Number), v.number()),
    at: v.date(),
    big: v.bigint(),
    made: v.pipe(v.object({ id: v.number() }), v.transform(String)),
    short: v.pipe(v.string(), v.trim()),
  })
  const short = { type: 'string' }
  for (const each of [schema, toStandardJsonSchema(schema)]) {
    assert.deepEqual(said(each, 'input'), {
      type: 'object',
      properties: {
        n: { type: 'string' },
        at: date,
        big: {},
        made: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
        short,
      },
      required: ['n', 'at', 'big', 'made', 'short'],
    })
    // Its package describes the object that `made` was before.
    assert.deepEqual((said(each, 'output') as { properties: unknown }).properties, {
      n: { type: 'number' },
      at: date,
      big: {},
      made: {},
      short,
    })
  }
})

test('plain JSON Schema: in the draft of today, and with nothing asked for that is filled in', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://example.com/thing.json',
    type: 'object',
    properties: {
      pair: { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      thing: { $ref: 'https://example.com/thing.json#/definitions/thing' },
      limit: { type: 'integer', default: 5 },
    },
    required: ['limit', 'pair'],
    definitions: { thing: { type: 'string', nullable: true } },
  } as const
  const output = {
    type: 'object',
    properties: {
      pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      thing: { $ref: '#/definitions/thing' },
      limit: { type: 'integer', default: 5 },
    },
    required: ['limit', 'pair'],
    definitions: { thing: { type: ['string', 'null'] } },
  }
  assert.deepEqual(said(schema, 'output'), output)
  assert.deepEqual(said(schema, 'input'), { ...output, required: ['pair'] })
  assert.ok(Object.isFrozen(said(schema, 'input')))
  const alone = Type.Object({ limit: Type.Integer({ default: 5 }) })
  assert.deepEqual(said(alone, 'input'), {
    type: 'object',
    properties: { limit: { type: 'integer', default: 5 } },
  })
})

test('it is made once, and nobody can change it', () => {
  let made = 0
  const source = { type: 'object', properties: { a: { type: 'string' } } }
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => (made++, source), output: () => source },
    },
  } as const
  const first = said(schema, 'input') as { properties: Record<string, unknown> }
  assert.equal(said(schema, 'input'), first)
  assert.equal(made, 1)
  assert.throws(() => void (first.properties['b'] = 1), TypeError)
  source.properties.a.type = 'number'
  assert.deepEqual(said(schema, 'output'), source)
  assert.deepEqual(first.properties, { a: { type: 'string' } })
})

test('opaque schemas say why', () => {
  const validate = (value: unknown) => ({ value })
  const fails = () => {
    throw new Error('not this one')
  }
  const reason = (standard: object): unknown => jsonSchemaOf({ '~standard': standard } as Schema, 'input')
  assert.deepEqual(reason({ version: 1, vendor: 'own', validate }), {
    opaque: 'its library, own, has no JSON Schema for it',
  })
  assert.deepEqual(
    reason({ version: 1, vendor: 'own', validate, jsonSchema: { input: fails, output: fails } }),
    { opaque: 'not this one' },
  )
})

test('plain JSON Schema: references are fragments of URIs as everybody writes them', () => {
  const names = ['User', 'Page<User>', '100%', 'a/b', 'x~y', 'ü', 'a#b', 'a b', '$x', 'a"b', '?']
  const written = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
  for (const name of names) {
    for (const fragment of [written(name), encodeURIComponent(written(name))]) {
      const { $ref } = said(
        { $defs: { [name]: { type: 'string' } }, $ref: `#/$defs/${fragment}` },
        'output',
      ) as {
        $ref: string
      }
      assert.ok($ref.startsWith('#/$defs/'), $ref)
      assert.equal(decodeURIComponent($ref.slice('#/$defs/'.length)), written(name))
      assert.match($ref.slice(1), /^(?:[\w\-.~!$&'()*+,;=:@/?]|%[\dA-F]{2})*$/)
    }
  }
})

test('what a library gives for JSON Schema is opaque unless it is one', async () => {
  const giving = (made: unknown): Schema =>
    ({
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => made, output: () => made },
      },
    }) as unknown as Schema
  const rubbish: unknown[] = [
    undefined,
    null,
    true,
    false,
    5,
    'text',
    [],
    Promise.resolve({ type: 'object' }),
    Promise.reject(new Error('no schema')),
    { properties: 5 },
    { properties: { a: 'string' } },
    { properties: { a: { items: null } } },
    { anyOf: { type: 'string' } },
    { allOf: [5] },
    { type: 'date' },
    { type: 'object', required: 'a' },
    { additionalProperties: 'no' },
    { $defs: [] },
  ]
  for (const made of rubbish) {
    for (const io of ['input', 'output'] as const) {
      const described = jsonSchemaOf(giving(made), io)
      assert.ok('opaque' in described, JSON.stringify(described))
      assert.match(described.opaque, /^its library /)
    }
  }
  const sound = {
    type: ['object', 'null'],
    properties: { properties: { const: 5 }, any: true, old: { items: [{ type: 'string' }, false] } },
    dependencies: { a: ['b'], c: {} },
    'x-own': { properties: 5 },
    examples: 5,
  }
  assert.deepEqual(said(giving({ $schema: 'x', ...sound }), 'output'), {
    type: ['object', 'null'],
    properties: {
      properties: { const: 5 },
      any: true,
      old: { prefixItems: [{ type: 'string' }, false] },
    },
    dependentRequired: { a: ['b'] },
    dependentSchemas: { c: {} },
    'x-own': { properties: 5 },
    examples: 5,
  })
  await new Promise((resolve) => setImmediate(resolve))
})

test('schemas of nothing are known without being asked', () => {
  for (const schema of [z.void(), z.undefined(), v.void(), v.undefined()]) assert.equal(isVoid(schema), true)
  const others = [
    z.undefined().or(z.string()),
    z.string().optional(),
    z.null(),
    v.optional(v.string()),
    v.pipe(v.undefined(), v.transform(String)),
    { type: 'void' },
  ]
  for (const schema of others) assert.equal(isVoid(schema as never), false)
})
