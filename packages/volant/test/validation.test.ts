import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { before, type Problem, type Schema, validate, type VolantError } from 'volant'
import * as z from 'zod'
import { Kit, stderrLines } from './kit.ts'

/** One set of schemas by each library; both are asked the same. */
const libraries = {
  zod: {
    params: z.object({ id: z.coerce.number().int() }),
    query: z.object({ limit: z.coerce.number().max(10).default(5), tag: z.array(z.string()).optional() }),
    headers: z.object({ 'x-key': z.string().min(3) }),
    cookies: z.object({ session: z.string().optional() }),
    body: z.object({ name: z.string().min(2), address: z.object({ 'a/b~c': z.string() }).optional() }),
    later: z.object({ id: z.string().refine(async (id) => id !== '0', 'taken') }),
  },
  valibot: {
    params: v.object({ id: v.pipe(v.string(), v.transform(Number), v.integer()) }),
    query: v.object({
      limit: v.optional(v.pipe(v.string(), v.transform(Number), v.maxValue(10)), '5'),
      tag: v.optional(v.array(v.string())),
    }),
    headers: v.object({ 'x-key': v.pipe(v.string(), v.minLength(3)) }),
    cookies: v.object({ session: v.optional(v.string()) }),
    body: v.object({
      name: v.pipe(v.string(), v.minLength(2)),
      address: v.optional(v.object({ 'a/b~c': v.string() })),
    }),
    later: v.objectAsync({
      id: v.pipeAsync(
        v.string(),
        v.checkAsync(async (id) => id !== '0', 'taken'),
      ),
    }),
  },
}

const kit = new Kit()

