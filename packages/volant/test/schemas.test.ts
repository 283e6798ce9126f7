/** One API by every library of schemas, and one table of what it is asked: long by both. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { type App, type Problem, type Schema, type SchemaInput, type SchemaOutput, validate } from 'volant'
import { procedure, rest, router } from 'volant/procedures'
import * as z from 'zod'
import { Kit } from './kit.ts'

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

type Schemas = typeof zod
type In = { [K in keyof Schemas]: SchemaInput<Schemas[K]> }
type Out = { [K in keyof Schemas]: SchemaOutput<Schemas[K]> }

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

const good = {
  name: 'ann',
  note: null,
  address: { city: 'Bern' },
  lines: [{ sku: 'a', count: 1 }],
  size: 'm',
}

interface Asked {
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** What passes, and what of it the handler sees. */
const passing: Readonly<Record<string, [asked: Asked, seen: Partial<Out>]>> = {
  'numbers, and defaults for what is not there': [
    { path: '/items/7' },
    { params: { id: 7 }, query: { order: 'up', limit: 5 }, cookies: {}, body: good as Out['body'] },
  ],
  'one value where several may be': [
    { path: '/items/1?tag=a' },
    { query: { order: 'up', limit: 5, tag: ['a'] } },
  ],
  'several values': [
    { path: '/items/1?tag=a&tag=b&order=down&limit=2.5&deep=false' },
    { query: { order: 'down', limit: 2.5, deep: false, tag: ['a', 'b'] } },
  ],
  cookies: [{ headers: { cookie: 'session=s' } }, { cookies: { session: 's' } }],
  'text that looks like something else stays text': [
    { headers: { 'x-key': '123', cookie: 'session=1' } },
    { cookies: { session: '1' } },
  ],
  'a number in a union': [{ body: { ...good, size: 3 } }, { body: { ...good, size: 3 } as Out['body'] }],
  'what is optional is left out': [
    { body: { ...good, address: undefined, lines: [] } },
    { body: { name: 'ann', note: null, lines: [], size: 'm' } },
  ],
}

/** What does not, and the places it is told of. */
const failing: Readonly<Record<string, [asked: Asked, places: string[]]>> = {
  'a parameter that is no number': [{ path: '/items/x' }, ['params #/id']],
  'a parameter that is no whole number': [{ path: '/items/1.5' }, ['params #/id']],
  'a parameter that is too small': [{ path: '/items/0' }, ['params #/id']],
  'a value that is not one of those allowed': [{ path: '/items/1?order=left' }, ['query #/order']],
  'a number that is too large': [{ path: '/items/1?limit=11' }, ['query #/limit']],
  'a truth that is none': [{ path: '/items/1?deep=maybe' }, ['query #/deep']],
  'a header that is too short': [{ headers: { 'x-key': 'ab' } }, ['headers #/x-key']],
  'a cookie without a value': [{ headers: { cookie: 'session=' } }, ['cookies #/session']],
  'a body that is no object': [{ body: 'ann' }, ['body #']],
  'text for a number': [{ body: { ...good, lines: [{ sku: 'a', count: '1' }] } }, ['body #/lines/0/count']],
  'a number for text': [{ body: { ...good, name: 12 } }, ['body #/name']],
  'no alternative': [{ body: { ...good, size: true } }, ['body #/size']],
  'null where it is not allowed': [{ body: { ...good, address: null } }, ['body #/address']],
  'a name that has to be escaped': [
    { body: { ...good, address: { city: 'x', 'a/b~c': 1 } } },
    ['body #/address/a~1b~0c'],
  ],
  'all of it at once': [
    {
      path: '/items/0?order=left&limit=11',
      headers: { 'x-key': 'a', cookie: 'session=' },
      body: { name: 'a', lines: [{ sku: 1, count: 1 }, { sku: 'b' }], size: 'm' },
    },
    [
      'params #/id',
      'query #/order',
      'query #/limit',
      'headers #/x-key',
      'cookies #/session',
      'body #/name',
      'body #/note',
      'body #/lines/0/sku',
      'body #/lines/1/count',
    ],
  ],
}

const whole: In['reply'] = { id: 1, note: 'n', city: 'Bern', lines: [{ sku: 'a' }], size: 2 }

