/** Authentications and guards in memory; `conformance/adapters/src/cases/auth.ts` has what concerns sockets. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, test } from 'node:test'
import { HTTPError, openapiOf } from 'volant'
import { anyOf, apiKey, authenticate, basic, bearer, requireRole, requireScope, safeEqual } from 'volant/auth'
import { createClient } from 'volant/client'
import { contract } from 'volant/contract'
import { procedure, rest, router } from 'volant/procedures'
import { csrf, session } from 'volant/session'
import { trpc } from 'volant/trpc'
import { z } from 'zod'
import { Kit } from './kit.ts'

const kit = new Kit()

const basicFor = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

describe('bearer', () => {
  const app = kit.app()
  app
    .with(bearer({ realm: 'api', tokens: { ci: 'abc.def', app: ['new~1', 'old/1=='] } }))
    .get('/', (ctx) => [ctx.state.user, ctx.state.auth])

  test('a token gives its owner', async () => {
    for (const [token, owner] of [
      ['Bearer abc.def', 'ci'],
      ['bearer  new~1', 'app'],
      ['BEARER old/1==', 'app'],
    ]) {
      const reply = await app.inject({ url: '/', headers: { authorization: token as string } })
      assert.deepEqual(reply.json(), [owner, { scheme: 'bearer', scopes: [], roles: [] }])
    }
  })

  test('others are refused as RFC 6750 says', async () => {
    for (const [value, status, challenge] of [
      [undefined, 401, 'Bearer realm="api"'],
      ['Basic YTpi', 401, 'Bearer realm="api"'],
      ['Bearerabc.def', 401, 'Bearer realm="api"'],
      ['Bearer abc.deg', 401, 'Bearer realm="api", error="invalid_token"'],
      ['Bearer', 400, 'Bearer realm="api", error="invalid_request"'],
      ['Bearer abc def', 400, 'Bearer realm="api", error="invalid_request"'],
      ['Bearer abc,def', 400, 'Bearer realm="api", error="invalid_request"'],
      ['Bearer "abc"', 400, 'Bearer realm="api", error="invalid_request"'],
    ] as const) {
      const headers = value === undefined ? {} : { authorization: value as string }
      const reply = await app.inject({ url: '/', headers })
      assert.deepEqual([reply.status, reply.headers['www-authenticate']], [status, challenge], String(value))
    }
  })
})

test('anyOf and guards', async () => {
  const app = kit.app()
  const auth = anyOf(
    bearer({ verify: (token) => (token === 'good' ? { id: 1, scope: 'read' } : null) }),
    apiKey({ in: 'header', name: 'X-Api-Key', keys: { shop: 'k1' } }),
    basic({ realm: 'Staff', users: { ada: 'pässword:1' } }),
    authenticate({
      schemeName: 'cookie',
      security: { type: 'apiKey', in: 'cookie', name: 'id' },
      credentials: (ctx) => ctx.cookies['id'],
      verify: async (id) => (id === '7' ? { id, roles: ['admin'] } : null),
    }),
  )
  app.with(auth).get('/', (ctx) => ctx.state)
  app
    .with(auth)
    .with(requireScope('read'))
    .get('/read', () => 'x')
  app
    .with(auth)
    .with(requireRole('admin'))
    .get('/admin', () => 'x')
  const ask = async (url: string, headers: Record<string, string>) => {
    const reply = await app.inject({ url, headers })
    return [reply.status, reply.headers['www-authenticate'] ?? reply.text()]
  }
  const all =
    'Bearer, ApiKey in="header", name="X-Api-Key", Basic realm="Staff", charset="UTF-8", ApiKey in="cookie", name="id"'
  const forbidden =
    '{"type":"about:blank","title":"Forbidden","status":403,"detail":"The request needs the scope read","code":"E_FORBIDDEN"}'
  assert.deepEqual(await ask('/', {}), [401, all])
  assert.deepEqual(await ask('/', { 'x-api-key': 'no' }), [401, all])
  assert.deepEqual(await ask('/read', { authorization: 'Bearer good' }), [200, 'x'])
  assert.deepEqual(await ask('/read', { 'x-api-key': 'k1' }), [403, forbidden])
  assert.deepEqual(await ask('/admin', { cookie: 'id=7' }), [200, 'x'])
  assert.equal((await ask('/', { authorization: basicFor('ada:pässword:1') }))[0], 200)
  assert.ok(!inspect(auth, { depth: 9, showHidden: true }).includes('k1'))
})

test('a role is one name, also with spaces in it', async () => {
  const app = kit.app()
  const signedIn = app.with(bearer({ verify: (role) => ({ role: role.replace('_', ' ') }) }))
  signedIn.with(requireRole('admin')).get('/admin', () => 'x')
  signedIn.with(requireRole('store admin')).get('/store', () => 'x')
  const ask = async (url: string, role: string): Promise<number> =>
    (await app.inject({ url, headers: { authorization: `Bearer ${role}` } })).status
  assert.deepEqual([await ask('/admin', 'admin'), await ask('/store', 'admin')], [200, 403])
  assert.deepEqual([await ask('/admin', 'store_admin'), await ask('/store', 'store_admin')], [403, 200])
})

test('an error or a reply in place of a user lets nobody pass', async () => {
  for (const [given, reported] of [
    [new Error('no such user'), /no such user/],
    [new Response('no', { status: 401 }), /bearer: verify gave a Response, which is no user/],
  ] as const) {
    for (const verify of [() => given as object, async () => given as object]) {
      const reports: unknown[] = []
      const app = kit.app({ report: (error) => void reports.push(error) })
      app.with(bearer({ verify })).get('/', () => 'in')
      const reply = await app.inject({ url: '/', headers: { authorization: 'Bearer x' } })
      assert.equal(reply.status, 500)
      assert.match(String(reports), reported)
    }
  }
})

test('credentials that have to be waited for let nobody pass', async () => {
  for (const credentials of [async () => null, () => Promise.reject(new Error('a database is down'))]) {
    const reports: unknown[] = []
    const app = kit.app({ report: (error) => void reports.push(error) })
    const auth = authenticate({
      schemeName: 'cookie',
      security: { type: 'apiKey', in: 'cookie', name: 'id' },
      credentials,
      verify: (id) => ({ id }),
    })
    app.with(auth).get('/', () => 'in')
    assert.equal((await app.inject({ url: '/' })).status, 500)
    assert.match(String(reports), /authenticate: credentials gave a promise.*look them up in verify/)
  }
})

test('basic reads what RFC 7617 allows, and says what is wrong with the rest', async () => {
  const app = kit.app()
  app
    .with(basic({ realm: 'St"aff', users: { ada: 'pä:ss', 'Grace Hopper': 'x' } }))
    .get('/', (ctx) => ctx.state.user)
  const ask = async (authorization: string) => {
    const reply = await app.inject({ url: '/', headers: { authorization } })
    return [reply.status, reply.status === 200 ? reply.text() : (reply.json() as { detail: string }).detail]
  }
  const encoded = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')
  assert.deepEqual(await ask(basicFor('ada:pä:ss')), [200, 'ada'])
  assert.deepEqual(await ask(basicFor('ada:pa\u0308:ss')), [200, 'ada'])
  assert.deepEqual(await ask(`bASIC   ${encoded('Grace Hopper:x')}`), [200, 'Grace Hopper'])
  const wrong = 'The name or the password is wrong'
  for (const pair of ['ada:x', 'grace:x', 'Ada:pä:ss', 'ada:pä:ss ', ':', 'ada:', ':pä:ss']) {
    assert.deepEqual(await ask(basicFor(pair)), [401, wrong], pair)
  }
  for (const [token, detail] of [
    [encoded('ada'), 'What Authorization has after Basic has no colon between name and password'],
    [encoded(Uint8Array.of(0xff, 0x3a, 0x61)), 'What Authorization has after Basic is not UTF-8'],
    [encoded('ada:\n'), 'What Authorization has after Basic has control characters'],
    ['YWRhOng', 'What Authorization has after Basic is not base64'],
    ['a-_a', 'What Authorization has after Basic is not base64'],
    ['', 'Authorization has no token in the form that basic has'],
    ['YTpi YTpi', 'Authorization has no token in the form that basic has'],
  ] as const) {
    assert.deepEqual(await ask(`Basic ${token}`), [400, detail], token)
  }
  const { headers } = await app.inject('/')
  assert.equal(headers['www-authenticate'], String.raw`Basic realm="St\"aff", charset="UTF-8"`)
})

test('a key comes in a header, in the query or in a cookie', async () => {
  for (const [place, give] of [
    ['header', (key: string) => ({ url: '/', headers: { 'x-key': key } })],
    ['query', (key: string) => ({ url: `/?X-Key=${encodeURIComponent(key)}` })],
    ['cookie', (key: string) => ({ url: '/', headers: { cookie: `X-Key=${encodeURIComponent(key)}` } })],
  ] as const) {
    const app = kit.app()
    app
      .with(apiKey({ in: place, name: 'X-Key', keys: { shop: ['new key', 'old'], 'other shop': 'k' } }))
      .get('/', (ctx) => ctx.state.user)
    for (const [key, status] of [
      ['new key', 200],
      ['old', 200],
      ['k', 200],
      ['olD', 401],
      ['', 401],
    ] as const) {
      assert.equal((await app.inject(give(key))).status, status, `${place} ${key}`)
    }
  }
})

test('credentials may be optional; wrong ones are refused all the same', async () => {
  const app = kit.app()
  const optional = app.with(bearer({ token: 'good', required: false }))
  optional.get('/', (ctx) => ({ known: ctx.state.auth !== null }))
  optional.with(requireRole('admin')).get('/admin', () => 'x')
  const other = app.with(
    anyOf(bearer({ token: 'good' }), basic({ realm: 'r', users: { a: 'b' }, required: false })),
  )
  other.get('/any', (ctx) => ctx.state.user ?? 'nobody')
  const ask = async (url: string, authorization?: string) => {
    const { status, headers } = await app.inject({ url, headers: authorization ? { authorization } : {} })
    return [status, headers['www-authenticate']]
  }
  assert.deepEqual(await ask('/'), [200, undefined])
  assert.deepEqual(await ask('/', 'Bearer good'), [200, undefined])
  assert.deepEqual(await ask('/', 'Bearer bad'), [401, 'Bearer error="invalid_token"'])
  assert.deepEqual(await ask('/admin'), [401, 'Bearer'])
  assert.deepEqual(await ask('/admin', 'Bearer good'), [403, undefined])
  assert.deepEqual(await ask('/any'), [200, undefined])
  assert.deepEqual(await ask('/any', 'Bearer bad'), [
    401,
    'Bearer error="invalid_token", Basic realm="r", charset="UTF-8"',
  ])
})

test('an error of verify is the error of the request, and is reported where another alternative passes', async () => {
  const failing = new Kit()
  const app = failing.app()
  const broken = bearer({
    verify: (token, ctx) => {
      assert.equal(ctx.path, '/')
      if (token === 'http') throw new HTTPError(503, 'The users cannot be asked')
      throw new Error(`broken`)
    },
  })
  const key = apiKey({ in: 'header', name: 'x-key', keys: ['k'] })
  app.with(anyOf(broken, key)).get('/', () => 'x')
  const ask = async (headers: Record<string, string>) => (await app.inject({ url: '/', headers })).status
  assert.equal(await ask({ authorization: 'Bearer a' }), 500)
  assert.equal(failing.reports.length, 1)
  assert.equal(await ask({ authorization: 'Bearer a', 'x-key': 'k' }), 200)
  assert.equal(failing.reports.length, 2)
  assert.equal(await ask({ authorization: 'Bearer a', 'x-key': 'bad' }), 500)
  assert.equal(await ask({ authorization: 'Bearer http' }), 503)
  assert.equal(await ask({ authorization: 'Bearer http', 'x-key': 'k' }), 200)
  assert.equal(failing.reports.length, 3)
})

test('scopes that are no list of names are a mistake, not no scopes', async () => {
  const failing = new Kit()
  const app = failing.app()
  app.with(bearer({ verify: () => ({ scopes: { admin: true } }) })).get('/', () => 'x')
  assert.equal((await app.inject({ url: '/', headers: { authorization: 'Bearer a' } })).status, 500)
  assert.match(String(failing.reports[0]), /verify: scopes of a user are a list of names, not an object/)
})

test('a guard without an authentication in front of it refuses everybody', async () => {
  const failing = new Kit()
  const app = failing.app()
  app.with(requireScope('a')).get('/', () => 'x')
  assert.equal((await app.inject('/')).status, 500)
  assert.match(String(failing.reports[0]), /requireScope\(\) ran for GET \/ without an authentication/)
})

test('what handlers see is typed', () => {
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
  const same = <A, B>(value: Same<A, B>): void => assert.ok(value)
  const app = kit.app()
  const user = bearer({ verify: async (token) => (token === 'a' ? { id: 1 } : null) })
  app.with(user).get('/a', (ctx) => same<typeof ctx.state.user, { id: number }>(true))
  const owners = bearer({ tokens: { ci: 'a', app: ['b'] } })
  app.with(owners).get('/b', (ctx) => same<typeof ctx.state.user, 'ci' | 'app'>(true))
  app.with(owners).get('/c', (ctx) => same<typeof ctx.state.auth.scheme, 'bearer'>(true))
  const none = bearer({ token: 'a' })
  app.with(none).get('/d', (ctx) => same<typeof ctx.state.user, null>(true))
  const optional = basic({ realm: 'r', users: { ada: 'x' }, required: false })
  app.with(optional).get('/e', (ctx) => same<typeof ctx.state.user, 'ada' | null>(true))
  const either = anyOf(user, owners)
  app.with(either).get('/f', (ctx) => same<typeof ctx.state.user, { id: number } | 'ci' | 'app'>(true))
  const boolean = basic({ realm: 'r', verify: (name: string) => name === 'a' })
  app.with(boolean).get('/g', (ctx) => same<typeof ctx.state.user, true>(true))
  const own = authenticate({
    schemeName: 'session',
    security: { type: 'apiKey', in: 'cookie', name: 's' },
    credentials: (ctx) => ctx.cookies['s'],
    verify: (id) => (same<typeof id, string>(true), { id }),
  })
  app.with(own).get('/h', (ctx) => same<typeof ctx.state.auth.scheme, 'session'>(true))
  app
    .with(own)
    .with(requireRole('a'))
    .get('/i', (ctx) => same<typeof ctx.state.user, { id: string }>(true))
  assert.equal(app.routes().length, 9)
})

test("the API's document has alternatives, scopes and refusals, and a client has them as results", async () => {
  const app = kit.app()
  const members = app.with(
    anyOf(
      bearer({ verify: (token) => ({ id: token, scope: 'read' }) }),
      apiKey({ in: 'cookie', name: 'session', schemeName: 'cookie', keys: ['k'] }),
    ),
  )
  const list = members.with(requireScope('read', 'list')).get('/list', { response: z.string() }, () => 'x')
  members.get('/own', { security: [] }, () => 'x')
  app.with(bearer({ token: 'a', required: false })).get('/open', () => 'x')
  const procedures = router({
    books: router({
      createBook: procedure()
        .use(bearer({ token: 'a' }))
        .use(requireScope('w'))
        .mutation(() => 1),
    }),
  })
  app.register(rest(procedures))
  const { paths, components } = openapiOf(app, { info: { title: 'T', version: '1' } })
  assert.deepEqual(paths['/list']?.get?.security, [{ bearer: ['read', 'list'] }, { cookie: [] }])
  assert.deepEqual(paths['/own']?.get?.security, [])
  assert.deepEqual(paths['/open']?.get?.security, [{ bearer: [] }, {}])
  assert.deepEqual(paths['/books']?.post?.security, [{ bearer: ['w'] }])
  for (const status of ['400', '401', '403']) assert.ok(paths['/books']?.post?.responses[status], status)
  for (const status of ['400', '401', '403']) assert.ok(paths['/list']?.get?.responses[status], status)
  assert.deepEqual(components?.securitySchemes, {
    bearer: { type: 'http', scheme: 'bearer' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  })
  const api = { list }
  app.expose(api)
  const client = createClient<typeof api>('http://volant.test', { fetch: app.fetch })
  const result = await client.list()
  assert.ok(!result.ok)
  const code: 'E_UNAUTHORIZED' | 'E_FORBIDDEN' | 'E_CREDENTIALS_MALFORMED' = result.code
  assert.deepEqual([result.status, code], [401, 'E_UNAUTHORIZED'])
})

test('procedures run behind it, over REST and over tRPC', async () => {
  const app = kit.app()
  const me = procedure()
    .use(bearer({ verify: (token) => (token === 'good' ? { name: 'ada', roles: ['admin'] } : null) }))
    .use(requireRole('admin'))
    .query(({ ctx }) => ctx.state.user.name)
  const procedures = router({ users: router({ listUsers: me }) })
  app.register(rest(procedures)).register(trpc(procedures))
  for (const url of ['/users', '/trpc/users.listUsers']) {
    const good = await app.inject({ url, headers: { authorization: 'Bearer good' } })
    assert.match(good.text(), /ada/, url)
    for (const headers of [{}, { authorization: 'Bearer bad' }] as Record<string, string>[]) {
      assert.equal((await app.inject({ url, headers })).status, 401, url)
    }
    const twice = { authorization: ['Bearer good', 'Bearer good'] }
    assert.equal((await app.inject({ url, headers: twice as never })).status, 400, url)
  }
})

test('the token of a form is checked in front of an authentication and behind it', async () => {
  const app = kit.app()
  const sessions = session<{ user: string }>({ keys: ['k'.repeat(32)] })
  const auth = bearer({ token: 'good' })
  const guard = csrf({ token: true })
  app
    .with(sessions)
    .with(guard)
    .with(auth)
    .post('/front', (ctx) => ctx.bodyText.length > 0)
  app
    .with(sessions)
    .with(auth)
    .with(guard)
    .post('/behind', (ctx) => ctx.bodyText.length > 0)
  app
    .with(sessions)
    .with(guard)
    .get('/', (ctx) => ctx.state.csrf.token())
  const page = await app.inject('/')
  const cookie = String(page.headers['set-cookie']).split(';')[0] as string
  for (const url of ['/front', '/behind']) {
    for (const [token, status] of [
      [page.text(), 200],
      ['x', 403],
    ] as const) {
      const reply = await app.inject({
        method: 'POST',
        url,
        headers: {
          cookie,
          authorization: 'Bearer good',
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: `_csrf=${encodeURIComponent(token)}`,
      })
      assert.equal(reply.status, status, `${url} ${reply.text()}`)
    }
  }
})

describe('options', () => {
  const rows: [what: string, make: () => unknown, message: RegExp][] = [
    ['no source', () => bearer({} as never), /one of token, tokens, verify, not "none"/],
    ['two sources', () => bearer({ token: 'a', tokens: ['b'] }), /not "token and tokens"/],
    [
      'a missing variable',
      () => bearer({ token: process.env['NOT_THERE'] }),
      /a value \(is its environment variable set\?\), not undefined$/,
    ],
    [
      'a missing variable among others',
      () => bearer({ tokens: { ci: process.env['NOT_THERE'] } }),
      /tokens\.ci is undefined/,
    ],
    ['an empty token', () => bearer({ token: '' }), /token is empty/],
    ['no tokens', () => bearer({ tokens: {} }), /nobody could pass/],
    ['one token for two', () => bearer({ tokens: { a: 'hunter2', b: 'hunter2' } }), /one secret twice/],
    [
      'a token that cannot be sent',
      () => bearer({ token: 'top secret' }),
      /characters that a bearer token cannot/,
    ],
    ['a text for tokens', () => bearer({ tokens: 'secret' as never }), /tokens takes a list of texts/],
    ['a name of another framework', () => bearer({ keys: ['a'] } as never), /did you mean "tokens"/],
    ['a realm of two lines', () => bearer({ token: 'a', realm: 'a\nb' }), /realm takes/],
    ['verify that is none', () => bearer({ verify: 'a' as never }), /verify takes a function/],
    [
      'required that is none',
      () => bearer({ token: 'a', required: 1 as never }),
      /required takes true or false/,
    ],
    ['a scheme of two words', () => bearer({ token: 'a', schemeName: 'a b' }), /schemeName takes/],
    ['no realm', () => basic({ users: { a: 'b' } } as never), /realm takes/],
    [
      'a colon in a name',
      () => basic({ realm: 'r', users: { 'a:b': 'c' } }),
      /users\.a:b has a name that cannot be sent/,
    ],
    ['an empty password', () => basic({ realm: 'r', users: { a: '' } }), /users\.a is empty/],
    ['a hash', () => basic({ realm: 'r', users: { a: '$argon2id$secret' } }), /verifyPassword/],
    ['a password with a line', () => basic({ realm: 'r', users: { a: 'top\nsecret' } }), /control character/],
    [
      'a list of users',
      () => basic({ realm: 'r', users: ['secret'] as never }),
      /users takes passwords by name/,
    ],
    ['no users', () => basic({ realm: 'r', users: {} }), /nobody could pass/],
    [
      'another place',
      () => apiKey({ in: 'body' as never, name: 'a', keys: ['b'] }),
      /in takes header, query, cookie/,
    ],
    ['no name', () => apiKey({ in: 'header', name: 'a b', keys: ['b'] }), /name takes/],
    ['no keys', () => apiKey({ in: 'header', name: 'a' } as never), /one of keys, verify/],
    ['nothing', () => anyOf(...([] as never)), /at least one/],
    ['a plain function', () => anyOf((() => {}) as never), /takes authentications/],
    ['one that is not called', () => anyOf(bearer as never), /takes authentications/],
    ['no security', () => authenticate({ schemeName: 'a' } as never), /security takes/],
    [
      'no credentials',
      () => authenticate({ schemeName: 'a', security: { type: 'http' } } as never),
      /credentials takes/,
    ],
    ['no scope', () => requireScope(), /at least one name, not undefined$/],
    ['two scopes in one', () => requireScope('a b'), /names of scopes/],
    ['no role', () => requireRole(), /at least one name/],
  ]
  for (const [what, make, message] of rows) {
    test(`${what} is refused, and no secret is shown`, () => {
      assert.throws(make, (error: Error & { code: string }) => {
        assert.match(error.code, /^E_BAD_(?:OPTION|HANDLER)$/)
        assert.match(error.message, message)
        assert.ok(!/hunter2|top.secret|'secret'|"secret"/.test(error.message), error.message)
        return true
      })
    })
  }
})

test('safeEqual compares texts and bytes', () => {
  assert.ok(safeEqual('ä', 'ä') && safeEqual('', '') && safeEqual('a', Buffer.from('a')))
  assert.ok(!safeEqual('a', 'b') && !safeEqual('a', 'aa') && !safeEqual('', 'a'))
})

test('a contract that declares the refusals gives them to its clients', async () => {
  const errors = { E_UNAUTHORIZED: { status: 401 }, E_FORBIDDEN: { status: 403 } } as const
  const api = { me: contract.get('/me', { response: z.string(), errors }) }
  const app = kit.app()
  const guarded = app.with(bearer({ tokens: { ci: 'a.b' } })).with(requireRole('admin'))
  guarded.implement(api.me, (ctx) => ctx.state.user)
  const stranger = await createClient(api, 'http://volant.test', { fetch: app.fetch }).me()
  const headers = { authorization: 'Bearer a.b' }
  const known = await createClient(api, 'http://volant.test', { fetch: app.fetch, headers }).me()
  assert.ok(!stranger.ok && !known.ok)
  const codes: ('E_UNAUTHORIZED' | 'E_FORBIDDEN')[] = [stranger.code, known.code]
  assert.deepEqual(codes, ['E_UNAUTHORIZED', 'E_FORBIDDEN'])
})
