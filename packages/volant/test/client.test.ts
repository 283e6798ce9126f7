/**
 * The typed client against a server: what it sends is what handlers see, what they reply with is what it gives. Long,
 * since each thing that can be sent or come back is a case.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { contract, HTTPError, middleware, type Route } from 'volant'
import { ClientError, createClient } from 'volant/client'
import * as z from 'zod'
import { Kit } from './kit.ts'

const User = z.object({ id: z.number(), name: z.string(), born: z.date() })
const born = new Date(Date.UTC(1815, 11, 10))

const kit = new Kit()

const auth = middleware<{ user: string }>()(
  { errors: { UNAUTHORIZED: { status: 401, data: z.object({ realm: z.string() }) } } },
  async (ctx, next) => {
    if (ctx.headers['authorization'] === undefined) throw ctx.fail('UNAUTHORIZED', { realm: 'users' })
    ctx.state.user = ctx.headers['authorization']
    await next()
  },
)

/** An app with its routes, some behind middleware, one in an app that is mounted. */
function serverOf() {
  const app = kit.app()
  const inside = kit.app()
  const api = {
    users: {
      get: app.with(auth).get(
        '/users/:id',
        {
          params: z.object({ id: z.coerce.number() }),
          response: User,
          errors: { USER_NOT_FOUND: { status: 404, data: z.object({ id: z.number() }) } },
        },
        (ctx) => {
          const { id } = ctx.params
          if (id === 0) throw ctx.fail('USER_NOT_FOUND', { id })
          return { id, name: ctx.state.user, born }
        },
      ),
      add: app.post(
        '/users',
        {
          body: z.object({ name: z.string().min(1) }),
          response: { 201: User, 204: null, 409: z.object({ taken: z.string() }) },
        },
        (ctx) => {
          if (ctx.body.name === 'taken') return ctx.reply(409, { taken: ctx.body.name })
          if (ctx.body.name === 'nobody') return ctx.reply(204)
          return ctx.reply(201, { id: 1, name: ctx.body.name, born })
        },
      ),
    },
    echo: app.post('/echo/:a/*rest', (ctx) => ({
      params: { ...ctx.params },
      query: { ...ctx.query },
      cookies: { ...ctx.cookies },
      type: ctx.headers['content-type'] ?? null,
      key: ctx.headers['x-key'] ?? null,
      body: ctx.body instanceof Uint8Array ? [...ctx.body] : (ctx.body ?? null),
    })),
    mounted: inside.get('/deep/:id?', (ctx) => ctx.params.id ?? 'none'),
  }
  app.mount('/inside', inside)
  app.expose(api)
  return { app, api }
}

