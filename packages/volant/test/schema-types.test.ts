import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import * as z from 'zod'
import { createApp, type JSONSchema, type SchemaInput, type SchemaOutput, validate } from '../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = T extends object ? (T extends readonly unknown[] ? T : { [K in keyof T]: T[K] }) : T
const same = <A, B>(value: Same<Flat<A>, Flat<B>>): void => assert.ok(value)

test('libraries say what they take and give', () => {
  const zod = z.object({ n: z.coerce.number<string>(), d: z.string().default('x') })
  same<SchemaInput<typeof zod>, { n: string; d?: string | undefined }>(true)
  same<SchemaOutput<typeof zod>, { n: number; d: string }>(true)
  const valibot = v.object({ n: v.pipe(v.string(), v.transform(Number)) })
  same<SchemaInput<typeof valibot>, { n: string }>(true)
  same<SchemaOutput<typeof valibot>, { n: number }>(true)
  const arktype = type({ n: 'string.numeric.parse', 'o?': 'boolean' })
  same<SchemaInput<typeof arktype>, { n: string; o?: boolean }>(true)
  same<SchemaOutput<typeof arktype>, { n: number; o?: boolean }>(true)
})

test('TypeBox is read off its types', () => {
  const user = Type.Object({
    id: Type.Integer(),
    name: Type.Optional(Type.String()),
    role: Type.Union([Type.Literal('admin'), Type.Literal('user'), Type.Null()]),
    order: Type.Enum(['up', 'down']),
    tags: Type.Array(Type.Object({ t: Type.Boolean() })),
    pair: Type.Tuple([Type.String(), Type.Number()]),
    counts: Type.Record(Type.String(), Type.Number()),
    any: Type.Unknown(),
    own: Type.Unsafe<Date>({ type: 'string' }),
  })
  type User = SchemaOutput<typeof user>
  same<User['id'], number>(true)
  same<User['name'], string | undefined>(true)
  same<User['role'], 'admin' | 'user' | null>(true)
  same<User['order'], 'up' | 'down'>(true)
  same<User['tags'][number]['t'], boolean>(true)
  same<User['pair'], [string, number]>(true)
  same<User['counts'], Record<string, number>>(true)
  same<User['any'], unknown>(true)
  same<User['own'], Date>(true)
  const { name: _, ...rest } = {} as User
  const full: User = rest
  void full
  const both = Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })])
  same<SchemaOutput<typeof both>, { a: string; b: number }>(true)
  interface Older {
    static: { a: string }
    params: unknown[]
    type: 'object'
    properties: {}
  }
  same<SchemaOutput<Older>, { a: string }>(true)
})

test('JSON Schema is read off where its type is exact, and unknown where it is not', () => {
  const user = {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      name: { type: 'string' },
      role: { enum: ['admin', 'user'] },
      kind: { const: 'u' },
      tags: { type: 'array', items: { type: ['string', 'null'] } },
      limit: { type: 'number', default: 5 },
      either: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      all: {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] },
        ],
      },
      old: { type: 'string', nullable: true },
      ref: { $ref: '#/$defs/x' },
      pair: {
        type: 'array',
        prefixItems: [{ type: 'string' }, { type: 'number' }],
        items: false,
        minItems: 2,
      },
      map: { type: 'object', additionalProperties: { type: 'number' } },
      open: { type: 'object' },
    },
    required: ['id', 'role', 'kind', 'tags', 'either', 'all', 'old', 'ref', 'pair', 'map', 'open'],
  } as const
  type In = SchemaInput<typeof user>
  type Out = SchemaOutput<typeof user>
  same<In['limit'], number | undefined>(true)
  same<Out['limit'], number>(true)
  same<Out['name'], string | undefined>(true)
  same<Out['id'], number>(true)
  same<Out['role'], 'admin' | 'user'>(true)
  same<Out['kind'], 'u'>(true)
  same<Out['tags'], (string | null)[]>(true)
  same<Out['either'], boolean | null>(true)
  same<Out['all'], { a: string; b: number }>(true)
  same<Out['old'], string | null>(true)
  same<Out['ref'], unknown>(true)
  same<Out['pair'], [string, number]>(true)
  same<Out['map'], Record<string, number>>(true)
  same<Out['open'], Record<string, unknown>>(true)
  const wide = { type: 'object', properties: { id: { type: 'integer' } } }
  same<SchemaOutput<typeof wide>, unknown>(true)
  same<SchemaOutput<JSONSchema>, unknown>(true)
  same<SchemaOutput<{}>, unknown>(true)
  // Without `type`, a value that is no object passes too.
  same<SchemaOutput<{ properties: { a: { type: 'string' } } }>, unknown>(true)
})

test('handlers are typed by schemas written in place', () => {
  const typed = () => {
    const app = createApp({ signals: false })
    app.post(
      '/users/:id',
      {
        params: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        query: Type.Object({ q: Type.Optional(Type.String()) }),
        body: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string' } } } },
      },
      (ctx) => {
        same<typeof ctx.params.id, number>(true)
        same<typeof ctx.query.q, string | undefined>(true)
        same<typeof ctx.body.tags, string[] | undefined>(true)
        // @ts-expect-error the schema has no such key
        void ctx.body.other
        return ctx.params.id
      },
    )
    app.get('/wide/:id', { params: {} as JSONSchema }, (ctx) => {
      same<typeof ctx.params, unknown>(true)
      return 1
    })
    app.get('/v', validate({ query: { type: 'object', properties: { a: { const: 1 } } } }), (ctx) => {
      same<typeof ctx.query.a, 1 | undefined>(true)
      return 1
    })
    const other = { type: 'object', properties: { other: { type: 'string' } }, required: ['other'] } as const
    // @ts-expect-error the params schema misses 'id' of the path
    app.get('/bad/:id', { params: other }, () => 1)
  }
  assert.equal(typeof typed, 'function')
})
