/** What bearer, basic and keys read of a request; sockets are in `conformance/adapters/src/cases/auth.ts`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anyOf, apiKey, authenticate, basic, bearer, requireRole, safeEqual } from 'volant/auth'
import { Kit } from '../kit.ts'
import { basicFor } from './kit.ts'

const kit = new Kit()

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

test('safeEqual compares texts and bytes', () => {
  assert.ok(safeEqual('ä', 'ä') && safeEqual('', '') && safeEqual('a', Buffer.from('a')))
  assert.ok(!safeEqual('a', 'b') && !safeEqual('a', 'aa') && !safeEqual('', 'a'))
})
