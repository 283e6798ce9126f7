/** What a route declares of its replies and errors holds, whatever its handler gives. Long: a case for each whatever. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { before, contract, middleware, type Problem, validate, VolantError } from 'volant'
import { createClient } from 'volant/client'
import { clientFile } from 'volant/generate'
import { procedure } from 'volant/procedures'
import * as z from 'zod'
import { Kit } from './kit.ts'

const User = z.object({ id: z.number().int(), name: z.string() })

const kit = new Kit()

const reported = (code: string, message: RegExp): void => {
  const error = kit.reports.at(-1)
  assert.ok(error instanceof VolantError, String(error))
  assert.equal(error.code, code)
  assert.match(error.message, message)
}

describe('declared replies', () => {
  test('a returned value is checked, and what the schema makes of it is sent', async () => {
    const app = kit.app()
    const response = z.object({
      at: z.date().transform((at) => at.getTime()),
      name: z.string().default('none'),
    })
    app.get('/now', { response }, () => ({ at: new Date(5) }))
    app.get('/later', { response }, async () => ({ at: new Date(6), name: 'x' }))
    app.get('/text', { response: z.string() }, () => 'plain')
    app.get('/list', { response: z.array(User) }, () => [{ id: 1, name: 'a' }])
    app.get('/null', { response: User.nullable() }, () => null)
    app.get('/number', { response: z.number() }, () => 5)
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/now')).json(), { at: 5, name: 'none' })
      assert.deepEqual((await live.ask('/later')).json(), { at: 6, name: 'x' })
      const text = await live.ask('/text')
      assert.equal(text.text, 'plain')
      assert.equal(text.headers['content-type'], 'text/plain; charset=utf-8')
      assert.deepEqual((await live.ask('/list')).json(), [{ id: 1, name: 'a' }])
      const none = await live.ask('/null')
      assert.equal(none.status, 200)
      assert.equal(none.text, 'null')
      assert.equal((await live.ask('/number')).text, '5')
    })
  })

  test('a value the schema rejects is 500, told without the value', async () => {
    const app = kit.app()
    app.get('/zod', { response: User }, () => ({ id: 1, name: 7070 }) as never)
    app.get('/valibot', { response: v.object({ name: v.pipe(v.string(), v.email()) }) }, () => ({
      name: 'secret',
    }))
    app.get('/limits', { response: z.object({ n: z.number().max(5), e: z.email() }) }, () => ({
      n: 7070,
      e: 'secret',
    }))
    app.get('/ark', { response: type({ n: 'number<=5', k: "'a'|'b'" }) }, () => ({
      n: 7070,
      k: 'secret' as 'a',
    }))
    app.get('/later', { response: User }, async () => 'secret' as never)
    app.get('/nothing', { response: User }, () => undefined as never)
    app.get('/json', { response: User }, (ctx) => ctx.json({ id: 'secret' } as never))
    app.get('/bad', { response: User }, (ctx) => ctx.reply(200, { id: 'secret' } as never))
    await kit.serve(app, async (live) => {
      for (const [path, code, message] of [
        [
          '/zod',
          'E_RESPONSE_INVALID',
          /^the reply of GET \/zod with status 200 is not what its schema says: #\/name: /,
        ],
        ['/valibot', 'E_RESPONSE_INVALID', /#\/name: email$/],
        ['/limits', 'E_RESPONSE_INVALID', /#\/n: too_big, at most 5; #\/e: invalid_format, email$/],
        ['/ark', 'E_RESPONSE_INVALID', /#\/k: expected "a" or "b"; #\/n: expected at most 5$/],
        ['/later', 'E_RESPONSE_INVALID', /: #: /],
        [
          '/nothing',
          'E_RESPONSE_STATUS',
          /^GET \/nothing declares a value for status 200 and replied with none$/,
        ],
        ['/json', 'E_RESPONSE_INVALID', /#\/id: /],
        ['/bad', 'E_RESPONSE_INVALID', /#\/id: /],
      ] as const) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 500, path)
        assert.deepEqual(reply.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
        reported(code, message)
        assert.doesNotMatch(String(kit.reports.at(-1)), /secret|7070/, path)
      }
    })
  })

  test('properties a schema does not name are not sent in production, and an error in development', async () => {
    const response = { 200: z.object({ user: User }), 201: z.object({ id: z.number() }) }
    const value = { user: { id: 1, name: 'a', hash: 'secret' } }
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      app.get('/nested', { response }, () => value)
      app.get('/imperative', { response }, (ctx) =>
        ctx.json({ id: 2, hash: 'secret' } as { id: number }, 201),
      )
      app.get('/rows', { response: z.array(User) }, () => [
        { id: 1, name: 'a' },
        { id: 2, name: 'b', hash: 'secret', salt: 'secret' },
        { id: 3, name: 'c', hash: 'secret', 'a/b': 'secret' },
      ])
      app.get('/open', { response: z.looseObject({ id: z.number() }) }, () => ({ id: 1, more: true }))
      app.get('/long', { response: User }, () => ({ id: 1, name: 'a', ['k'.repeat(9000)]: 1 }))
      app.get('/undeclared', () => value)
      await kit.serve(app, async (live) => {
        const nested = await live.ask('/nested')
        const imperative = await live.ask('/imperative')
        if (undeclaredProperties === 'strip') {
          assert.equal(nested.text, '{"user":{"id":1,"name":"a"}}')
          assert.equal(imperative.text, '{"id":2}')
        } else {
          assert.equal(nested.status, 500)
          assert.equal(imperative.status, 500)
          await live.ask('/nested')
          reported('E_RESPONSE_UNDECLARED', /does not declare #\/user\/hash: declare it, or leave it out; /)
          assert.equal((await live.ask('/rows')).status, 500)
          reported(
            'E_RESPONSE_UNDECLARED',
            /does not declare #\/1\/hash, #\/1\/salt, #\/2\/a~1b: declare them, or leave them out; in production they would not be sent$/,
          )
          assert.equal((await live.ask('/long')).status, 500)
          reported('E_RESPONSE_UNDECLARED', /does not declare #\/k{199}…: declare it/)
        }
        assert.deepEqual((await live.ask('/open')).json(), { id: 1, more: true })
        assert.deepEqual((await live.ask('/undeclared')).json(), value)
      })
    }
  })

  test('what a schema declares under a condition is sent where that holds', async () => {
    const dependent = {
      type: 'object',
      properties: { id: { type: 'integer' }, card: { type: 'string' } },
      dependentSchemas: { card: { properties: { holder: { type: 'string' } } } },
    } as const
    const older = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { id: { type: 'integer' }, card: { type: 'string' } },
      dependencies: { card: { properties: { holder: { type: 'string' } } } },
    } as const
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      for (const [name, response] of Object.entries({ dependent, older })) {
        app.get(`/${name}/with`, { response }, () => ({ id: 1, card: 'c', holder: 'h' }) as never)
        app.get(`/${name}/without`, { response }, () => ({ id: 1, holder: 'SECRET' }) as never)
      }
      await kit.serve(app, async (live) => {
        for (const name of ['dependent', 'older']) {
          assert.equal((await live.ask(`/${name}/with`)).text, '{"id":1,"card":"c","holder":"h"}')
          const without = await live.ask(`/${name}/without`)
          if (undeclaredProperties === 'strip') assert.equal(without.text, '{"id":1}')
          else {
            assert.equal(without.status, 500)
            reported('E_RESPONSE_UNDECLARED', /does not declare #\/holder: /)
          }
        }
      })
    }
  })

  test('an intersection with an object that lets others through sends them, in both modes', async () => {
    const closed = z.object({ a: z.number() })
    const open = z.looseObject({ b: z.number() })
    const sent: Record<string, z.ZodType> = {
      right: z.intersection(closed, open),
      left: open.and(closed),
      inside: z.intersection(z.intersection(closed, open), z.object({ c: z.number() })),
      union: closed.and(z.union([open, z.looseObject({ d: z.string() })])),
    }
    const value = { a: 1, b: 2, c: 3, more: 4 }
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      for (const [name, response] of Object.entries(sent)) app.get(`/${name}`, { response }, () => value)
      app.get('/closed', { response: closed.and(z.object({ b: z.number() })) }, () => value)
      await kit.serve(app, async (live) => {
        for (const name of Object.keys(sent)) {
          const reply = await live.ask(`/${name}`)
          assert.deepEqual([reply.status, reply.json()], [200, value], `${undeclaredProperties} ${name}`)
        }
        const reply = await live.ask('/closed')
        if (undeclaredProperties === 'strip') assert.deepEqual(reply.json(), { a: 1, b: 2 })
        else reported('E_RESPONSE_UNDECLARED', /does not declare #\/c, #\/more: /)
      })
    }
  })

  test('statuses: the declared ones, with content or without', async () => {
    const app = kit.app()
    const response = { 200: User, 202: null, 204: null, 409: z.object({ taken: z.string() }) }
    app.post('/one', { response }, (ctx) => ctx.reply(200, { id: 1, name: 'a' }))
    app.post('/two', { response }, (ctx) => ctx.reply(202))
    app.post('/three', { response }, () => {})
    app.post('/four', { response }, async (ctx) => ctx.reply(409, { taken: 'x' }))
    app.post('/five', { response }, (ctx) => ctx.reply(201 as 202))
    app.post('/six', { response }, (ctx) => ctx.json({ id: 1, name: 'a' }, 203 as 200))
    app.post('/seven', { response: { 201: User } }, () => ({ id: 1, name: 'a' }) as never)
    app.post('/eight', { response }, (ctx) => (ctx.reply as (...args: unknown[]) => never)(202, { id: 1 }))
    await kit.serve(app, async (live) => {
      const ask = async (path: string) => live.ask(path, { method: 'POST' })
      assert.equal((await ask('/one')).status, 200)
      const two = await ask('/two')
      assert.equal(two.status, 202)
      assert.equal(two.text, '')
      assert.equal((await ask('/three')).status, 204)
      const four = await ask('/four')
      assert.equal(four.status, 409)
      assert.deepEqual(four.json(), { taken: 'x' })
      for (const [path, message] of [
        ['/five', /replies with status 201 but declares 200, 202, 204, 409/],
        ['/six', /status 203/],
        ['/seven', /replies with status 200 but declares 201/],
        ['/eight', /declares status 202 without content and replied with a value/],
      ] as const) {
        assert.equal((await ask(path)).status, 500, path)
        reported('E_RESPONSE_STATUS', message)
      }
    })
  })

  test('asynchronous schemas are waited for where a value is returned', async () => {
    const app = kit.app()
    const response = z.object({ id: z.number().refine(async (id) => id > 0) })
    app.get('/good', { response }, () => ({ id: 1 }))
    app.get('/wrong', { response }, async () => ({ id: 0 }))
    app.get('/json', { response }, (ctx) => ctx.json({ id: 1 }))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/good')).json(), { id: 1 })
      assert.equal((await live.ask('/wrong')).status, 500)
      reported('E_RESPONSE_INVALID', /#\/id/)
      assert.equal((await live.ask('/json')).status, 500)
    })
  })

  test('files, streams and Response go as they are; middleware is not under the contract', async () => {
    const app = kit.app()
    const refuse = before((ctx) =>
      ctx.headers['x-key'] === undefined ? ctx.json({ no: 'key' }, 401) : undefined,
    )
    app.get('/stream', { response: User }, () => new Response('raw', { status: 203 }) as never)
    app.get('/file', { response: User }, (ctx) => void ctx.file(new URL(import.meta.url)) as never)
    app.get('/guarded', { response: User }, refuse, () => ({ id: 1, name: 'a' }))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/stream')).status, 203)
      assert.match((await live.ask('/file')).text, /kit\.serve/)
      assert.equal((await live.ask('/guarded')).status, 401)
      assert.equal((await live.ask('/guarded', { headers: { 'x-key': '1' } })).status, 200)
    })
  })

  test('a media type is sent unless the handler sets another; errors have their own', async () => {
    const app = kit.app()
    const options = { response: z.string(), mediaType: 'image/svg+xml', errors: { NONE: { status: 404 } } }
    app.get('/:what', options, (ctx) => {
      if (ctx.params.what === 'none') return ctx.fail('NONE')
      if (ctx.params.what === 'other') ctx.header('content-type', 'text/css')
      return '<svg/>'
    })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/svg')).headers['content-type'], 'image/svg+xml')
      assert.equal((await live.ask('/other')).headers['content-type'], 'text/css')
      const none = await live.ask('/none')
      assert.equal(none.headers['content-type'], 'application/problem+json; charset=utf-8')
    })
    assert.throws(() => app.get('/x', { mediaType: 'svg' }, () => ''), { code: 'E_BAD_OPTION' })
  })

  test('a contract without content is one, too', async () => {
    const app = kit.app()
    app.delete('/value', { response: { 204: null } }, () => ({ password: 'secret' }) as never)
    app.delete('/status', { response: { 204: null } }, (ctx) => ctx.reply(418 as 204))
    app.delete('/accepted', { response: { 202: null } }, (ctx) => ctx.reply(202))
    app.delete('/empty', { response: { 200: null } }, () => undefined as never)
    await kit.serve(app, async (live) => {
      const ask = async (path: string) => live.ask(path, { method: 'DELETE' })
      assert.equal((await ask('/value')).status, 500)
      reported('E_RESPONSE_STATUS', /replies with status 200 but declares 204/)
      assert.equal((await ask('/status')).status, 500)
      assert.equal((await ask('/accepted')).status, 202)
      assert.equal((await ask('/empty')).status, 200)
    })
  })

  test('text, bytes and redirects have a declared status; text is checked', async () => {
    const app = kit.app()
    const response = { 200: z.string().max(3), 302: null, 404: z.object({ a: z.string() }) }
    app.get('/good', { response }, (ctx) => ctx.text('abc') as never)
    app.get('/long', { response }, (ctx) => ctx.html('abcd') as never)
    app.get('/teapot', { response }, (ctx) => ctx.text('abc', 418) as never)
    app.get('/object', { response }, (ctx) => ctx.text('abc', 404) as never)
    app.get('/there', { response }, (ctx) => ctx.redirect('/good'))
    app.get('/gone', { response }, (ctx) => ctx.redirect('/good', 301) as never)
    app.get('/bytes', { response }, (ctx) => ctx.bytes(new Uint8Array(1), 206) as never)
    app.get('/stream', { response }, (ctx) => ctx.stream(['a'][Symbol.iterator](), { status: 206 }) as never)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/good')).text, 'abc')
      assert.equal((await live.ask('/there')).status, 302)
      for (const path of ['/long', '/teapot', '/object', '/gone', '/bytes', '/stream']) {
        assert.equal((await live.ask(path)).status, 500, path)
      }
    })
  })

  test('a middleware that catches what a handler throws replies as it likes', async () => {
    const app = kit.app()
    app.use(async (ctx, next) => {
      try {
        await next()
      } catch {
        ctx.json({ caught: ctx.path }, 418)
      }
    })
    app.get('/sync', { response: User }, () => {
      throw new Error('boom')
    })
    app.get('/async', { response: User }, async () => {
      throw new Error('boom')
    })
    app.get('/invalid', { response: User }, async () => ({}) as never)
    await kit.serve(app, async (live) => {
      for (const path of ['/sync', '/async', '/invalid']) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 418, path)
        assert.deepEqual(reply.json(), { caught: path })
      }
    })
  })

  test('what a schema says of a value does not reach the reports with it', async () => {
    const app = kit.app()
    const quoting = z.string().refine(() => false, { error: ({ input }) => `bad ${String(input)}` })
    app.get('/quoting', { response: quoting }, () => 'secret')
    const rubbish = (issues: unknown): z.ZodType<string> =>
      ({ '~standard': { version: 1, vendor: 'x', validate: () => ({ issues }) } }) as never
    app.get('/rubbish', { response: rubbish([null, { path: 5, message: 'secret' }]) }, () => 'secret')
    await kit.serve(app, async (live) => {
      for (const path of ['/quoting', '/rubbish']) {
        assert.equal((await live.ask(path)).status, 500)
        reported('E_RESPONSE_INVALID', /#: /)
        assert.doesNotMatch(String(kit.reports.at(-1)), /secret/)
      }
    })
  })

  test('errors are answered outside of the contract', async () => {
    const app = kit.app()
    app.onError((error, ctx) => ctx.json({ seen: (error as Error).message }, 418))
    app.get('/x', { response: User }, () => {
      throw new Error('boom')
    })
    app.get('/invalid', { response: User }, () => ({}) as never)
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x')
      assert.equal(reply.status, 418)
      assert.deepEqual(reply.json(), { seen: 'boom' })
      assert.equal((await live.ask('/invalid')).status, 418)
    })
  })

  test('what cannot be a declaration is refused when the route is made', () => {
    const app = kit.app()
    const bad: [unknown, string, RegExp][] = [
      [{ response: { 99: User } }, 'E_BAD_STATUS', /200 to 599, not 99/],
      [{ response: { 200: User, '4XX': User } }, 'E_BAD_STATUS', /200 to 599, not 4XX/],
      [{ response: { 200: User, default: User } }, 'E_BAD_STATUS', /200 to 599, not default/],
      [{ response: { id: z.number() } }, 'E_BAD_SCHEMA', /an object with id: write z\.object\(\{ id: … \}\)/],
      [{ response: { 600: User } }, 'E_BAD_STATUS', /200 to 599, not 600/],
      [{ response: { 204: User } }, 'E_BAD_OPTION', /status 204 has no content: write 204: null/],
      [{ response: 5 }, 'E_BAD_SCHEMA', /the route \/x: response/],
      [{ errors: { A: { status: 200 } } }, 'E_BAD_STATUS', /the declared error A takes a status from 400/],
      [{ errors: { 'no code': { status: 400 } } }, 'E_BAD_OPTION', /"no code"/],
      [{ errors: { A: 404 } }, 'E_BAD_OPTION', /the error A takes \{ status \}/],
      [{ errors: { A: { status: 404, message: 'x' } } }, 'E_BAD_OPTION', /did you mean "description"/],
      [
        { errors: { E_VALIDATION: { status: 409 } } },
        'E_BAD_OPTION',
        /E_VALIDATION is an error of the framework/,
      ],
      [
        { errors: { E_RATE_LIMITED: { status: 503 } } },
        'E_BAD_OPTION',
        /E_RATE_LIMITED is an error of the framework/,
      ],
      [
        { errors: { E_UNAUTHORIZED: { status: 403 } } },
        'E_BAD_OPTION',
        /E_UNAUTHORIZED is an error of the framework/,
      ],
      [{ errors: { A: { status: 404, data: 1 } } }, 'E_BAD_SCHEMA', /errors\.A\.data/],
      [{ tags: 'x' }, 'E_BAD_OPTION', /tags takes an array of strings/],
      [{ summary: 1 }, 'E_BAD_OPTION', /summary takes a text/],
      [{ deprecated: 'yes' }, 'E_BAD_OPTION', /deprecated takes true or false/],
      [{ security: {} }, 'E_BAD_OPTION', /security takes/],
      [{ responses: {} }, 'E_BAD_OPTION', /did you mean "response"/],
    ]
    for (const [options, code, message] of bad) {
      assert.throws(() => app.get('/x', options as never, () => 1), { code, message })
    }
    assert.throws(() => kit.app({ undeclaredProperties: 'keep' as never }), { code: 'E_BAD_OPTION' })
  })

  test('the shapes of other frameworks are refused wherever a schema is taken', () => {
    const app = kit.app()
    const plain = { type: 'object', properties: { id: { type: 'integer' } } }
    const everything = /, which every value passes\. Where that is meant, z\.unknown\(\), .* says so$/
    const shapes: [shape: object, message: RegExp][] = [
      // OpenAPI, and the routes of Hono.
      [
        { description: 'A user', content: { 'application/json': { schema: plain } } },
        /with description, content: write the schema in its content\["application\/json"\], alone$/,
      ],
      [{ content: { 'text/csv': { schema: User } }, description: 'A user' }, /content\["text\/csv"\]/],
      [
        { required: true, content: { 'application/json': { schema: User } } },
        /content\["application\/json"\]|#\/required/,
      ],
      [{ $ref: '#/components/responses/User' }, /#\/\$ref leads nowhere/],
      [{ headers: {}, description: 'A user' }, /an object with headers, description$/],
      [{ schema: User }, /an object with schema: write the schema in it, alone$/],
      [{ schema: plain, description: 'A user' }, /with schema, description: write the schema in it, alone$/],
      // Fastify: a shorthand, and what tells of the reply.
      [{ id: { type: 'integer' } }, /write \{ type: 'object', properties: \{ id: … \} \}$/],
      [{ description: 'A user' }, everything],
      // tRPC and oRPC: parsers, and a schema among others.
      [{ parse: (value: unknown) => value }, /an object with parse$/],
      [{ data: User, message: 'No user' }, /an object with data, message: write z\.object\(\{ data: … \}\)$/],
      // JSON Schema that refuses nothing.
      [{}, everything],
      [{ default: { id: 1 }, title: 'User' }, everything],
      [{ type: undefined, description: 'A user' }, everything],
      [{ $defs: { User: plain } }, everything],
      // Properties beside `properties`, and a schema of an older draft or of JSON Type Definition.
      [{ type: 'object', id: { type: 'integer' } }, /#\/id holds a schema and is no keyword of JSON Schema/],
      [{ type: 'object', user: User }, /#\/user holds a schema/],
      [{ type: 'array', elements: plain }, /#\/elements holds a schema/],
      [{ type: 'array', items: { type: 'object', id: plain } }, /#\/items\/id holds a schema/],
    ]
    const slots: [name: RegExp, register: (shape: never) => unknown][] = [
      [/response /, (response) => app.get('/x', { response }, () => 1 as never)],
      [/response 201 /, (shape) => app.get('/x', { response: { 201: shape } }, () => 1 as never)],
      [/body /, (body) => app.post('/x', { body }, () => 1)],
      [/query /, (query) => app.get('/x', { query }, () => 1)],
      [/params /, (params) => app.get('/x/:id', { params }, () => 1)],
      [/headers /, (headers) => app.get('/x', { headers }, () => 1)],
      [/cookies /, (cookies) => app.get('/x', { cookies }, () => 1)],
      [/errors\.GONE\.data /, (data) => app.get('/x', { errors: { GONE: { status: 410, data } } }, () => 1)],
      [/input /, (input) => procedure().input(input)],
      [/output /, (output) => procedure().output(output)],
      [/body /, (body) => validate({ body })],
    ]
    for (const [shape, message] of shapes) {
      for (const [where, register] of slots) {
        const code = 'E_BAD_SCHEMA'
        assert.throws(() => register(shape as never), { code, message }, String(message))
        assert.throws(() => register(shape as never), {
          code,
          message: new RegExp(`${where.source.trim()}[ :]`),
        })
      }
    }
    for (const statuses of [
      { '2xx': User },
      { default: User },
      { 200: User, '5xx': plain },
      { '2XX': plain },
    ])
      assert.throws(() => app.get('/x', { response: statuses as never }, () => 1 as never), {
        code: 'E_BAD_STATUS',
        message: /response takes statuses from 200 to 599, not (?:2xx|default|5xx|2XX)$/,
      })
  })

  test('a codec in what is sent is refused with its place, and taken in what comes in', async () => {
    const app = kit.app()
    const at = z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (date) => date.toISOString(),
    })
    interface Node {
      next?: Node | undefined
    }
    const node: z.ZodType<Node> = z.object({
      get next() {
        return node.optional()
      },
    })
    const schemas: [schema: z.ZodType, place: string][] = [
      [at, '#'],
      [z.object({ id: z.number(), at }), '#/at'],
      [z.object({ rows: z.array(z.object({ at: at.nullable().optional() })) }), '#/rows/*/at'],
      [z.union([z.string(), z.object({ at })]), '#/at'],
      [z.object({ a: z.number() }).and(z.object({ at })), '#/at'],
      [z.record(z.string(), at), '#/*'],
      [z.tuple([z.string(), at]), '#/1'],
      [z.object({ on: z.stringbool() }), '#/on'],
      [at.pipe(z.date()), '#'],
    ]
    const slots: ((schema: z.ZodType) => unknown)[] = [
      (response) => app.get('/x', { response }, () => 1),
      (schema) => app.get('/x', { response: { 201: schema } }, () => 1 as never),
      (data) => app.get('/x', { errors: { GONE: { status: 410, data } } }, () => 1),
      (output) => procedure().output(output),
    ]
    for (const [schema, place] of schemas) {
      for (const register of slots) {
        const message = ` has a codec at ${place}, and a reply is not encoded by it: `
        assert.throws(
          () => register(schema),
          (error: VolantError) => error.code === 'E_BAD_SCHEMA' && error.message.includes(message),
          place,
        )
      }
    }
    // A start in production does not look for them, and the first reply does.
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      app.get('/late', { response: z.object({ at }) }, () => ({ at: 'SECRET' }))
    } finally {
      if (before === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = before
    }
    app.get('/recursive', { response: node }, () => ({ next: {} }))
    app.post('/event', { body: z.object({ at }), response: z.object({ at: z.date() }) }, (ctx) => ctx.body)
    await kit.serve(app, async (live) => {
      const event = '{"at":"2026-01-02T03:04:05.000Z"}'
      assert.equal((await live.post('/event', 'application/json', event)).text, event)
      assert.equal((await live.ask('/recursive')).text, '{"next":{}}')
      assert.equal((await live.ask('/late')).status, 500)
      reported('E_BAD_SCHEMA', /^the reply of GET \/late with status 200 has a codec at #\/at, /)
    })
  })

  test('a schema that every value passes is one where it is meant', async () => {
    const app = kit.app()
    const value = { any: ['thing', 1, null] }
    const json = { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] } as const
    for (const [name, schema] of Object.entries({ zod: z.unknown(), typebox: Type.Unknown(), json }))
      app.post(`/${name}`, { body: schema, response: schema }, (ctx) => ctx.body as never)
    await kit.serve(app, async (live) => {
      for (const path of ['/zod', '/typebox', '/json']) {
        const reply = await live.post(path, 'application/json', JSON.stringify(value))
        assert.deepEqual([reply.status, reply.json()], [200, value], path)
      }
    })
  })
})

