/** One API by every library of schemas: what it is asked is in the tests beside this. */
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import type { App, SchemaInput, SchemaOutput } from 'volant'
import * as z from 'zod'

const zod = {
  params: z.object({ id: z.coerce.number().int().min(1) }),
  query: z.object({
    order: z.enum(['up', 'down']).default('up'),
    limit: z.coerce.number().max(10).default(5),
    deep: z.stringbool({ truthy: ['true'], falsy: ['false'] }).optional(),
    tag: z.union([z.array(z.string()), z.string().transform((one) => [one])]).optional(),
  }),
  headers: z.looseObject({ 'x-key': z.string().min(3) }),
  cookies: z.object({ session: z.string().min(1).optional() }),
  body: z.object({
    name: z.string().min(2),
    note: z.string().nullable(),
    address: z.object({ city: z.string(), 'a/b~c': z.string().optional() }).optional(),
    lines: z.array(z.object({ sku: z.string(), count: z.number().int() })),
    size: z.union([z.number(), z.enum(['s', 'm'])]),
  }),
  reply: z.object({
    id: z.number().int(),
    note: z.string().nullable(),
    city: z.string().optional(),
    lines: z.array(z.object({ sku: z.string() })),
    size: z.union([z.number(), z.enum(['s', 'm'])]),
  }),
  data: z.object({ id: z.number().int() }),
}

export type Schemas = typeof zod
export type In = { [K in keyof Schemas]: SchemaInput<Schemas[K]> }
export type Out = { [K in keyof Schemas]: SchemaOutput<Schemas[K]> }

const valibot = {
  params: v.object({ id: v.pipe(v.string(), v.transform(Number), v.number(), v.integer(), v.minValue(1)) }),
  query: v.object({
    order: v.optional(v.picklist(['up', 'down']), 'up'),
    limit: v.optional(v.pipe(v.string(), v.transform(Number), v.number(), v.maxValue(10)), '5'),
    deep: v.optional(
      v.pipe(
        v.picklist(['true', 'false']),
        v.transform((text) => text === 'true'),
      ),
    ),
    tag: v.optional(
      v.union([
        v.array(v.string()),
        v.pipe(
          v.string(),
          v.transform((one) => [one]),
        ),
      ]),
    ),
  }),
  headers: v.looseObject({ 'x-key': v.pipe(v.string(), v.minLength(3)) }),
  cookies: v.object({ session: v.optional(v.pipe(v.string(), v.minLength(1))) }),
  body: v.object({
    name: v.pipe(v.string(), v.minLength(2)),
    note: v.nullable(v.string()),
    address: v.optional(v.object({ city: v.string(), 'a/b~c': v.optional(v.string()) })),
    lines: v.array(v.object({ sku: v.string(), count: v.pipe(v.number(), v.integer()) })),
    size: v.union([v.number(), v.picklist(['s', 'm'])]),
  }),
  reply: v.object({
    id: v.pipe(v.number(), v.integer()),
    note: v.nullable(v.string()),
    city: v.optional(v.string()),
    lines: v.array(v.object({ sku: v.string() })),
    size: v.union([v.number(), v.picklist(['s', 'm'])]),
  }),
  data: v.object({ id: v.pipe(v.number(), v.integer()) }),
}

const arktype = {
  params: type({ id: type('string.integer.parse').to('number >= 1') }),
  query: type({
    order: "'up' | 'down' = 'up'",
    limit: type('string.numeric.parse').to('number <= 10').default('5'),
    'deep?': type("'true' | 'false'").pipe((text) => text === 'true'),
    'tag?': type('string[]').or(type('string').pipe((one) => [one])),
  }),
  headers: type({ 'x-key': 'string >= 3' }),
  cookies: type({ 'session?': 'string >= 1' }),
  body: type({
    name: 'string >= 2',
    note: 'string | null',
    'address?': { city: 'string', 'a/b~c?': 'string' },
    lines: type({ sku: 'string', count: 'number.integer' }).array(),
    size: "number | 's' | 'm'",
  }),
  reply: type({
    id: 'number.integer',
    note: 'string | null',
    'city?': 'string',
    lines: type({ sku: 'string' }).array(),
    size: "number | 's' | 'm'",
  }),
  data: type({ id: 'number.integer' }),
}