/** What a handler gives, what of it is sent in production, and what development says of it. */
const replies: Readonly<Record<string, [given: unknown, sent: unknown, told: RegExp | null]>> = {
  'what is declared': [whole, whole, null],
  'what is optional left out': [
    { id: 1, note: null, lines: [], size: 'm' },
    { id: 1, note: null, lines: [], size: 'm' },
    null,
  ],
  'more than is declared': [{ ...whole, more: 'SECRET' }, whole, / #\/more:/],
  'more within': [
    { ...whole, lines: [{ sku: 'a' }, { sku: 'b', more: 'SECRET' }] },
    { ...whole, lines: [{ sku: 'a' }, { sku: 'b' }] },
    / #\/lines\/1\/more:/,
  ],
}

/** What no schema lets out, and the place that is reported. */
const refused: Readonly<Record<string, [given: unknown, reported: RegExp]>> = {
  'another type': [{ ...whole, id: 'SECRET' }, /#\/id: /],
  'another type within': [{ ...whole, lines: [{ sku: { of: 'SECRET' } }] }, /#\/lines\/0\/sku: /],
  'something missing': [{ id: 1, lines: [], size: 1, city: 'SECRET' }, /#\/note: /],
  'no alternative': [{ ...whole, size: 'SECRET' }, /#\/size: /],
  'no object': ['SECRET', /#: /],
}

const kit = new Kit()

function items(app: App, { params, query, headers, cookies, body }: Schemas): void {
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

function requests(api: Schemas): void {
  const ask = async (row: Asked, check: (reply: { status: number; json(): unknown }) => void) => {
    const app = kit.app()
    items(app, api)
    await kit.serve(app, async (live) => {
      const { path = '/items/1', headers = {}, body = good } = row
      check(await live.post(path, 'application/json', JSON.stringify(body), { 'x-key': 'key', ...headers }))
    })
  }
  for (const [name, [asked, seen]] of Object.entries(passing)) {
    test(name, () =>
      ask(asked, (reply) => {
        assert.equal(reply.status, 200)
        const got = reply.json() as Record<string, unknown>
        for (const [part, value] of Object.entries(seen)) assert.deepEqual(got[part], value)
        assert.equal(got['key'], asked.headers?.['x-key'] ?? 'key')
      }),
    )
  }
  for (const [name, [asked, places]] of Object.entries(failing)) {
    test(name, () =>
      ask(asked, (reply) => {
        const problem = reply.json() as Problem
        assert.deepEqual([reply.status, problem.code], [400, 'E_VALIDATION'])
        assert.deepEqual(
          problem.errors?.map(({ in: part, pointer }) => `${part} ${pointer}`).sort(),
          places.toSorted(),
        )
        assert.ok(problem.errors?.every(({ detail }) => detail.length > 0))
      }),
    )
  }

  test('as a middleware, for a scope', async () => {
    const app = kit.app()
    const { query } = api
    app.with(validate({ query })).get('/x', (ctx) => ctx.query.limit + 1)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).text, '6')
      assert.equal((await live.ask('/x?limit=12')).status, 400)
    })
  })
}

function responses(api: Schemas): void {
  const give = (given: unknown, mode: 'strip' | 'throw'): App => {
    const app = kit.app({ undeclaredProperties: mode })
    app.get('/x', { response: api.reply }, () => given as In['reply'])
    return app
  }
  for (const [name, [given, sent, told]] of Object.entries(replies)) {
    test(`${name}: in production what is declared is sent`, () =>
      kit.serve(give(given, 'strip'), async (live) => {
        const reply = await live.ask('/x')
        assert.deepEqual([reply.status, reply.json()], [200, sent])
      }))
    test(`${name}: in development it is ${told === null ? 'sent' : 'refused'}`, () =>
      kit.serve(give(given, 'throw'), async (live) => {
        const reply = await live.ask('/x')
        if (told === null) return assert.deepEqual([reply.status, reply.json()], [200, sent])
        assert.equal(reply.status, 500)
        const report = kit.reports.at(-1) as { code: string; message: string }
        assert.equal(report.code, 'E_RESPONSE_UNDECLARED')
        assert.match(report.message, told)
      }))
  }
  for (const [name, [given, reported]] of Object.entries(refused)) {
    test(`${name} is not let out, nor reported`, () =>
      kit.serve(give(given, 'strip'), async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 500)
        assert.ok(!reply.text.includes('SECRET'))
        const report = kit.reports.at(-1) as { code: string; message: string }
        assert.equal(report.code, 'E_RESPONSE_INVALID')
        assert.match(report.message, reported)
        assert.ok(!report.message.includes('SECRET'), report.message)
      }))
  }

  test('what a handler gives is not changed', async () => {
    const given = Object.freeze({ ...whole, lines: Object.freeze([Object.freeze({ sku: 'a', more: 1 })]) })
    await kit.serve(give(given, 'strip'), async (live) => {
      assert.deepEqual((await live.ask('/x')).json(), whole)
      assert.deepEqual((await live.ask('/x')).json(), whole)
    })
  })

  test('an error’s data is what its schema says', async () => {
    const app = kit.app({ undeclaredProperties: 'strip' })
    app.get('/x/:id', { errors: { GONE: { status: 410, data: api.data } } }, (ctx) => {
      const data = ctx.params.id === 'bad' ? { id: 'SECRET' } : { id: 7, more: 'SECRET' }
      throw ctx.fail('GONE', data as In['data'])
    })
    await kit.serve(app, async (live) => {
      const gone = (await live.ask('/x/1')).json() as Problem & { data: unknown }
      assert.deepEqual([gone.status, gone.code, gone.data], [410, 'GONE', { id: 7 }])
      const bad = await live.ask('/x/bad')
      assert.equal(bad.status, 500)
      assert.ok(!bad.text.includes('SECRET'))
    })
  })
}

function badInput(api: Schemas): void {
  const code = (reply: { json(): unknown }) => (reply.json() as Problem).code

  test('__proto__, wherever it is', async () => {
    const app = kit.app()
    items(app, api)
    app.post('/body', { body: api.body }, (ctx) => ctx.json({ own: Object.keys(ctx.body) }))
    await kit.serve(app, async (live) => {
      const headers = { 'x-key': 'key' }
      const send = (path: string, body: string, more: Record<string, string> = {}) =>
        live.post(path, 'application/json', body, { ...headers, ...more })
      const text = JSON.stringify(good)
      assert.equal((await send('/items/__proto__', text)).status, 400)
      const query = await send('/items/1?__proto__=1&__proto__[x]=1&constructor=1&toString=1', text)
      assert.equal(query.status, 200)
      const header = await send('/items/1', text, { __proto__: 'x', cookie: '__proto__=1; constructor=1' })
      assert.equal(header.status, 200)
      for (const [inner, outer] of [
        ['{"__proto__":{"name":"ann"}', text.slice(1)],
        ['{"\\u005f_proto__":1', text.slice(1)],
      ]) {
        assert.equal(code(await send('/items/1', `${inner},${outer}`)), 'E_JSON_PROTO')
      }
      const deep = text.replace('{"city":', '{"__proto__":{"x":1},"city":')
      assert.equal(code(await send('/items/1', deep)), 'E_JSON_PROTO')
      const form = await live.post('/body', 'application/x-www-form-urlencoded', '__proto__=1&name=ann')
      assert.equal(form.status, 400)
      assert.equal(({} as Record<string, unknown>)['x'], undefined)
      assert.equal(({} as Record<string, unknown>)['name'], undefined)
    })
  })

  test('too many keys, too deep, too long', async () => {
    const app = kit.app()
    items(app, api)
    await kit.serve(app, async (live) => {
      const send = (query: string, body: string) =>
        live.post(`/items/1?${query}`, 'application/json', body, { 'x-key': 'key' })
      const text = JSON.stringify(good)
      assert.equal(code(await send('a&'.repeat(1_001), text)), 'E_QUERY_TOO_MANY_KEYS')
      const many = await send('a&'.repeat(10_000), text).catch(() => null)
      assert.ok(many === null || [400, 414, 431].includes(many.status))
      assert.equal(code(await send('', '['.repeat(100_000))), 'E_JSON_DEPTH')
      assert.equal(code(await send('', `${'['.repeat(65)}${']'.repeat(65)}`)), 'E_JSON_DEPTH')
    })
  })

  test('wrong content types are told', async () => {
    const app = kit.app()
    app.post('/x', { body: api.body }, () => 'passed')
    await kit.serve(app, async (live) => {
      const text = JSON.stringify(good)
      const plain = (await live.post('/x', 'text/plain', text)).json() as Problem
      assert.equal(plain.code, 'E_VALIDATION')
      assert.match(plain.detail as string, /read as text\/plain/)
      const form = await live.post('/x', 'application/x-www-form-urlencoded', 'name=ann')
      assert.match((form.json() as Problem).detail as string, /x-www-form-urlencoded/)
      assert.equal((await live.post('/x', 'application/xml', text)).status, 415)
      const none = (await live.post('/x', null, text)).json() as Problem
      assert.match(none.detail as string, /no Content-Type/)
      const empty = (await live.ask('/x', { method: 'POST' })).json() as Problem
      assert.match(empty.detail as string, /no body/)
    })
  })

  test('a large body, all of it wrong, is refused soon and in few words', async () => {
    const app = kit.app()
    app.post('/x', { body: api.body }, () => 'passed')
    await kit.serve(app, async (live) => {
      const bodies = [
        // ArkType takes its time for each issue, however many there are.
        { ...good, lines: Array.from({ length: 5_000 }, () => 1) },
        { ...good, lines: Array.from({ length: 2_500 }, () => ({ sku: 1 })) },
        { ...good, size: 'x'.repeat(1_000_000) },
        Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`key${at}`, 1])),
      ]
      for (const body of bodies) {
        const start = performance.now()
        const reply = await live.post('/x', 'application/json', JSON.stringify(body))
        const took = performance.now() - start
        assert.deepEqual([reply.status, code(reply)], [400, 'E_VALIDATION'])
        const { errors = [] } = reply.json() as Problem
        assert.ok(errors.length > 0 && errors.length <= 100)
        assert.ok(reply.text.length < 100_000, String(reply.text.length))
        assert.ok(took < 9_000, `${took} ms`)
      }
    })
  })
}