describe('declared errors', () => {
  const Missing = z.object({ id: z.number() })
  const auth = middleware<{ user: string }>()(
    { errors: { UNAUTHORIZED: { status: 401, description: 'Who are you?' } } },
    (ctx, next) => {
      if (ctx.headers['authorization'] === undefined) throw ctx.fail('UNAUTHORIZED')
      ctx.state.user = 'ann'
      return next()
    },
  )

  test('ctx.fail makes the errors of route and middleware', async () => {
    const app = kit.app()
    app
      .with(auth)
      .get(
        '/users/:id',
        { response: User, errors: { USER_NOT_FOUND: { status: 404, data: Missing } } },
        (ctx) => {
          if (ctx.params.id === '0') throw ctx.fail('USER_NOT_FOUND', { id: 0 })
          if (ctx.params.id === '1') return ctx.fail('USER_NOT_FOUND', { id: 1 }, 'No user one')
          if (ctx.params.id === '2') throw ctx.fail('UNAUTHORIZED')
          return { id: 3, name: ctx.state.user }
        },
      )
    await kit.serve(app, async (live) => {
      const headers = { authorization: 'x' }
      const none = await live.ask('/users/0')
      assert.equal(none.status, 401)
      assert.deepEqual(none.json(), {
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        detail: 'Who are you?',
        code: 'UNAUTHORIZED',
      })
      const zero = await live.ask('/users/0', { headers })
      assert.equal(zero.headers['content-type'], 'application/problem+json; charset=utf-8')
      assert.deepEqual(zero.json(), {
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        code: 'USER_NOT_FOUND',
        data: { id: 0 },
      })
      assert.equal(((await live.ask('/users/1', { headers })).json() as Problem).detail, 'No user one')
      assert.equal((await live.ask('/users/2', { headers })).status, 401)
      assert.deepEqual((await live.ask('/users/3', { headers })).json(), { id: 3, name: 'ann' })
    })
  })

  test('undeclared codes and data the schema rejects are mistakes of the program', async () => {
    const app = kit.app()
    const errors = { GONE: { status: 410, data: z.object({ at: z.number() }) } }
    app.get('/code', { errors }, (ctx) => {
      throw ctx.fail('OTHER' as never, 1 as never)
    })
    app.get('/none', (ctx) => {
      throw (ctx.fail as unknown as (code: string) => Error)('OTHER')
    })
    app.get('/data', { errors }, (ctx) => {
      throw ctx.fail('GONE', { at: 'secret' } as never)
    })
    const optional = { NO: { status: 404, data: z.string().optional() } }
    app.get('/optional', { errors: optional }, (ctx) => ctx.fail('NO', undefined))
    app.get('/strip', { errors }, (ctx) => {
      throw ctx.fail('GONE', { at: 1, hash: 'secret' } as { at: number })
    })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/code')).status, 500)
      reported('E_UNDECLARED_ERROR', /^GET \/code declares no error "OTHER"; it declares GONE$/)
      assert.equal((await live.ask('/none')).status, 500)
      reported('E_UNDECLARED_ERROR', /it declares none/)
      assert.equal((await live.ask('/data')).status, 500)
      reported('E_RESPONSE_INVALID', /^GET \/data: the data of GONE is not what its schema says: #\/at: /)
      assert.equal((await live.ask('/optional')).status, 404)
      assert.equal((await live.ask('/strip')).status, 500)
      reported('E_RESPONSE_UNDECLARED', /hash/)
    })
    const production = kit.app({ undeclaredProperties: 'strip' })
    production.get('/strip', { errors }, (ctx) =>
      ctx.fail('GONE', { at: 1, hash: 'secret' } as { at: number }),
    )
    await kit.serve(production, async (live) => {
      assert.deepEqual(((await live.ask('/strip')).json() as Problem).data, { at: 1 })
    })
  })

  test('ctx.fail ends the request, however it is called', async () => {
    const app = kit.app()
    const guard = before({ errors: { SIGN_IN: { status: 401 } } }, (ctx) => {
      if (ctx.headers['authorization'] === undefined) ctx.fail('SIGN_IN')
    })
    const errors = { GONE: { status: 410 } }
    app.get('/guarded', guard, () => 'secret')
    app.get('/alone', { errors }, (ctx) => {
      ctx.fail('GONE')
    })
    app.get('/awaited', { errors }, async (ctx) => {
      await Promise.resolve()
      ctx.fail('GONE')
    })
    app.get('/thrown', { errors }, (ctx) => {
      throw ctx.fail('GONE')
    })
    app.get('/given', { errors }, (ctx) => ctx.query['found'] ?? ctx.fail('GONE'))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/guarded')).status, 401)
      assert.equal((await live.ask('/guarded', { headers: { authorization: 'x' } })).text, 'secret')
      for (const path of ['/alone', '/awaited', '/thrown', '/given']) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 410, path)
        assert.equal((reply.json() as Problem).code, 'GONE')
      }
      assert.equal((await live.ask('/given?found=yes')).text, 'yes')
    })
  })

  test('middleware of a scope declares for its misses, too', async () => {
    const app = kit.app()
    app.use(
      before({ errors: { CLOSED: { status: 503 } } }, (ctx) => {
        if (ctx.query['open'] === undefined) throw ctx.fail('CLOSED')
      }),
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/nowhere')).status, 503)
      assert.equal((await live.ask('/nowhere?open')).status, 404)
    })
  })

  test('one code has one status', async () => {
    const app = kit.app()
    app.with(auth).get('/x', { errors: { UNAUTHORIZED: { status: 403 } } }, () => 1)
    await assert.rejects(app.inject('/x'), {
      code: 'E_BAD_OPTION',
      message: /^GET \/x: the error UNAUTHORIZED is declared with status 401 and with 403/,
    })
  })

  test('a declaration that is changed after the start harms its own route only', async () => {
    const app = kit.app({ report: () => undefined })
    const errors = { CLOSED: { status: 503 } }
    app.use((ctx, next) => {
      ctx.header('x-outer', 'ran')
      return next()
    })
    app.get(
      '/changed',
      before({ errors }, () => undefined),
      () => 1,
    )
    app.get('/other', () => 2)
    await kit.serve(app, async (live) => {
      // The first request starts an app that does not listen.
      await live.ask('/other')
      Object.assign(errors, { CLOSED: null })
      for (let round = 0; round < 2; round++) {
        const reply = await live.ask('/changed')
        assert.equal(reply.status, 500)
        assert.equal(reply.headers['x-outer'], 'ran')
      }
      assert.equal((await live.ask('/other')).status, 200)
    })
  })

  test('options that are used again, and changed, are those of the moment', async () => {
    const app = kit.app()
    const options: Record<string, unknown> = {
      body: z.object({ a: z.number() }),
      response: { 200: z.object({ a: z.number() }) },
      errors: { GONE: { status: 410 } },
    }
    app.post('/a', options as object, (ctx) => {
      if (ctx.query['gone'] !== undefined) (ctx as unknown as { fail(code: string): never }).fail('GONE')
      return ctx.body
    })
    Object.assign(options['response'] as object, { 200: z.string() })
    Object.assign((options['errors'] as { GONE: object }).GONE, { status: 404 })
    options['body'] = z.object({ b: z.number() })
    delete options['response']
    app.post('/b', options as object, (ctx) => ctx.body)
    delete options['body']
    await kit.serve(app, async (live) => {
      const post = (path: string, body: string) => live.post(path, 'application/json', body)
      assert.deepEqual((await post('/a', '{"a":1}')).json(), { a: 1 })
      assert.equal((await post('/a', '{"evil":true}')).status, 400)
      assert.equal((await post('/a?gone', '{"a":1}')).status, 410)
      assert.deepEqual((await post('/b', '{"b":1}')).json(), { b: 1 })
      assert.equal((await post('/b', '{"a":1}')).status, 400)
    })
  })
})

