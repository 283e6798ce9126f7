/** Alternatives and guards: who passes them, and what fails lets nobody pass. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { HTTPError } from 'volant'
import { anyOf, apiKey, authenticate, basic, bearer, requireRole, requireScope } from 'volant/auth'
import { Kit } from '../kit.ts'
import { basicFor } from './kit.ts'

const kit = new Kit()

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
