/** What handlers, clients and the document of the API know of an authentication. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openapiOf } from 'volant'
import { anyOf, apiKey, authenticate, basic, bearer, requireRole, requireScope } from 'volant/auth'
import { createClient } from 'volant/client'
import { contract } from 'volant/contract'
import { procedure, rest, router } from 'volant/procedures'
import { z } from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

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