for (const [library, schemas] of Object.entries(libraries) as [string, (typeof libraries)['zod']][]) {
  const { params, query, headers, cookies, body, later } = schemas
  describe(`validation with ${library}`, () => {
    test('one text is a list of one where the schema has a list', async () => {
      const app = kit.app()
      app.get('/search', { query }, (ctx) => ctx.query)
      app.get('/middleware', validate({ query }), (ctx) => ctx.query)
      await kit.serve(app, async (live) => {
        for (const path of ['/search', '/middleware']) {
          assert.deepEqual((await live.ask(`${path}?tag=a`)).json(), { limit: 5, tag: ['a'] })
          assert.deepEqual((await live.ask(`${path}?tag=a&tag=b`)).json(), { limit: 5, tag: ['a', 'b'] })
          assert.deepEqual((await live.ask(path)).json(), { limit: 5 })
          const { errors } = (await live.ask(`${path}?tag=a&limit=99`)).json() as Problem
          assert.deepEqual(
            errors?.map(({ pointer }) => pointer),
            ['#/limit'],
          )
        }
      })
    })

    test('handlers see what the schemas made of every part', async () => {
      const app = kit.app()
      app.post('/options/:id', { params, query, headers, cookies, body }, (ctx) => ({
        id: ctx.params.id + 1,
        limit: ctx.query.limit + 1,
        tag: ctx.query.tag,
        key: ctx.headers['x-key'],
        session: ctx.cookies.session,
        name: ctx.body.name,
      }))
      app.post('/middleware/:id', validate({ params, query, headers, cookies, body }), (ctx) => ({
        id: ctx.params.id + 1,
        limit: ctx.query.limit + 1,
        tag: ctx.query.tag,
        key: ctx.headers['x-key'],
        session: ctx.cookies.session,
        name: ctx.body.name,
      }))
      await kit.serve(app, async (live) => {
        for (const path of ['/options', '/middleware']) {
          const reply = await live.post(
            `${path}/6?tag=a&tag=b`,
            'application/json',
            '{"name":"ann","more":1}',
            {
              'x-key': 'key',
              cookie: 'session=s; other=o',
            },
          )
          assert.equal(reply.status, 200)
          assert.deepEqual(reply.json(), {
            id: 7,
            limit: 6,
            tag: ['a', 'b'],
            key: 'key',
            session: 's',
            name: 'ann',
          })
        }
      })
    })

    test('everything that is wrong is told in one 400', async () => {
      const app = kit.app()
      let ran = 0
      app.post('/x/:id', { params, query, headers, body }, () => ++ran)
      await kit.serve(app, async (live) => {
        const reply = await live.post('/x/1.5?limit=11', 'application/json', '{"name":"a","address":{}}')
        assert.equal(reply.status, 400)
        assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
        const problem = reply.json() as Problem
        assert.equal(problem.code, 'E_VALIDATION')
        assert.deepEqual(
          problem.errors?.map((issue) => `${issue.in} ${issue.pointer}`),
          ['params #/id', 'query #/limit', 'headers #/x-key', 'body #/name', 'body #/address/a~1b~0c'],
        )
        assert.ok(problem.errors?.every(({ detail }) => detail.length > 0))
      })
      assert.equal(ran, 0)
    })

    test('without a body the schema sees undefined; a malformed one is 400 by itself', async () => {
      const app = kit.app()
      app.post('/x', { body }, (ctx) => ctx.body.name)
      await kit.serve(app, async (live) => {
        const none = await live.ask('/x', { method: 'POST' })
        assert.equal(none.status, 400)
        assert.deepEqual((none.json() as Problem).errors?.[0]?.pointer, '#')
        assert.equal(
          ((await live.post('/x', 'application/json', '{')).json() as Problem).code,
          'E_BODY_MALFORMED',
        )
        assert.equal((await live.post('/x', 'text/csv-nope', 'x')).status, 400)
        assert.equal((await live.post('/x', 'image/png', 'x')).status, 415)
      })
    })

    test('asynchronous schemas', async () => {
      const app = kit.app()
      app.get('/one/:id', { params: later }, (ctx) => ctx.params.id)
      app.get('/two/:id', validate({ params: later, query }), (ctx) => `${ctx.params.id} ${ctx.query.limit}`)
      app.get('/three/:id', { params: later, query, headers }, () => 'never')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/one/1')).text, '1')
        assert.equal((await live.ask('/one/0')).status, 400)
        assert.equal((await live.ask('/two/1')).text, '1 5')
        const reply = (await live.ask('/three/0?limit=99')).json() as Problem
        assert.deepEqual(
          reply.errors?.map((issue) => `${issue.in} ${issue.pointer}`),
          ['params #/id', 'query #/limit', 'headers #/x-key'],
        )
      })
    })

    test('schemas of a scope are for all its routes', async () => {
      const app = kit.app()
      const scope = app.with(validate({ query }))
      scope.get('/x', (ctx) => ctx.query.limit + 1)
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).text, '6')
        assert.equal((await live.ask('/x?limit=12')).status, 400)
      })
    })
  })
}