const typebox = {
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  query: Type.Object({
    order: Type.Enum(['up', 'down'], { default: 'up' }),
    limit: Type.Number({ maximum: 10, default: 5 }),
    deep: Type.Optional(Type.Boolean()),
    tag: Type.Optional(Type.Array(Type.String())),
  }),
  headers: Type.Object({ 'x-key': Type.String({ minLength: 3 }) }),
  cookies: Type.Object({ session: Type.Optional(Type.String({ minLength: 1 })) }),
  body: Type.Object({
    name: Type.String({ minLength: 2 }),
    note: Type.Union([Type.String(), Type.Null()]),
    address: Type.Optional(Type.Object({ city: Type.String(), 'a/b~c': Type.Optional(Type.String()) })),
    lines: Type.Array(Type.Object({ sku: Type.String(), count: Type.Integer() })),
    size: Type.Union([Type.Number(), Type.Literal('s'), Type.Literal('m')]),
  }),
  reply: Type.Object({
    id: Type.Integer(),
    note: Type.Union([Type.String(), Type.Null()]),
    city: Type.Optional(Type.String()),
    lines: Type.Array(Type.Object({ sku: Type.String() })),
    size: Type.Union([Type.Number(), Type.Literal('s'), Type.Literal('m')]),
  }),
  data: Type.Object({ id: Type.Integer() }),
}

const written = {
  params: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
  query: {
    type: 'object',
    properties: {
      order: { enum: ['up', 'down'], default: 'up' },
      limit: { type: 'number', maximum: 10, default: 5 },
      deep: { type: 'boolean' },
      tag: { type: 'array', items: { type: 'string' } },
    },
  },
  headers: {
    type: 'object',
    properties: { 'x-key': { type: 'string', minLength: 3 } },
    required: ['x-key'],
  },
  cookies: { type: 'object', properties: { session: { type: 'string', minLength: 1 } } },
  body: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2 },
      note: { type: ['string', 'null'] },
      address: { $ref: '#/definitions/address' },
      lines: {
        type: 'array',
        items: {
          type: 'object',
          properties: { sku: { type: 'string' }, count: { type: 'integer' } },
          required: ['sku', 'count'],
        },
      },
      size: { anyOf: [{ type: 'number' }, { enum: ['s', 'm'] }] },
    },
    required: ['name', 'note', 'lines', 'size'],
    definitions: {
      address: {
        type: 'object',
        properties: { city: { type: 'string' }, 'a/b~c': { type: 'string' } },
        required: ['city'],
      },
    },
  },
  reply: {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      note: { type: ['string', 'null'] },
      city: { type: 'string' },
      lines: {
        type: 'array',
        items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
      },
      size: { anyOf: [{ type: 'number' }, { enum: ['s', 'm'] }] },
    },
    required: ['id', 'note', 'lines', 'size'],
  },
  data: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
} as const

/** They say the same, so the handlers below are written with the types of one of them. */
export const libraries = {
  zod,
  valibot: valibot as unknown as Schemas,
  arktype: arktype as unknown as Schemas,
  typebox: typebox as unknown as Schemas,
  'JSON Schema': written as unknown as Schemas,
} satisfies Record<string, Schemas>

/** A body that every library takes. */
export const good = {
  name: 'ann',
  note: null,
  address: { city: 'Bern' },
  lines: [{ sku: 'a', count: 1 }],
  size: 'm',
}

/** Takes one request with all of its parts, and tells what the handler saw. */
export function items(app: App, { params, query, headers, cookies, body }: Schemas): void {
  app.post('/items/:id', { params, query, headers, cookies, body }, (ctx) =>
    ctx.json({
      params: ctx.params,
      query: ctx.query,
      cookies: ctx.cookies,
      body: ctx.body,
      key: ctx.headers['x-key'],
    }),
  )
}