function misbehaving(): void {
  const own = (check: (value: unknown) => unknown): Schema =>
    ({ '~standard': { version: 1, vendor: 'own', validate: check } }) as Schema

  for (const [name, result] of Object.entries<unknown>({
    nothing: undefined,
    null: null,
    true: true,
    text: 'SECRET',
    'an empty object': {},
    'issues of undefined, without a value': { issues: undefined },
    'issues that are text': { issues: 'SECRET' },
    'issues that are an object': { issues: { message: 'SECRET' } },
  })) {
    test(`${name} in place of a result is no pass: 500, and the schema is named`, async () => {
      const app = kit.app()
      app.post('/one', { body: own(() => result) }, () => 'passed')
      app.post('/two', { query: own((value) => ({ value })), body: own(() => result) }, () => 'passed')
      app.post('/later', { body: own(async () => result) }, () => 'passed')
      const called = (check: () => unknown, path: string) =>
        procedure()
          .input(own(check))
          .rest({ method: 'POST', path })
          .mutation(() => 'passed')
      const now = called(() => result, '/procedure')
      const later = called(async () => result, '/procedure/later')
      app.register(rest(router({ now, later })))
      app.post('/reply', { response: own(() => result) }, () => 'passed')
      await kit.serve(app, async (live) => {
        for (const path of ['/one', '/two', '/later', '/reply']) {
          const reply = await live.post(path, 'application/json', '{}')
          assert.equal(reply.status, 500, path)
          const report = kit.reports.at(-1) as { code: string; message: string }
          assert.equal(report.code, 'E_BAD_SCHEMA')
          assert.ok(report.message.includes(path) && report.message.includes('"own"'), report.message)
        }
        for (const path of ['/procedure', '/procedure/later']) {
          const reply = await live.post(path, 'application/json', '{}')
          assert.equal(reply.status, 500, path)
          const report = kit.reports.at(-1) as { code: string; message: string }
          assert.equal(report.code, 'E_BAD_SCHEMA')
          assert.match(report.message, /^a procedure's input: validate of "own" gives /)
        }
      })
    })
  }

  test('issues that are not what they should be are issues all the same', async () => {
    const issues = [
      null,
      {},
      { message: 1, path: 'x' },
      { message: 'text', path: [null, { key: 'a' }, 0, Symbol('s')] },
      { message: 'm'.repeat(1_000_000) },
    ]
    const app = kit.app()
    app.post('/x', { body: own(() => ({ issues })) }, () => 'passed')
    await kit.serve(app, async (live) => {
      const reply = await live.post('/x', 'application/json', '{}')
      assert.equal(reply.status, 400)
      const { errors = [] } = reply.json() as Problem
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        ['#', '#', '#', '#/undefined/a/0/Symbol(s)', '#'],
      )
      assert.deepEqual(
        errors.map(({ detail }) => detail.length),
        [12, 12, 12, 4, 501],
      )
    })
  })

  test('falsy issues are none, as the standard says', async () => {
    const app = kit.app()
    app.post('/x', { body: own((value) => ({ value, issues: null })) }, (ctx) => ctx.json(ctx.body))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.post('/x', 'application/json', '{"a":1}')).json(), { a: 1 })
    })
  })

  test('one that throws, at once or later, is a 500 that says nothing', async () => {
    const fail = () => {
      throw new Error('SECRET')
    }
    const app = kit.app()
    app.post('/now', { body: own(fail) }, () => 'passed')
    app.post('/later', { body: own(async () => fail()) }, () => 'passed')
    app.post('/both', { query: own(async (value) => ({ value })), body: own(fail) }, () => 'passed')
    app.post('/reply', { response: own(fail) }, () => 'passed')
    app.post('/reply/later', { response: own(async () => fail()) }, () => 'passed')
    await kit.serve(app, async (live) => {
      for (const path of ['/now', '/later', '/both', '/reply', '/reply/later']) {
        const before = kit.reports.length
        const reply = await live.post(path, 'application/json', '{}')
        assert.equal(reply.status, 500, path)
        assert.ok(!reply.text.includes('SECRET'))
        assert.deepEqual(kit.reports.slice(before).map(String), ['Error: SECRET'])
      }
    })
  })

  test('one without JSON Schema checks requests and replies all the same', async () => {
    const even = own((value) =>
      (value as { n: number }).n % 2 === 0 ? { value } : { issues: [{ message: 'odd', path: ['n'] }] },
    )
    const app = kit.app()
    app.post('/x', { body: even, response: even }, (ctx) => ctx.body as object)
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.post('/x', 'application/json', '{"n":2}')).json(), { n: 2 })
      assert.equal((await live.post('/x', 'application/json', '{"n":1}')).status, 400)
    })
  })
}