describe('validation', () => {
  test('a schema of a scope leaves the other parameters of its routes to them', async () => {
    const app = kit.app()
    app.group('/:tenant', (tenant) => {
      const checked = tenant.with(validate({ params: z.object({ tenant: z.coerce.number() }) }))
      checked.get('/:id', (ctx) => ctx.json(ctx.params))
      checked.get('/', (ctx) => ctx.json(ctx.params))
    })
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/7/x')).json(), { tenant: 7, id: 'x' })
      assert.deepEqual((await live.ask('/7')).json(), { tenant: 7 })
      assert.equal((await live.ask('/x/x')).status, 400)
    })
  })

  test('an error page of the app gets the issues', async () => {
    const app = kit.app()
    app.onError((error, ctx) => {
      const { issues } = error as { issues?: readonly unknown[] }
      ctx.json({ count: issues?.length }, ctx.status())
    })
    app.get('/x', { query: z.object({ a: z.string(), b: z.string() }) }, () => 1)
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x')
      assert.equal(reply.status, 400)
      assert.deepEqual(reply.json(), { count: 2 })
    })
  })

  test('hostile keys: no prototype is touched, odd keys make a pointer, issues are bounded', async () => {
    const app = kit.app()
    app.get('/q', { query: z.looseObject({}) }, (ctx) => ({
      own: Object.keys(ctx.query),
      polluted: ({} as Record<string, unknown>)['x'] ?? null,
    }))
    app.post('/b', { body: z.record(z.string(), z.number()) }, () => 1)
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/q?__proto__=1&constructor=2&x=3')
      assert.equal((reply.json() as { polluted: unknown }).polluted, null)
      const odd = await live.post('/b', 'application/json', '{"\\ud800":"x","é/~":"y"}')
      assert.deepEqual(
        (odd.json() as Problem).errors?.map(({ pointer }) => pointer),
        ['#/%EF%BF%BD', '#/%C3%A9~1~0'],
      )
      const many = JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, 'x'])))
      assert.equal(((await live.post('/b', 'application/json', many)).json() as Problem).errors?.length, 100)
    })
  })

  test('a megabyte of faults is one 400, and no more of them are looked for than are told', async () => {
    const app = kit.app()
    let told = 0
    const error = (): string => {
      told++
      return 'is wrong'
    }
    app.post('/zod', { body: z.array(z.string({ error })) }, () => 1)
    app.post('/valibot', { body: v.array(v.string(error)) }, () => 1)
    app.post('/arktype', { body: type('string[]') }, () => 1)
    app.post('/json', { body: { type: 'array', items: { type: 'string' } } }, () => 1)
    app.post('/nested', { body: z.array(z.array(z.number().min(5))) }, () => 1)
    const many = `[${Array.from({ length: 524_000 }, () => '1').join()}]`
    await kit.serve(app, async (live) => {
      for (const [path, body] of [
        ['/zod', many],
        ['/valibot', many],
        ['/arktype', many],
        ['/json', many],
        // More issues of one list than a call has arguments.
        ['/nested', `[${many}]`],
      ] as const) {
        const reply = await live.post(path, 'application/json', body)
        const { code, errors = [] } = reply.json() as Problem
        assert.deepEqual([reply.status, code], [400, 'E_VALIDATION'], path)
        assert.ok(errors.length > 0 && errors.length <= 100, `${path}: ${errors.length}`)
      }
    })
    assert.ok(told > 0 && told <= 200, `${told} messages made`)
  })

  test('a schema that no text fits is named once, by the first request that it refuses for that', async () => {
    const app = kit.app()
    const Page = z.object({ n: z.number(), size: z.coerce.number<number>().max(5).optional() })
    app.get('/page', { query: Page }, () => 'ok')
    app.get('/list', { query: z.object({ ids: z.array(z.number()) }) }, () => 'ok')
    const since = z.iso.datetime().pipe(z.coerce.date())
    app.get('/zod', { query: z.object({ d: z.date(), b: z.array(z.bigint()), since }) }, () => 'ok')
    app.get('/arktype', { query: type({ d: 'Date', since: 'string.date.iso.parse' }) }, () => 'ok')
    app.get('/valibot', { query: v.object({ d: v.date() }) }, () => 'ok')
    const first = before((ctx) => void Object.assign(ctx.query, { n: 1 }))
    app.get('/converted', { query: z.object({ n: z.number().max(0) }) }, first, () => 'ok')
    const statusOf = async (url: string): Promise<number> => (await app.inject(url)).status
    const said = await stderrLines(async () => {
      // Neither is for want of another schema.
      assert.equal(await statusOf('/page?size=9'), 400)
      assert.equal(await statusOf('/converted'), 400)
      const date = '2026-01-02T03:04:05Z'
      const dates = ['zod', 'arktype', 'valibot'].map((name) => `/${name}?d=${date}&b=1&since=${date}`)
      for (const url of ['/page?n=1', '/page?n=2', '/list?ids=1', '/list?ids=1&ids=2', ...dates, ...dates])
        assert.equal(await statusOf(url), 400)
    })
    const refused = 'but it comes as text: every request that has it is refused. Write'
    assert.deepEqual(said, [
      `volant: /page: query: "n" is of type number, ${refused} z.coerce.number<number>()`,
      `volant: /list: query: "ids" is of type number, ${refused} z.coerce.number<number>()`,
      `volant: /zod: query: "d" is of type date, ${refused} z.iso.datetime().pipe(z.coerce.date())`,
      `volant: /zod: query: "b" is of type bigint, ${refused} z.string().regex(/^-?\\d+$/).transform(BigInt)`,
      `volant: /arktype: query: "d" is of type date, ${refused} 'string.date.iso.parse'`,
      `volant: /valibot: query: "d" is of type date, ${refused} v.pipe(v.string(), v.isoTimestamp(), v.toDate())`,
    ])
  })

  describe('a body that asks for a file', () => {
    const Photo = z.file()
    for (const [name, body, pointer] of [
      ['z.file()', Photo, '#'],
      [
        'a property, with its place',
        z.object({ 'a/b': z.object({ photo: Photo.optional() }) }),
        '#/a~1b/photo',
      ],
      ['an extended object', z.object({ a: z.string() }).extend({ photo: z.instanceof(File) }), '#/photo'],
      ['items', z.array(z.instanceof(Blob)).max(3).nullable(), '#/*'],
      ['a choice of files', z.union([z.file().min(5), z.tuple([z.file()])]), '#'],
      ['Valibot', v.object({ photo: v.optional(v.pipe(v.file(), v.maxSize(5))) }), '#/photo'],
      ['Valibot, an instance', v.array(v.instance(File)), '#/*'],
      ['ArkType', type({ photo: 'File' }), '#'],
    ] as const) {
      test(`is refused with the route and what to write: ${name}`, () => {
        const app = kit.app()
        for (const [register, where] of [
          [() => app.post('/photos/:id', { body: body as never }, () => 1), '/photos/:id: body'],
          [() => validate({ body: body as never }), 'validate: body'],
        ] as const) {
          assert.throws(register, ({ code, message }: VolantError) => {
            assert.equal(code, 'E_BAD_SCHEMA')
            assert.ok(message.startsWith(`${where}: ${pointer} is a file, `), message)
            assert.match(message, /consumes: 'multipart\/form-data'/)
            return true
          })
        }
      })
    }

    test('is fine where something else will do, and nothing lazy is asked', async () => {
      const asked = (): never => assert.fail('a getter was asked')
      const Tree = z.object({
        name: z.string(),
        get kids(): z.ZodArray<typeof Tree> {
          return asked()
        },
      })
      const app = kit.app()
      app.post('/tree', { body: Tree }, () => 1)
      app.post('/lazy', { body: z.object({ x: z.lazy(asked) }) }, () => 1)
      app.post('/either', { body: z.object({ x: z.union([z.file(), z.string()]) }) }, () => 'ok')
      app.post('/type', { body: type({ x: 'File | string' }) }, () => 'ok')
      for (const path of ['/either', '/type'])
        assert.equal((await app.inject({ method: 'POST', url: path, body: { x: 'y' } })).status, 200)
    })

    test('the way that the message names works', async () => {
      const app = kit.app()
      const body = z.object({ photo: z.file() })
      app.post('/photos', { consumes: 'multipart/form-data', body }, ({ body: { photo } }) => {
        return { name: photo.name, size: photo.size }
      })
      const form = new FormData()
      form.append('photo', new File(['12345'], 'a.png'))
      const request = new Request('http://localhost/photos', { method: 'POST', body: form })
      const reply = await app.inject({
        method: 'POST',
        url: '/photos',
        headers: { 'content-type': request.headers.get('content-type') as string },
        body: Buffer.from(await request.arrayBuffer()),
      })
      assert.deepEqual([reply.status, reply.json()], [200, { name: 'a.png', size: 5 }])
    })
  })

  test('what is no schema is refused with the route and the part', () => {
    const app = kit.app()
    assert.throws(() => app.get('/x', { query: { kind: 'object' } as never }, () => 1), {
      code: 'E_BAD_SCHEMA',
      message: /\/x: query takes a schema with '~standard'.*kind/,
    })
    for (const [properties, hint] of [
      [{ a: z.string() }, /: write z\.object\(\{ a: … \}\)$/],
      [{ a: v.string(), b: v.string() }, /with a, b: write v\.object\(\{ a: … \}\)$/],
      [{ a: { type: 'string' } }, /: write \{ type: 'object', properties: \{ a: … \} \}$/],
      [{ a: { '~standard': { vendor: 'other' } } }, /: make one schema of \{ a: … \}$/],
      [{ a: 1 }, /not an object with a$/],
    ] as const) {
      const refused = { code: 'E_BAD_SCHEMA', message: hint }
      assert.throws(() => app.get('/x', { body: properties as never }, () => 1), refused)
    }
    assert.throws(() => app.get('/x', { body: null as never }, () => 1), { code: 'E_BAD_SCHEMA' })
    assert.throws(() => validate({ body: 'string' as never }), {
      code: 'E_BAD_SCHEMA',
      message: /validate: body/,
    })
    assert.throws(() => validate({ boby: z.string() } as never), {
      code: 'E_BAD_OPTION',
      message: /validate has no option "boby"; did you mean "body"\?/,
    })
    assert.throws(() => validate(null as never), { code: 'E_BAD_OPTION' })
    assert.throws(() => app.post('/x', { body: z.string(), bodyMode: 'stream' }, () => 1), {
      code: 'E_BAD_OPTION',
      message: /\/x: a body schema is for buffered/,
    })
  })

  test('a schema that throws is a 500 and is reported', async () => {
    const app = kit.app()
    app.get(
      '/x',
      {
        query: z.unknown().transform(() => {
          throw new Error('broken schema')
        }),
      },
      () => 1,
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).status, 500)
    })
    assert.match(String(kit.reports.at(-1)), /broken schema/)
  })

  test('beforeBody comes before the schemas, they before the route’s middleware', async () => {
    const app = kit.app()
    const order: string[] = []
    app.post(
      '/x',
      {
        beforeBody: () => void order.push('beforeBody'),
        body: z.string().transform((text) => {
          order.push('schema')
          return text
        }),
      },
      (_, next) => {
        order.push('middleware')
        return next()
      },
      (ctx) => ctx.body.length,
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.post('/x', 'text/plain', 'abc')).text, '3')
    })
    assert.deepEqual(order, ['beforeBody', 'schema', 'middleware'])
  })
})

