/** An API with every form of schema, of route and of reply that a document can have, for tools to read. */
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { createApp, middleware, openapiOf } from 'volant'
import * as z from 'zod'

const Cat = z.object({ kind: z.literal('cat'), lives: z.int().min(0).max(9) }).meta({ title: 'Cat' })
const Dog = z.object({ kind: z.literal('dog'), barks: z.boolean() }).meta({ title: 'Dog' })
const Pet = z.discriminatedUnion('kind', [Cat, Dog]).meta({ title: 'Pet' })
const Money = z.object({ amount: z.number(), currency: z.string().length(3) }).meta({ id: 'Money' })
const Category = z
  .object({
    name: z.string(),
    get children() {
      return z.array(Category)
    },
  })
  .meta({ title: 'Category' })
const Comment = z.object({
  text: z.string(),
  get replies() {
    return z.array(Comment).optional()
  },
})
const Settings = z.object({ theme: z.enum(['dark', 'light']).default('dark'), size: z.int().default(12) })

const Scalars = z
  .object({
    text: z.string().min(1).max(50).regex(/^\w/),
    mail: z.email(),
    id: z.uuid(),
    link: z.url(),
    at: z.iso.datetime(),
    day: z.iso.date(),
    number: z.number().gt(0).lt(100),
    integer: z.int(),
    count: z.int().positive(),
    flag: z.boolean(),
    nothing: z.null(),
    level: z.enum(['low', 'high']),
    grade: z.union([z.literal(1), z.literal(2)]),
    mixed: z.literal(['a', 1, true, null]),
    nullable: z.string().nullable(),
    nullableObject: Money.nullable(),
    optional: z.string().optional(),
    plainUnion: z.union([z.string(), z.number(), z.boolean()]),
    anything: z.unknown(),
    json: z.json(),
    template: z.templateLiteral(['v', z.number()]),
  })
  .meta({ title: 'Scalars' })

const Containers = z
  .object({
    pair: z.tuple([z.number(), z.string()]),
    open: z.tuple([z.string()], z.number()),
    list: z.array(z.string()).min(1).max(5),
    anyList: z.array(z.unknown()),
    matrix: z.array(z.array(z.number())),
    record: z.record(z.string(), z.number()),
    byLevel: z.partialRecord(z.enum(['low', 'high']), z.string()),
    loose: z.looseObject({ a: z.string() }),
    strict: z.strictObject({ a: z.string() }),
    both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
    either: z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
    nested: z.object({ money: Money, pets: z.array(Pet) }),
    readonly: z.array(z.string()).readonly(),
  })
  .meta({ title: 'Containers' })

const signedIn = middleware(
  {
    errors: { SIGN_IN: { status: 401, description: 'Sign in first' } },
    security: { bearer: { type: 'http', scheme: 'bearer' } },
  },
  (_, next) => next(),
)
const withKey = middleware(
  { security: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } },
  (_, next) => next(),
)

const app = createApp({ signals: false })
const nothing = () => undefined
const echo = (path, schema, tag) =>
  app.post(path, { tags: [tag], summary: `Echo of ${path}`, body: schema, response: schema }, nothing)

echo('/scalars', Scalars, 'zod')
echo('/containers', Containers, 'zod')
echo('/cats', Cat, 'zod')
echo('/dogs', Dog, 'zod')
echo('/pets', Pet, 'zod')
echo('/categories', Category, 'zod')
echo('/comments', z.array(Comment), 'zod')
echo('/settings', Settings, 'zod')
echo('/point', z.tuple([z.number(), z.number()]), 'zod')
echo('/points', z.array(z.tuple([z.number(), z.number()])), 'zod')
echo('/names', z.record(z.string(), z.string()), 'zod')
echo('/either', z.union([z.string(), z.number(), z.boolean()]), 'zod')
echo('/maybe', Money.nullable(), 'zod')
echo('/json', z.json(), 'zod')
echo('/intersection', z.intersection(Cat, z.object({ owner: z.string() })), 'zod')
app.get('/when', { tags: ['zod'], response: z.object({ at: z.date(), on: z.iso.date() }) }, nothing)
app.get(
  '/page',
  { tags: ['zod'], response: z.object({ items: z.array(Money), next: z.string().nullable() }) },
  nothing,
)