function plain(): void {
  test('a tree that another schema extends by $dynamicRef is checked at every depth', async () => {
    const tree = {
      $id: 'tree',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
    }
    const strictTree = {
      $id: 'https://example.com/strict',
      $dynamicAnchor: 'node',
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: { tree },
    }
    const app = kit.app()
    app.post('/tree', { body: strictTree }, () => null)
    await kit.serve(app, async (live) => {
      const status = async (body: string) => (await live.post('/tree', 'application/json', body)).status
      assert.equal(await status('{"children":[{"data":1}]}'), 204)
      assert.equal(await status('{"daat":1}'), 400)
      assert.equal(await status('{"children":[{"children":[{"daat":1}]}]}'), 400)
    })
  })

  test('anchors that no $dynamicRef refers to do not hide faults after the first', async () => {
    const item = { $dynamicAnchor: 'node', type: 'number' }
    const app = kit.app()
    app.post('/list', { body: { type: 'object', properties: { a: item, b: item } } }, () => null)
    await kit.serve(app, async (live) => {
      const reply = await live.post('/list', 'application/json', '{"a":"x","b":"y"}')
      const { errors } = reply.json() as { errors: { pointer: string }[] }
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        ['#/a', '#/b'],
      )
    })
  })

  test('a library whose JSON Schema is rubbish checks and sends all the same', async () => {
    const rubbish: (() => unknown)[] = [
      () => ({ properties: 5 }),
      () => 'text',
      () => Promise.reject(new Error('none')),
      () => false,
    ]
    const app = kit.app({ undeclaredProperties: 'strip' })
    for (const [at, made] of rubbish.entries()) {
      const jsonSchema = { input: made, output: made }
      const validate = (value: unknown) => ({ value })
      const response = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema } }
      app.get(`/${at}`, { response: response as unknown as Schema }, () => ({ a: 1 }))
    }
    await kit.serve(app, async (live) => {
      for (const at of rubbish.keys()) assert.deepEqual((await live.ask(`/${at}`)).json(), { a: 1 })
    })
  })

  test('a definition has any name, and may be true or false', async () => {
    const names = ['User', 'Page<User>', '100%', 'a/b', 'x~y', 'ü', 'a#b', 'a b', '$x', 'a"b']
    const $defs = Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
    const properties = Object.fromEntries(
      names.map((name) => {
        const pointer = name.replaceAll('~', '~0').replaceAll('/', '~1')
        return [name, { $ref: `#/$defs/${encodeURIComponent(pointer)}` }]
      }),
    )
    const body = {
      $defs: { ...$defs, any: true, none: false },
      type: 'object',
      properties: { ...properties, any: { $ref: '#/$defs/any' }, none: { $ref: '#/$defs/none' } },
    } as unknown as Schema
    const app = kit.app({ undeclaredProperties: 'throw' })
    app.post('/x', { body, response: body }, (ctx) => ctx.body as object)
    await kit.serve(app, async (live) => {
      const ask = (value: object) => live.post('/x', 'application/json', JSON.stringify(value))
      for (const name of names) {
        assert.deepEqual((await ask({ [name]: 1, any: 'x' })).json(), { [name]: 1, any: 'x' })
        assert.equal((await ask({ [name]: 'x' })).status, 400, name)
      }
      assert.equal((await ask({ none: 1 })).status, 400)
    })
  })

  test('a mistake is refused with its route and its place', () => {
    const app = kit.app()
    const bad = (schema: object) => () => app.post('/x', { body: schema as Schema }, () => 1)
    assert.throws(bad({ type: 'object', properties: { a: { type: 'strin' } } }), {
      code: 'E_BAD_SCHEMA',
      message: /^\/x: body: #\/properties\/a\/type takes one or more of object/,
    })
    assert.throws(bad({ type: 'object', requried: ['a'] }), { message: /did you mean "required"/ })
    assert.throws(bad({ $ref: 'http://127.0.0.1:1/schema.json' }), { message: /nothing is loaded/ })
    assert.throws(
      () => app.get('/y', { response: { 200: { type: 'object', minProperties: -1 } } }, () => ({})),
      {
        message: /^GET \/y: response 200: #\/minProperties|\/y: response 200: #\/minProperties/,
      },
    )
  })

  test('names that objects inherit are no properties', async () => {
    const app = kit.app()
    const schema = {
      type: 'object',
      properties: { constructor: { type: 'string' } },
      required: ['valueOf'],
    } as const
    app.post('/x', { body: schema }, (ctx) => ctx.json(ctx.body))
    app.get('/q', { query: schema }, (ctx) => ctx.json({ ...ctx.query }))
    await kit.serve(app, async (live) => {
      assert.equal((await live.post('/x', 'application/json', '{}')).status, 400)
      assert.deepEqual((await live.post('/x', 'application/json', '{"valueOf":1}')).json(), { valueOf: 1 })
      assert.equal((await live.ask('/q')).status, 400)
      assert.deepEqual((await live.ask('/q?valueOf=1')).json(), { valueOf: '1' })
    })
  })

  test('defaults are put into a copy of what a middleware hands on', async () => {
    const held = Object.freeze({ a: 1 })
    const app = kit.app()
    const schema = { type: 'object', properties: { b: { type: 'integer', default: 2 } } } as const
    app
      .with((ctx, next) => {
        ctx.body = held
        return next()
      })
      .with(validate({ body: schema }))
      .post('/x', (ctx) => ctx.json(ctx.body))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.post('/x', 'application/json', '{}')).json(), { a: 1, b: 2 })
      assert.deepEqual(held, { a: 1 })
    })
  })

  test('a recursive body as deep as it may be, with alternatives on each level', async () => {
    const branch = (name: string) => ({
      type: 'object',
      properties: { kind: { const: name }, next: { $ref: '#/$defs/node' } },
      required: ['kind'],
    })
    const tree = { $ref: '#/$defs/node', $defs: { node: { anyOf: [branch('a'), branch('b')] } } }
    const app = kit.app()
    app.post('/x', { body: tree }, () => 'passed')
    let deep: object = {}
    for (let level = 1; level < 64; level++) deep = { kind: 'b', next: deep }
    await kit.serve(app, async (live) => {
      const start = performance.now()
      assert.equal((await live.post('/x', 'application/json', JSON.stringify(deep))).status, 400)
      assert.ok(performance.now() - start < 9_000)
    })
  })
}