describe('limits of a route', () => {
  test('its own query, form and JSON limits', async () => {
    const app = kit.app()
    app.get('/q', { maxQueryKeys: 2 }, (ctx) => Object.keys(ctx.query).length)
    app.post('/f', { maxFormKeys: 1, maxJsonDepth: 2 }, (ctx) => ctx.body as object)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/q?a=1&b=2')).text, '2')
      assert.equal((await live.ask('/q?a=1&b=2&c=3')).status, 400)
      const form = 'application/x-www-form-urlencoded'
      assert.equal((await live.post('/f', form, 'a=1')).status, 200)
      assert.equal((await live.post('/f', form, 'a=1&b=2')).status, 400)
      assert.equal((await live.post('/f', 'application/json', '[[]]')).status, 200)
      assert.equal((await live.post('/f', 'application/json', '[[[]]]')).status, 400)
    })
  })

  test('its own handlerTimeout: 503, the signal, and a late reply that nobody sees', async () => {
    const app = kit.app()
    const late: { aborted?: boolean; threw?: unknown } = {}
    let done!: () => void
    const finished = new Promise<void>((resolve) => {
      done = resolve
    })
    app.get('/slow', { handlerTimeout: 30 }, async (ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      late.aborted = ctx.signal.aborted
      try {
        ctx.json({ late: true })
      } catch (error) {
        late.threw = error
      }
      done()
    })
    app.get('/quick', { handlerTimeout: 1_000 }, async () => 'quick')
    await kit.serve(app, async (live) => {
      const reports = kit.reports.length
      const reply = await live.ask('/slow')
      assert.equal(reply.status, 503)
      assert.equal((reply.json() as Problem).code, 'E_HANDLER_TIMEOUT')
      await finished
      assert.deepEqual(late, { aborted: true })
      assert.equal((await live.ask('/quick')).text, 'quick')
      assert.equal(kit.reports.length, reports)
    })
  })

  test('past its own handlerTimeout only the 503 is sent, and work that stops is no news', async () => {
    const app = kit.app()
    app.get('/replies', { handlerTimeout: 20 }, (ctx) => {
      ctx.signal.addEventListener('abort', () => ctx.text('mine'))
      return new Promise(() => {})
    })
    app.get(
      '/stops',
      { handlerTimeout: 20 },
      (ctx) =>
        new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
    )
    await kit.serve(app, async (live) => {
      const reports = kit.reports.length
      for (const path of ['/replies', '/stops']) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 503)
        assert.equal((reply.json() as Problem).code, 'E_HANDLER_TIMEOUT')
      }
      assert.equal(kit.reports.length, reports)
    })
  })

  test('a result that is any thenable is waited for; issues without a member are a failure', async () => {
    const schema = (check: (value: unknown) => unknown): Schema =>
      ({ '~standard': { version: 1, vendor: 'test', validate: check } }) as Schema
    // oxlint-disable-next-line unicorn/no-thenable -- that is the case
    const later = (result: unknown) => ({ then: (go: (value: unknown) => void) => go(result) })
    const good = schema((value) => later({ value: { checked: value } }))
    const bad = schema(() => later({ issues: [{ message: 'no' }] }))
    const silent = schema(() => Promise.resolve({ issues: [] }))
    const app = kit.app()
    app.post('/good', { body: good }, (ctx) => ctx.json(ctx.body))
    app.post('/good/all', { query: good, body: good }, (ctx) => ctx.json(ctx.body))
    app.post('/bad', { body: bad }, () => 'passed')
    app.post('/bad/all', { query: good, body: bad }, () => 'passed')
    app.post('/silent', { body: silent }, () => 'passed')
    app.post('/silent/all', { query: good, body: silent }, () => 'passed')
    await kit.serve(app, async (live) => {
      for (const path of ['/good', '/good/all', '/bad', '/bad/all', '/silent', '/silent/all']) {
        const reply = await live.post(path, 'application/json', '{"a":1}')
        if (path.startsWith('/good')) assert.deepEqual(reply.json(), { checked: { a: 1 } })
        else assert.equal(reply.status, 400, path)
      }
    })
  })

  test('the 503 of its handlerTimeout goes through onError', async () => {
    const app = kit.app()
    app.onError((error, ctx) => ctx.json({ code: (error as { code?: string }).code }, 504))
    app.get('/slow', { handlerTimeout: 20 }, () => new Promise(() => {}))
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/slow')
      assert.equal(reply.status, 504)
      assert.deepEqual(reply.json(), { code: 'E_HANDLER_TIMEOUT' })
    })
  })

  test('values that make no sense are refused', () => {
    const app = kit.app({ limits: { handlerTimeout: 1_000 } })
    for (const options of [
      { maxQueryKeys: -1 },
      { maxJsonDepth: Number.NaN },
      { handlerTimeout: '5' as never },
    ]) {
      assert.throws(() => app.get('/x', options, () => 1), {
        code: 'E_BAD_OPTION',
        message: new RegExp(Object.keys(options)[0] as string),
      })
    }
    assert.throws(() => app.get('/x', { handlerTimeout: 2_000 }, () => 1), {
      message: /limits\.handlerTimeout/,
    })
    assert.throws(() => app.get('/x', { handlerTimeout: 0 }, () => 1), {
      message: /limits\.handlerTimeout/,
    })
  })
})