echo(
  '/json-schema',
  {
    type: 'object',
    title: 'PlainThing',
    properties: {
      id: { type: 'integer' },
      size: { type: ['string', 'number'] },
      note: { type: ['string', 'null'] },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
      older: { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } },
      list: { type: 'array' },
      anything: true,
      next: { $ref: '#' },
    },
    required: ['id'],
    additionalProperties: false,
  },
  'json-schema',
)
echo(
  '/typebox',
  Type.Object({
    name: Type.String({ minLength: 1 }),
    role: Type.Union([Type.Literal('user'), Type.Literal('admin')]),
    pair: Type.Tuple([Type.Number(), Type.String()]),
    tags: Type.Array(Type.String(), { default: [] }),
    record: Type.Record(Type.String(), Type.Integer()),
    maybe: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })]),
  }),
  'typebox',
)
echo(
  '/valibot',
  v.object({
    name: v.pipe(v.string(), v.minLength(1)),
    pair: v.tuple([v.number(), v.string()]),
    strictPair: v.strictTuple([v.number(), v.string()]),
    role: v.picklist(['user', 'admin']),
    shape: v.variant('type', [
      v.object({ type: v.literal('circle'), radius: v.number() }),
      v.object({ type: v.literal('square'), side: v.number() }),
    ]),
    maybe: v.nullish(v.string()),
    record: v.record(v.string(), v.number()),
    either: v.union([v.string(), v.number()]),
  }),
  'valibot',
)
echo(
  '/arktype',
  type({
    name: '1 <= string <= 50',
    'role?': "'admin' | 'user'",
    pair: ['number', 'string'],
    either: 'string | number | boolean',
    list: 'string[]',
    maybe: 'string | null',
  }),
  'arktype',
)

app.get(
  '/search/:kind/:page?',
  {
    tags: ['parts'],
    params: z.object({ kind: z.enum(['cat', 'dog']), page: z.coerce.number().int().optional() }),
    query: z.object({
      q: z.string().optional().describe('What to look for'),
      tag: z.array(z.string()).optional(),
      limit: z.coerce.number().int().max(100).default(20),
      exact: z.stringbool().optional(),
    }),
    headers: z.object({ 'x-version': z.string().optional() }),
    cookies: z.object({ theme: z.enum(['dark', 'light']).optional() }),
    response: z.array(Pet),
  },
  nothing,
)
app.get(
  '/plain/:id',
  {
    tags: ['parts'],
    params: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    query: {
      type: 'object',
      properties: { on: { type: 'boolean' }, ids: { type: 'array', items: { type: 'integer' } } },
    },
    response: { 200: z.string(), 202: null },
  },
  nothing,
)
app.get(
  '/any-query',
  { tags: ['parts'], query: z.record(z.string(), z.string()), response: z.string() },
  nothing,
)
app.get('/files/*path', { tags: ['parts'], mediaType: 'application/octet-stream' }, nothing)
app.get('/logo.svg', { tags: ['parts'], response: z.string(), mediaType: 'image/svg+xml' }, nothing)
app.post(
  '/form',
  { tags: ['parts'], body: z.object({ name: z.string(), note: z.string().optional() }) },
  nothing,
)
app.post('/note', { tags: ['parts'], body: z.string(), response: { 204: null } }, nothing)
app.put(
  '/optional',
  { tags: ['parts'], body: Money.optional(), response: { 201: Money, 204: null } },
  nothing,
)
app.post('/stream', { tags: ['parts'], bodyMode: 'stream', response: { 204: null } }, nothing)
app.post('/upload', { tags: ['parts'], response: z.object({ size: z.int() }) }, nothing)
app.get('/undeclared', { tags: ['parts'] }, nothing)

app.with(signedIn).post(
  '/orders',
  {
    tags: ['errors'],
    operationId: 'orders.add',
    description: 'Orders pets.',
    body: z.object({ pet: Pet, price: Money }),
    response: { 201: z.object({ id: z.int() }), 404: z.object({ gone: z.boolean() }) },
    errors: {
      SOLD: { status: 409, description: 'Somebody was faster', data: z.object({ by: z.string() }) },
      CLOSED: { status: 409 },
      TOO_CHEAP: { status: 422, data: Money },
    },
    examples: {
      body: { cat: { value: { pet: { kind: 'cat', lives: 9 }, price: { amount: 5, currency: 'EUR' } } } },
    },
  },
  nothing,
)
app
  .with(signedIn)
  .with(withKey)
  .delete('/orders/:id', { tags: ['errors'], deprecated: true, response: { 204: null } }, nothing)
app
  .with(signedIn)
  .get(
    '/orders',
    { tags: ['errors'], security: [{ bearer: [] }, {}], response: z.array(z.unknown()) },
    nothing,
  )

export const document = openapiOf(app, {
  info: {
    title: 'Every form',
    version: '1.0.0',
    description: 'Every form of schema.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: 'https://api.example.org' }],
})