/** The same object, strict: what it does not name is refused by the library itself. */
const strict: Readonly<Record<string, unknown>> = {
  zod: z.strictObject({ id: z.number(), in: z.array(z.strictObject({ a: z.string() })) }),
  'zod in a union': z.union([
    z.strictObject({ key: z.string() }),
    z.strictObject({ id: z.number(), in: z.array(z.strictObject({ a: z.string() })) }),
  ]),
  valibot: v.strictObject({ id: v.number(), in: v.array(v.strictObject({ a: v.string() })) }),
  arktype: type({ '+': 'reject', id: 'number', in: type({ '+': 'reject', a: 'string' }).array() }),
  typebox: Type.Object(
    { id: Type.Number(), in: Type.Array(Type.Object({ a: Type.String() }, { additionalProperties: false })) },
    { additionalProperties: false },
  ),
  'JSON Schema': {
    type: 'object',
    properties: {
      id: { type: 'number' },
      in: {
        type: 'array',
        items: { type: 'object', properties: { a: { type: 'string' } }, unevaluatedProperties: false },
      },
    },
    unevaluatedProperties: false,
    required: ['id', 'in'],
  },
}

/** Schemas of `{ a: string }` that hand on whole what they are given. */
const passedOn: Readonly<Record<string, unknown>> = {
  'an intersection of Zod': z.object({ a: z.string() }).and(z.custom(() => true)),
  'an intersection of Zod, deep': z.object({
    a: z.string(),
    in: z.object({ a: z.string() }).and(z.custom(() => true)),
  }),
  'an intersection of Valibot': v.intersect([v.object({ a: v.string() }), v.looseObject({})]),
  'a pipe of ArkType': type({ a: 'string', 'in?': { a: 'string' } }).pipe((given) => given),
  'a pipe of ArkType, deep': type({ a: 'string', in: type({ a: 'string' }).pipe((given) => given) }),
}

