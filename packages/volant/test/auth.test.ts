/** Authentications and guards in memory; `conformance/adapters/src/cases/auth.ts` has what concerns sockets. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, test } from 'node:test'
import { anyOf, apiKey, authenticate, basic, bearer, requireRole, requireScope } from '../src/auth/index.ts'
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