describe('client', () => {
  test('declared replies and errors are results', async () => {
    const { app, api } = serverOf()
    await kit.serve(app, async ({ address }) => {
      const client = createClient<typeof api>(address.url, { headers: { authorization: 'ada' } })
      const one = await client.users.get({ params: { id: 1 } })
      assert.ok(one.ok)
      assert.equal(one.status, 200)
      assert.deepEqual(one.data, { id: 1, name: 'ada', born: born.toISOString() })
      assert.equal(one.response.headers.get('content-type'), 'application/json; charset=utf-8')

      const none = await client.users.get({ params: { id: 0 } })
      assert.ok(!none.ok && none.code === 'USER_NOT_FOUND')
      assert.equal(none.status, 404)
      assert.deepEqual(none.data, { id: 0 })

      const invalid = await client.users.get({ params: { id: 'x' } })
      assert.ok(!invalid.ok && invalid.code === 'E_VALIDATION')
      assert.equal(invalid.status, 400)
      assert.deepEqual(
        invalid.issues.map((issue) => `${issue.in} ${issue.pointer}`),
        ['params #/id'],
      )

      const stranger = await client.users.get(
        { params: { id: 1 } },
        { headers: { authorization: undefined } },
      )
      assert.ok(!stranger.ok && stranger.code === 'UNAUTHORIZED')
      assert.deepEqual(stranger.data, { realm: 'users' })

      const added = await client.users.add({ body: { name: 'ada' } })
      assert.ok(added.ok && added.status === 201)
      assert.equal(added.data.name, 'ada')
      const nobody = await client.users.add({ body: { name: 'nobody' } })
      assert.ok(nobody.ok && nobody.status === 204)
      assert.equal(nobody.data, undefined)
      const taken = await client.users.add({ body: { name: 'taken' } })
      assert.ok(!taken.ok && taken.status === 409)
      assert.deepEqual(taken.data, { taken: 'taken' })
      assert.equal(taken.code, undefined)

      assert.equal((await client.mounted({ params: { id: 'x' } })).data, 'x')
      assert.equal((await client.mounted()).data, 'none')
    })
  })

  test('parameters, query, fields, cookies and bodies arrive as they were given', async () => {
    const { app, api } = serverOf()
    await kit.serve(app, async ({ address }) => {
      const { echo } = createClient<typeof api>(address.url)
      const got = async (
        input: Partial<Parameters<typeof echo>[0]>,
        options?: Parameters<typeof echo>[1],
      ) => {
        const reply = await echo({ params: { a: 'a', rest: 'r' }, ...input }, options)
        assert.ok(reply.ok)
        return reply.data
      }
      for (const a of ['a b', 'a/b', 'ä', '%2e%2e', '..a', 'a?b#c', '+', '😀', '1', 'a:b', 'a;b=c']) {
        assert.equal((await got({ params: { a, rest: 'x' } })).params.a, a, a)
      }
      for (const rest of ['a/b', 'a//b', 'a/', 'ä/%/?', '...']) {
        assert.equal((await got({ params: { a: 'x', rest } })).params.rest, rest, rest)
      }
      const query = {
        'a b': 'c&d=e',
        list: ['x', 'y+z'],
        number: -1.5,
        big: 2n ** 64n,
        no: false,
        at: born,
        gone: undefined,
        none: null,
        empty: '',
        nothing: [],
        __proto: 'x',
      }
      assert.deepEqual((await got({ query })).query, {
        'a b': 'c&d=e',
        list: ['x', 'y+z'],
        number: '-1.5',
        big: String(2n ** 64n),
        no: 'false',
        at: born.toISOString(),
        empty: '',
        __proto: 'x',
      })
      const cookies = { session: 'a; b=c', n: 5, gone: undefined }
      assert.deepEqual((await got({ cookies })).cookies, { session: 'a; b=c', n: '5' })
      assert.equal((await got({ headers: { 'X-Key': 7 } })).key, '7')
      assert.equal((await got({}, { headers: { 'x-key': 'own' } })).key, 'own')

      const json = 'application/json'
      for (const body of [{ a: [1, null, 'x'] }, [], 'text', '', 0, false, null]) {
        assert.deepEqual(await got({ body }).then((data) => [data.body, data.type]), [body, json])
      }
      const form = new URLSearchParams({ a: '1', b: 'c d' })
      assert.deepEqual((await got({ body: form })).body, { a: '1', b: 'c d' })
      assert.deepEqual((await got({ body: new Uint8Array([1, 2, 255]) })).body, [1, 2, 255])
      const blob = await got({ body: new Blob(['<a>'], { type: 'text/html' }) })
      assert.deepEqual([blob.body, blob.type], ['<a>', 'text/html'])
      const csv = await got({ body: 'a,b' }, { headers: { 'content-type': 'text/csv' } })
      assert.deepEqual([csv.body, csv.type], ['a,b', 'text/csv'])
      assert.equal((await got({})).body, null)
    })
  })

  test('what would lead to another path, or has no text, is refused before anything is sent', async () => {
    const { app, api } = serverOf()
    let sent = 0
    const fetch = async (request: Request): Promise<Response> => {
      if (!request.url.endsWith('.json')) sent++
      return app.fetch(request)
    }
    const { echo, users } = createClient<typeof api>('http://server.test', { fetch })
    const loose = echo as (input?: object) => Promise<unknown>
    for (const a of ['', '.', '..', null, undefined, {}, [], Symbol('x')]) {
      await assert.rejects(loose({ params: { a, rest: 'x' } }), { name: 'TypeError', message: /\ba\b/ })
    }
    for (const rest of ['', '/', '/etc/passwd', '//evil.test/', '..', 'a/../b', './a', 'a/.', 'a/..']) {
      await assert.rejects(loose({ params: { a: 'x', rest } }), { name: 'TypeError', message: /\brest\b/ })
    }
    await assert.rejects(loose(), { name: 'TypeError', message: /parameter a is missing/ })
    await assert.rejects(loose({ params: Object.create({ a: 'x', rest: 'y' }) as object }), {
      name: 'TypeError',
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, query: { deep: { a: 1 } } }), {
      name: 'TypeError',
      message: /^deep cannot be of type object/,
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, headers: { 'x-key': 'a\r\nb: c' } }), {
      name: 'TypeError',
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, cookies: { 'a=b; c': '1' } }), {
      name: 'TypeError',
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, cookies: { '': '1' } }), {
      name: 'TypeError',
      message: '"" cannot be the name of a cookie',
    })
    for (const body of [() => 1, Symbol('x'), { toJSON: () => undefined }, 1n]) {
      await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, body }), { name: 'TypeError' })
    }
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, body: cycle }), { name: 'TypeError' })
    assert.equal(sent, 0)
    assert.equal((await users.add({ body: { name: 'ada' } })).status, 201)
    assert.equal(sent, 1)
  })

  test('a client is no promise, and what it has no operation for is named', async () => {
    const { app, api } = serverOf()
    const client = createClient<typeof api>('http://server.test', { fetch: app.fetch })
    assert.equal(await Promise.resolve(client), client)
    assert.equal(await client.users, client.users)
    assert.equal(client.users.get, client.users.get)
    const any = client as unknown as Record<string, Record<string, () => Promise<unknown>>>
    assert.equal(any['then'], undefined)
    assert.equal(String(client), '[object Function]')
    assert.equal(JSON.stringify({ client }), '{}')
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf']) {
      assert.equal(any[name], Object.prototype[name as never], name)
    }
    await assert.rejects(any['users']!['gets']!(), {
      name: 'TypeError',
      message: 'there is no operation users.gets; there are users.get, users.add, echo, mounted',
    })
    await assert.rejects((client.users as unknown as () => Promise<unknown>)(), {
      message: /operation users;/,
    })
    await assert.rejects((client as unknown as () => Promise<unknown>)(), { name: 'TypeError' })
    assert.throws(() => createClient('http://x.test?a=b'), { name: 'TypeError' })
    for (const name of ['then', 'constructor', 'a.b', '']) {
      const tree = { [name]: contract.get('/x') }
      assert.throws(() => createClient(tree, 'http://x.test'), {
        name: 'TypeError',
        message: /cannot be an op/,
      })
      assert.throws(() => kit.app().expose(tree), { code: 'E_BAD_OPTION' })
    }
    assert.throws(() => createClient({ x: 5 } as never, 'http://x.test'), { name: 'TypeError' })
  })

  test('replies that are not declared are errors with all there is to know', async () => {
    const app = kit.app()
    const response = z.object({ id: z.number() })
    const api = {
      boom: app.get('/boom', { response }, () => {
        throw new Error('secret')
      }),
      refused: app.get('/refused', { response }, () => {
        throw new HTTPError(409, 'Taken', { code: 'TAKEN', data: { by: 'x' } })
      }),
      page: app.get('/page', { response }, () => {
        const headers = { 'content-type': 'text/html; charset=utf-8' }
        return new Response('<h1>', { status: 502, headers }) as never
      }),
      bytes: app.get('/bytes', (ctx) => ctx.bytes(new Uint8Array(3), 500)),
      broken: app.get('/broken', (ctx) => {
        ctx.header('content-type', 'application/json')
        ctx.bytes(Buffer.from('{"a":'))
      }),
      old: app.get('/old/:id', { response }, (ctx) => ({ id: Number(ctx.params.id) })),
    }
    app.expose(api)
    await kit.serve(app, async ({ address }) => {
      const client = createClient<typeof api>(address.url)
      const thrown = async (promise: Promise<unknown>): Promise<ClientError> => {
        const error: unknown = await promise.then(
          () => assert.fail('it resolved'),
          (reason: unknown) => reason,
        )
        assert.ok(error instanceof ClientError, String(error))
        return error
      }
      const boom = await thrown(client.boom())
      assert.equal(boom.message, 'boom: the reply 500 is not declared: Internal Server Error')
      assert.deepEqual(
        [boom.operation, boom.status, boom.problem?.title],
        ['boom', 500, 'Internal Server Error'],
      )
      const refused = await thrown(client.refused())
      assert.equal(refused.message, 'refused: the reply 409 is not declared: Taken')
      assert.deepEqual(refused.problem?.data, { by: 'x' })
      assert.equal(refused.problem?.code, 'TAKEN')
      const page = await thrown(client.page())
      assert.deepEqual([page.status, page.body, page.problem], [502, '<h1>', undefined])
      assert.equal((await thrown(client.bytes())).body, undefined)
      const broken = await thrown(client.broken())
      assert.equal(broken.message, 'broken: the reply 200 cannot be read')
      assert.ok(broken.cause instanceof SyntaxError)
      // Older than the client: a path that is not there.
      const routes = { old: ['GET', '/older/:id', [200]] } as const
      const old = await thrown(createClient<typeof api>(address.url, { routes }).old({ params: { id: 1 } }))
      assert.deepEqual([old.status, old.problem?.code], [404, 'E_NOT_FOUND'])
    })
    const gone = await createClient<typeof api>('http://127.0.0.1:1', {
      routes: { boom: ['GET', '/boom'] },
    })
      .boom()
      .catch((error: unknown) => error)
    assert.ok(gone instanceof ClientError)
    assert.equal(gone.status, 0)
    assert.match(gone.message, /^boom: no reply from http:\/\/127\.0\.0\.1:1\/boom: bad port$/)
    assert.ok(gone.cause instanceof Error)
  })

  test('a reply is declared if its code, its status and its type are', async () => {
    const app = kit.app()
    const User = z.object({ id: z.number() })
    const errors = { GONE: { status: 410 } }
    const api = {
      user: app.get('/user', { response: { 200: User, 404: User }, errors }, () => ({ id: 1 })),
      text: app.get('/text', { response: z.string() }, () => 'text'),
      page: app.get('/page', { mediaType: 'text/HTML; charset=utf-8', response: z.string() }, () => '<p>'),
      open: app.get('/open', { query: z.object({ a: z.string().optional() }) }, () => 1),
    }
    app.expose(api)
    let send: Response | null = null
    const fetch = async (request: Request): Promise<Response> =>
      (request.url.endsWith('.json') ? null : send) ?? app.fetch(request)
    assert.deepEqual((await app.inject('/client.json')).json(), {
      user: ['GET', '/user', [200, 404, 'GONE 410'], 'application/json'],
      text: ['GET', '/text', [200]],
      page: ['GET', '/page', [200], 'text/HTML; charset=utf-8'],
      open: ['GET', '/open', ['E_VALIDATION 400']],
    })
    for (const client of [
      createClient<typeof api>('http://server.test', { fetch }),
      createClient(api, 'http://server.test', { fetch }),
    ]) {
      send = null
      assert.deepEqual((await client.user()).data, { id: 1 })
      assert.equal((await client.text()).data, 'text')
      assert.equal((await client.page()).data, '<p>')
      const reply = (status: number, type: string, body: string): void => {
        send = new Response(type ? body : body ? Buffer.from(body) : null, {
          status,
          headers: type ? { 'content-type': type } : {},
        })
      }
      const problem = 'application/problem+json'
      reply(200, 'application/vnd.user+json', '{"id":2}')
      assert.deepEqual((await client.user()).data, { id: 2 })
      reply(410, problem, '{"code":"GONE","detail":["x"]}')
      const gone = await client.user()
      assert.ok(!gone.ok && gone.code === 'GONE')
      assert.equal(gone.detail, undefined)
      for (const [call, status, type, body, message] of [
        [
          client.user,
          200,
          'text/html',
          '<h1>Sign in',
          'user: the reply 200 is text/html, not application/json',
        ],
        [
          client.user,
          200,
          'text/plain; charset=utf-8',
          'upstream timed out',
          'user: the reply 200 is text/plain, not application/json: did the API send it?',
        ],
        [client.user, 404, 'text/plain', 'no such host', 'user: the reply 404 is text/plain, not app'],
        [client.user, 200, problem, '{}', 'user: the reply 200 is not declared'],
        [client.text, 200, 'text/html', '<h1>', 'text: the reply 200 is text/html, not JSON or plain text:'],
        [client.page, 200, 'application/json', '1', 'page: the reply 200 is application/json, not text/HTML'],
        [client.user, 200, '', 'x', 'user: the reply 200 is'],
        [
          client.user,
          200,
          'application/octet-stream',
          'x',
          'user: the reply 200 is application/octet-stream',
        ],
        [client.user, 500, problem, '{"code":"GONE"}', 'user: the reply 500 is not declared'],
        [client.user, 404, problem, '{"code":"GONE"}', 'user: the reply 404 is not declared'],
        [client.user, 404, problem, '{"code":"X","detail":"y"}', 'user: the reply 404 is not declared: y'],
        [
          client.user,
          404,
          problem,
          '{"code":{},"detail":{},"title":{}}',
          'user: the reply 404 is not declared',
        ],
        [client.open, 422, problem, '{"code":"E_VALIDATION"}', 'open: the reply 422 is not declared'],
      ] as const) {
        reply(status, type, body)
        await assert.rejects(call(), (error: ClientError) => {
          assert.equal(error.name, 'ClientError')
          assert.equal(error.message.slice(0, message.length), message)
          return true
        })
      }
      // Nothing, by a proxy that does not say so.
      send = new Response(new Blob([]).stream())
      assert.equal((await client.user()).data, undefined)
      reply(304, '', '')
      await assert.rejects(client.user(), (error: ClientError) => !error.message.includes('elsewhere'))
      for (const [errors, issues] of [
        ['"x"', 0],
        ['{"length":1}', 0],
        ['[null,5,{},{"in":"body","pointer":"#","detail":5},{"in":"body","pointer":"#","detail":"d"}]', 1],
      ] as const) {
        reply(400, problem, `{"code":"E_VALIDATION","errors":${errors}}`)
        const invalid = await client.open()
        assert.ok(!invalid.ok && invalid.code === 'E_VALIDATION')
        assert.equal(invalid.issues.length, issues)
      }
    }
  })

  test('plain text is a reply where one may be text, and nowhere else', async () => {
    const app = kit.app()
    const User = z.object({ id: z.number() })
    const text = {
      text: { response: z.string() },
      either: { response: z.union([User, z.string()]) },
      some: { response: { 200: User, 202: z.string() } },
      anything: { response: z.unknown() },
      made: { response: User.transform(({ id }) => String(id)) },
      piped: { response: v.pipe(v.object({ id: v.number() }), v.transform(String)) },
      plain: { response: { type: ['object', 'string'] } },
      opaque: {
        response: {
          '~standard': { version: 1, vendor: 'strange', validate: (value: unknown) => ({ value }) },
          type: 'object',
        },
      },
      untold: {},
      empty: { response: { 200: null } },
      elsewhere: { response: { 200: User, 302: null } },
      typed: { mediaType: 'text/plain', response: User },
    } as const
    const json = {
      user: { response: User },
      users: { response: { 200: z.array(User), 202: User, 204: null } },
      plain: { response: { type: 'object', properties: { id: { type: 'number' } } } },
      typed: { mediaType: 'application/json', response: z.string() },
    } as const
    /** What only the JSON Schemas on the server tell. */
    const told = {
      union: { response: z.union([User, z.array(User)]) },
      valibot: { response: v.object({ id: v.number() }) },
      arktype: { response: type({ id: 'number' }) },
    } as const
    type Contracts = Record<string, Record<string, Route>>
    const contracts = Object.fromEntries(
      Object.entries({ text, json, told }).map(([group, options]) => [
        group,
        Object.fromEntries(
          Object.entries(options).map(([name, each]) => [
            name,
            contract.get(`/${group}/${name}`, each as never),
          ]),
        ),
      ]),
    ) as Contracts
    for (const group of Object.values(contracts))
      for (const each of Object.values(group)) app.implement(each as never, (() => {}) as never)
    app.expose(contracts)
    let send = (): Response => new Response('upstream timed out')
    const fetch = async (request: Request): Promise<Response> =>
      request.url.endsWith('.json') ? app.fetch(request) : send()
    type Calls = Record<string, Record<string, () => Promise<{ data: unknown }>>>
    const [fetching, knowing] = [
      createClient('http://server.test', { fetch }),
      createClient(contracts, 'http://server.test', { fetch }),
    ] as unknown as [Calls, Calls]
    const names = (group: object): string[] => Object.keys(group)
    for (const client of [fetching, knowing]) {
      for (const name of names(text))
        assert.equal((await client['text']?.[name]?.())?.data, 'upstream timed out', name)
      for (const name of names(json)) {
        await assert.rejects(
          client['json']?.[name]?.() as Promise<unknown>,
          {
            name: 'ClientError',
            message: /the reply 200 is text\/plain, not application\/json: did the API/,
          },
          name,
        )
      }
    }
    for (const name of names(told)) {
      await assert.rejects(fetching['told']?.[name]?.() as Promise<unknown>, { name: 'ClientError' }, name)
    }
    // JSON of any name, and nothing without a type.
    for (const client of [fetching, knowing]) {
      for (const name of ['user', 'users', 'plain']) {
        send = () =>
          new Response('{"id":1}', {
            headers: { 'content-type': 'application/vnd.user+json; charset=utf-8' },
          })
        assert.deepEqual((await client['json']?.[name]?.())?.data, { id: 1 })
        send = () => new Response(new Blob([]).stream())
        assert.equal((await client['json']?.[name]?.())?.data, undefined)
      }
    }
  })

  test('what is no reply is named', async () => {
    const routes = { a: ['GET', '/a'] } as const
    type API = { a: { method: 'GET'; path: '/a' } }
    for (const given of [undefined, null, 5, {}, 'x']) {
      let calls = 0
      const fetch = async (): Promise<Response> => (calls++, given as never)
      const client = createClient<API>('http://a.test', { routes, fetch, retry: 2 })
      await assert.rejects(client.a(), {
        name: 'TypeError',
        message: `fetch gave ${String(given)}, which is no Response`,
      })
      assert.equal(calls, 1)
    }
    const hooked = createClient<API>('http://a.test', {
      routes,
      fetch: async () => new Response('x'),
      onResponse: () => 5 as never,
    })
    await assert.rejects(hooked.a(), {
      name: 'TypeError',
      message: 'onResponse gave 5, which is no Response',
    })
  })

  test('contracts, and a table that was generated, need nothing from the server', async () => {
    const tree = {
      users: {
        get: contract.get('/users/:id', {
          params: v.object({ id: v.string() }),
          response: v.object({ id: v.string() }),
          errors: { GONE: { status: 410, description: 'It was there' } },
        }),
      },
      ping: contract.get('/ping'),
    }
    const app = kit.app()
    app.implement(tree, {
      users: {
        get: (ctx) => {
          if (ctx.params.id === 'gone') throw ctx.fail('GONE')
          return { id: ctx.params.id }
        },
      },
      ping: () => 'pong',
    })
    await kit.serve(app, async ({ address }) => {
      for (const client of [
        createClient(tree, `${address.url}/`),
        createClient<typeof tree>(new URL(address.url), {
          routes: { 'users.get': ['GET', '/users/:id'], ping: ['GET', '/ping', []] },
        }),
      ]) {
        assert.deepEqual((await client.users.get({ params: { id: 'a' } })).data, { id: 'a' })
        const gone = await client.users.get({ params: { id: 'gone' } })
        assert.ok(!gone.ok && gone.code === 'GONE')
        assert.deepEqual([gone.status, gone.detail, gone.data], [410, 'It was there', undefined])
        const pong = await client.ping()
        assert.equal(pong.data, 'pong')
      }
    })
  })

  test('files give their part of an API, and a contract the errors of middleware', async () => {
    const notes = kit.app()
    const list = notes.get('/', () => ['Bread'])
    const errors = { UNAUTHORIZED: { status: 401, data: z.object({ realm: z.string() }) } }
    const admin = {
      purge: contract.delete('/purge', { response: { 204: null }, errors }),
      count: contract.get('/count', { response: z.number() }),
    }
    const app = kit.app()
    app.mount('/notes', notes)
    app.group('/admin', (group) => {
      group.implement(admin.purge, auth, (ctx) => ctx.reply(204))
      group.implement(admin.count, auth, () => 1)
    })
    const api = { notes: { list }, admin }
    app.expose(api)
    await kit.serve(app, async ({ address }) => {
      const client = createClient<typeof api>(address.url)
      assert.deepEqual((await client.notes.list()).data, ['Bread'])
      assert.equal((await client.admin.purge({}, { headers: { authorization: 'ada' } })).status, 204)
      const contracts = createClient(admin, `${address.url}/admin`)
      for (const { purge } of [client.admin, contracts]) {
        const refused = await purge()
        assert.ok(!refused.ok)
        assert.equal(refused.code, 'UNAUTHORIZED')
        assert.deepEqual(refused.data, { realm: 'users' })
      }
      await assert.rejects(contracts.count(), { name: 'ClientError', status: 401 })
    })
  })

  test('an address that cannot be one is refused at once', async () => {
    const refuse = (urls: unknown[]): void => {
      for (const url of urls) {
        const error = {
          name: 'TypeError',
          message: `the API's address is like https://host/path, not "${String(url)}"`,
        }
        assert.throws(() => createClient(url as string), error)
        assert.throws(() => createClient({ x: contract.get('/x') }, url as string), error)
      }
    }
    const never = ['localhost:3000', 'ftp://a.test', 'http://', 'http://a.test?b=c', '/a#b', 'mailto:a@b']
    refuse([...never, undefined, null])
    for (const url of [
      'http://a.test',
      'HTTPS://a.test:1/b/',
      'http://[::1]:3000',
      new URL('http://a.test'),
      // For pages; nothing else can call these.
      '',
      '/',
      '/api',
      'api/v1',
      '//a.test',
      '/a:b',
    ])
      assert.equal(typeof createClient(url), 'function')
    const nowhere = createClient<{ x: Route<'GET', '/x'> }>('/api')
    await assert.rejects(nowhere.x(), /\/api\/client\.json/)
  })

  test('the table is fetched once, and again after it could not be', async () => {
    const { app, api } = serverOf()
    const asked: string[] = []
    let broken: Response | null = new Response('<html>', { headers: { 'content-type': 'text/html' } })
    const fetch = async (request: Request): Promise<Response> => {
      asked.push(new URL(request.url).pathname)
      const reply = broken
      broken = null
      return reply ?? app.fetch(request)
    }
    const client = createClient<typeof api>('http://server.test', { fetch })
    await assert.rejects(client.mounted(), {
      name: 'ClientError',
      message:
        /^mounted: http:\/\/server\.test\/client\.json: the reply 200 is text\/html, not application\/json/,
    })
    assert.deepEqual(asked.splice(0), ['/client.json'])
    await Promise.all([client.mounted(), client.mounted(), client.users.add({ body: { name: 'a' } })])
    await client.mounted()
    assert.deepEqual(asked.splice(0).sort(), [
      '/client.json',
      '/inside/deep',
      '/inside/deep',
      '/inside/deep',
      '/users',
    ])
    for (const table of [
      'null',
      '[1]',
      '{"a":1}',
      '{"mounted":["GET","//evil.test/"]}',
      String.raw`{"mounted":["GET","/\\evil.test/"]}`,
      '{"mounted":["GET"]}',
      '[]',
      '{"mounted":["GET",["/deep"]]}',
      '{"mounted":["GET /x","/deep"]}',
      '{"mounted":["GET","/deep","abc"]}',
      '{"mounted":["GET","/deep",null]}',
      '{"mounted":["GET","/deep",[null]]}',
      '{"mounted":["GET","/deep",[200],5]}',
    ]) {
      broken = new Response(table, { headers: { 'content-type': 'application/json' } })
      const again = createClient<typeof api>('http://server.test', { fetch })
      await assert.rejects(again.mounted(), { name: 'ClientError' }, table)
      assert.equal((await again.mounted()).data, 'none')
    }
    let cancelled = false
    broken = new Response(new ReadableStream({ cancel: () => void (cancelled = true) }))
    const again = createClient<typeof api>('http://server.test', { fetch })
    await assert.rejects(again.mounted(), { name: 'ClientError', message: /the reply 200 is of no type/ })
    assert.equal(cancelled, true)
    assert.equal((await again.mounted()).data, 'none')
    const other = kit.app()
    const api2 = { pong: other.get('/pong', () => 'pong') }
    other.expose(api2, { path: '/api/routes.json' })
    const moved = createClient<typeof api2>('http://server.test', {
      fetch: other.fetch,
      routes: '/api/routes.json',
    })
    assert.equal((await moved.pong()).data, 'pong')
  })
})