function goingOut(): void {
  const give = (schema: unknown, given: unknown, mode: 'strip' | 'throw'): App => {
    const app = kit.app({ undeclaredProperties: mode })
    app.get('/x', { response: schema as Schema }, () => given)
    return app
  }
  const report = () => kit.reports.at(-1) as { code: string; message: string }

  for (const [name, schema] of Object.entries(strict)) {
    test(`a strict object of ${name}: left out in production, told in development`, async () => {
      const given = { id: 1, in: [{ a: 'x', SECRET: 1 }], SECRET: { at: 1 } }
      await kit.serve(give(schema, given, 'strip'), async (live) => {
        assert.deepEqual((await live.ask('/x')).json(), { id: 1, in: [{ a: 'x' }] })
      })
      await kit.serve(give(schema, given, 'throw'), async (live) => {
        assert.equal((await live.ask('/x')).status, 500)
        assert.equal(report().code, 'E_RESPONSE_UNDECLARED')
      })
    })
  }

  for (const [name, schema] of Object.entries(passedOn)) {
    test(`${name} sends no more than was declared`, async () => {
      const given = { a: 'x', in: { a: 'y', SECRET: 1 }, SECRET: 1 }
      await kit.serve(give(schema, given, 'strip'), async (live) => {
        const { status, text } = await live.ask('/x')
        assert.deepEqual([status, text.includes('SECRET')], [200, false], text)
        assert.ok(text.includes('"a":"x"'), text)
      })
    })
  }

  const properties = { id: { type: 'number' }, name: { type: 'string' } }
  const user = { type: 'object', properties, required: ['id', 'name'] }
  const closed = { ...user, additionalProperties: false }
  const users: Readonly<Record<string, unknown>> = {
    'plain JSON Schema': user,
    'plain JSON Schema that is closed': closed,
    typebox: Type.Object({ id: Type.Number(), name: Type.String() }),
    arktype: type({ id: 'number', name: 'string' }),
  }
  for (const [name, schema] of Object.entries(users)) {
    test(`${name} is asked about what toJSON makes, and that is sent`, async () => {
      class Entity {
        readonly #made: unknown
        readonly id = 1
        readonly name = 'a'
        constructor(made: unknown) {
          this.#made = made
        }
        toJSON(): unknown {
          return this.#made
        }
      }
      for (const mode of ['strip', 'throw'] as const) {
        await kit.serve(give(schema, new Entity({ id: 2, name: 'b' }), mode), async (live) => {
          assert.deepEqual((await live.ask('/x')).json(), { id: 2, name: 'b' })
        })
        await kit.serve(give(schema, new Entity({ id: 2, name: { ssn: 'SECRET' } }), mode), async (live) => {
          const reply = await live.ask('/x')
          assert.deepEqual([reply.status, reply.text.includes('SECRET')], [500, false])
          assert.equal(report().code, 'E_RESPONSE_INVALID')
        })
      }
    })
  }

  test('getters of a class are not sent, so plain JSON Schema does not see them', async () => {
    class Row {
      readonly name = 'a'
      get id(): number {
        return 1
      }
    }
    await kit.serve(give(user, new Row(), 'strip'), async (live) => {
      assert.equal((await live.ask('/x')).status, 500)
      assert.match(report().message, /#\/id: is required/)
    })
  })

  test('plain JSON Schema sees what JSON writes: dates as text, NaN as null, nothing where there is nothing', async () => {
    const schema = {
      type: 'object',
      properties: {
        at: { type: 'string', format: 'date-time' },
        n: { type: ['number', 'null'] },
        gone: { type: 'string' },
        list: { type: 'array', items: { type: ['string', 'null'] } },
        boxed: { type: 'string' },
      },
      required: ['at', 'n'],
      additionalProperties: false,
    }
    const at = new Date(0)
    const given = { at, n: Number.NaN, gone: undefined, list: [undefined, 'x'], boxed: Object('s') as string }
    for (const mode of ['strip', 'throw'] as const) {
      await kit.serve(give(schema, { ...given, no: undefined, f: () => 1 }, mode), async (live) => {
        const sent = { at: at.toISOString(), n: null, list: [null, 'x'], boxed: 's' }
        assert.deepEqual((await live.ask('/x')).json(), sent)
      })
    }
    await kit.serve(give({ type: 'number' }, Number.NaN, 'strip'), async (live) => {
      assert.equal((await live.ask('/x')).status, 500)
      assert.equal(report().code, 'E_RESPONSE_INVALID')
    })
  })

  const One: Readonly<Record<string, unknown>> = {
    zod: z.object({ a: z.number() }),
    valibot: v.object({ a: v.number() }),
    arktype: type({ a: 'number' }),
    typebox: Type.Object({ a: Type.Number() }),
    'plain JSON Schema': { type: 'object', properties: { a: { type: 'number' } } },
    'strict JSON Schema': {
      type: 'object',
      properties: { a: { type: 'number' } },
      additionalProperties: false,
    },
  }
  for (const [name, schema] of Object.entries(One)) {
    test(`${name}: what JSON cannot say is of no concern where it is not declared`, async () => {
      const cycle: Record<string, unknown> = { a: 1 }
      cycle['self'] = { list: [cycle] }
      let deep: object = {}
      for (let level = 0; level < 100_000; level++) deep = { next: deep }
      for (const value of [cycle, { a: 1, zz: 10n }, { a: 1, deep }]) {
        await kit.serve(give(schema, value, 'strip'), async (live) => {
          const reply = await live.ask('/x')
          assert.deepEqual([reply.status, reply.text], [200, '{"a":1}'])
        })
        await kit.serve(give(schema, value, 'throw'), async (live) => {
          assert.equal((await live.ask('/x')).status, 500)
          assert.equal(report().code, 'E_RESPONSE_UNDECLARED')
        })
      }
    })
  }

  const Node: z.ZodType = z.object({
    get next() {
      return z.optional(Node)
    },
  })
  const recursive: Readonly<Record<string, unknown>> = {
    zod: Node,
    'plain JSON Schema': { type: 'object', properties: { next: { $ref: '#' } } },
    'plain JSON Schema that says nothing': { type: 'object' },
  }
  for (const [name, schema] of Object.entries(recursive)) {
    test(`${name}: a cycle, a bigint and what is too deep are told with their place`, async () => {
      const cycle: Record<string, unknown> = {}
      cycle['next'] = { next: cycle }
      let deep: object = {}
      for (let level = 0; level < 100_000; level++) deep = { next: deep }
      for (const mode of ['strip', 'throw'] as const) {
        await kit.serve(give(schema, cycle, mode), async (live) => {
          assert.equal((await live.ask('/x')).status, 500)
          assert.equal(report().code, 'E_NOT_SERIALISABLE')
          assert.match(report().message, /a cycle at next\.next/)
        })
        await kit.serve(give(schema, deep, mode), async (live) => {
          assert.equal((await live.ask('/x')).status, 500)
          assert.equal(report().code, 'E_NOT_SERIALISABLE')
          assert.match(report().message, /nested too deeply/)
        })
      }
      if (name === 'zod') return
      await kit.serve(give(schema, { next: 1n }, 'strip'), async (live) => {
        assert.equal((await live.ask('/x')).status, 500)
        assert.match(report().message, /a BigInt at next/)
      })
    })
  }
}

for (const [library, api] of Object.entries(libraries)) {
  describe(`schemas of ${library}`, () => {
    requests(api)
    responses(api)
    badInput(api)
  })
}
describe('schemas that misbehave', misbehaving)
describe('plain JSON Schema', plain)
describe('what goes out, whatever the schema', goingOut)