describe('contracts first', () => {
  const getUser = contract.get('/users/:id', {
    params: z.object({ id: z.coerce.number() }),
    response: User,
    errors: { GONE: { status: 410 } },
  })
  const addUser = contract.post('/users', { body: User, response: { 201: User } })
  const ping = contract.get('/ping')
  const api = { users: { get: getUser, add: addUser }, ping }

  test('a contract gets its handler later, one by one or as a tree', async () => {
    const single = kit.app()
    single.implement(getUser, (ctx) => {
      if (ctx.params.id === 0) throw ctx.fail('GONE')
      return { id: ctx.params.id, name: 'a' }
    })
    const tree = kit.app()
    tree.group('/v1', (scope) => {
      scope.implement(api, {
        users: {
          get: (ctx) => (ctx.params.id === 0 ? ctx.fail('GONE') : { id: ctx.params.id, name: 'a' }),
          add: (ctx) => ctx.reply(201, ctx.body),
        },
        ping: () => 'pong',
      })
    })
    await kit.serve(single, async (live) => {
      assert.deepEqual((await live.ask('/users/5')).json(), { id: 5, name: 'a' })
      assert.equal((await live.ask('/users/0')).status, 410)
      assert.equal((await live.ask('/users/x')).status, 400)
    })
    await kit.serve(tree, async (live) => {
      assert.deepEqual((await live.ask('/v1/users/5')).json(), { id: 5, name: 'a' })
      const added = await live.post('/v1/users', 'application/json', '{"id":1,"name":"b"}')
      assert.equal(added.status, 201)
      assert.equal((await live.ask('/v1/ping')).text, 'pong')
    })
  })

  test('missing handlers, and handlers of nothing, are refused', async () => {
    const app = kit.app()
    const noHandler = { code: 'E_BAD_HANDLER', message: /\("\/x"\) takes no handler: app\.implement\(/ }
    assert.throws(() => contract.get('/x', (() => 1) as never), noHandler)
    assert.throws(() => (contract.get as Function)('/x', {}, () => 1), noHandler)
    assert.throws(() => app.implement(api, { users: { get: () => null } } as never), {
      code: 'E_NOT_IMPLEMENTED',
      message: /no handler for users\.add \(POST \/users\), ping \(GET \/ping\)/,
    })
    const more = { users: { get: () => 1, add: () => 1, other: () => 1 }, ping: () => 1 }
    assert.throws(() => app.implement(api, more as never), {
      code: 'E_BAD_HANDLER',
      message: /users\.other/,
    })
    app.implement(ping, () => 'pong')
    assert.throws(() => app.implement(ping, () => 'pong'), { code: 'E_ROUTE_CONFLICT' })
    app.expose(api)
    await assert.rejects(app.inject('/ping'), {
      code: 'E_NOT_IMPLEMENTED',
      message: /users\.get \(GET \/users\/:id\), users\.add \(POST \/users\)/,
    })
  })

  test('exposed routes have names, and a table for clients', async () => {
    const app = kit.app()
    app.implement(ping, () => 'pong')
    const inner = kit.app()
    const list = inner.get('/users', { summary: 'All users' }, () => [])
    const both = inner.on(['PUT', 'PATCH'], '/users/:id', () => 1)
    app.mount('/api', inner)
    app.expose({ ping, users: { list, change: both } })
    const names = app.routes().map(({ method, path, operationId }) => `${method} ${path} ${operationId}`)
    assert.deepEqual(names, [
      'GET /ping ping',
      'GET /api/users users.list',
      'PUT /api/users/:id users.change.put',
      'PATCH /api/users/:id users.change.patch',
      'GET /client.json undefined',
    ])
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/client.json')).json(), {
        ping: ['GET', '/ping', []],
        'users.list': ['GET', '/api/users', []],
        'users.change': ['PUT', '/api/users/:id', []],
      })
    })
    assert.throws(() => kit.app().expose({ x: 5 } as never), { code: 'E_BAD_OPTION', message: /x is 5/ })
  })

  test('a hidden route is not in the table that anybody may read; who has its contract calls it', async () => {
    const api = {
      ping: contract.get('/ping', { response: z.literal('pong') }),
      admin: { purge: contract.post('/internal/purge', { hidden: true, response: z.literal('done') }) },
    }
    const app = kit.app()
    app.implement(api, { ping: () => 'pong' as const, admin: { purge: () => 'done' as const } })
    app.expose(api)
    await kit.serve(app, async (live) => {
      const { url } = live.address
      assert.deepEqual((await live.ask('/client.json')).json(), { ping: ['GET', '/ping', [200]] })
      const loading = createClient<typeof api>(url)
      assert.equal((await loading.ping()).data, 'pong')
      await assert.rejects(loading.admin.purge(), /there is no operation admin\.purge; there are ping/)
      assert.equal((await createClient(api, url).admin.purge()).data, 'done')
    })
    assert.match(clientFile(app).text, /"admin\.purge": \["POST","\/internal\/purge"/)
  })

  test('a mounted app exposes its routes itself, and names them in both documents', async () => {
    const inner = kit.app()
    const list = inner.get('/users', () => [])
    inner.expose({ users: { list } })
    const outer = kit.app()
    outer.mount('/api', inner)
    assert.equal(outer.routes()[0]?.operationId, 'users.list')
    await kit.serve(outer, async (live) => {
      assert.deepEqual(Object.keys((await live.ask('/api/client.json')).json() as object), ['users.list'])
    })
    const lacking = kit.app()
    lacking.expose({ ping })
    const around = kit.app()
    around.mount('/m', lacking)
    await assert.rejects(around.inject('/m'), { code: 'E_NOT_IMPLEMENTED', message: /ping \(GET \/ping\)/ })
  })

  test('two routes with one operation id are refused, both named', async () => {
    const app = kit.app()
    app.get('/a', { operationId: 'same' }, () => 1)
    app.post('/b', { operationId: 'same' }, () => 1)
    await assert.rejects(app.inject('/a'), {
      code: 'E_OPERATION_ID',
      message: 'GET /a and POST /b both have the operationId "same": give one of them another',
    })
  })

  test('a name of the exposed tree is an operation id, too', async () => {
    const app = kit.app()
    const first = app.get('/a', () => 1)
    app.post('/b', { operationId: 'things.first' }, () => 1)
    app.expose({ things: { first } })
    await assert.rejects(app.inject('/a'), {
      code: 'E_OPERATION_ID',
      message: 'GET /a and POST /b both have the operationId "things.first": give one of them another',
    })
  })
})
