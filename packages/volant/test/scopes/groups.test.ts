import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, HTTPError, middleware } from 'volant'
import { mark, kit } from './kit.ts'

describe('scopes', () => {
  test('a group prefixes its routes and keeps its middleware to itself', async () => {
    const app = kit.app()
    app.use(mark('app'))
    app.group('/api', (api) => {
      api.get('/users/:id', (ctx) => ({ id: ctx.params.id, pattern: ctx.pattern }))
      api.get('/', () => 'the group')
      // After the routes: they run behind it all the same.
      api.use(mark('api'))
      api.group('/v2/:tenant/', (v2) => {
        v2.use(mark('v2'))
        v2.get('/users/:id', (ctx) => ctx.params)
      })
    })
    app.get('/outside', () => 'outside')
    await kit.serve(app, async (live) => {
      const user = await live.ask('/api/users/7')
      assert.deepEqual(user.json(), { id: '7', pattern: '/api/users/:id' })
      assert.equal(user.headers['x-ran'], 'app, api')
      assert.equal((await live.ask('/api')).text, 'the group')
      assert.equal((await live.ask('/api/')).status, 404)
      const nested = await live.ask('/api/v2/acme/users/1')
      assert.deepEqual(nested.json(), { tenant: 'acme', id: '1' })
      assert.equal(nested.headers['x-ran'], 'app, api, v2')
      assert.equal((await live.ask('/outside')).headers['x-ran'], 'app')
    })
  })

  test('misses belong to the innermost scope whose prefix the path has', async () => {
    const app = kit.app()
    app.use(mark('app'))
    app.group('/api', (api) => {
      api.use(mark('api'))
      api.get('/users', () => 'users')
      api.onNotFound((ctx) => ctx.json({ missing: ctx.path }))
      api.group('/deep/:id', (deep) => {
        deep.use(mark('deep'))
        deep.get('/x', () => 'x')
      })
    })
    await kit.serve(app, async (live) => {
      const missing = await live.ask('/api/nothing')
      assert.equal(missing.status, 404)
      assert.deepEqual(missing.json(), { missing: '/api/nothing' })
      assert.equal(missing.headers['x-ran'], 'app, api')
      assert.equal((await live.ask('/api/deep/1/y')).headers['x-ran'], 'app, api, deep')
      assert.deepEqual((await live.ask('/api/deep/1/y')).json(), { missing: '/api/deep/1/y' })
      const refused = await live.ask('/api/users', { method: 'DELETE' })
      assert.equal(refused.status, 405)
      assert.equal(refused.headers['x-ran'], 'app, api')
      const asked = await live.ask('/api/users', { method: 'OPTIONS' })
      assert.equal(asked.status, 204)
      assert.equal(asked.headers['x-ran'], 'app, api')
      // A prefix is whole segments.
      const other = await live.ask('/apiary')
      assert.equal(other.headers['x-ran'], 'app')
      assert.match(other.headers['content-type'] ?? '', /problem\+json/)
    })
  })

  test('with() runs its middleware for its routes alone, and adds to the state', async () => {
    const auth = middleware<{ user: { name: string } }>(async (ctx, next) => {
      const name = ctx.headers['x-user']
      if (name === undefined) throw new HTTPError(401, 'who are you?')
      ctx.state.user = { name }
      await next()
    })
    const tenant = before<{ tenant: number }>((ctx) => {
      ctx.state.tenant = 7
    })
    const app = kit.app()
    const scope = app.with(auth).with(tenant)
    scope.get('/me', (ctx) => ({ name: ctx.state.user.name, tenant: ctx.state.tenant }))
    app.get('/open', () => 'open')
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/me', { headers: { 'x-user': 'ann' } })).json(), {
        name: 'ann',
        tenant: 7,
      })
      assert.equal((await live.ask('/me')).status, 401)
      assert.equal((await live.ask('/open')).text, 'open')
      // No prefix of its own: an unknown path is nobody's.
      assert.equal((await live.ask('/nowhere')).status, 404)
    })
  })

  test('parameters of a prefix are there for its middleware on every request, misses too', async () => {
    const app = kit.app()
    app.group('/:tenant/:id-x', (inside) => {
      inside.use((ctx, next) => {
        ctx.header('x-tenant', ctx.params.tenant.toUpperCase()).header('x-id', ctx.params.id.toUpperCase())
        return next()
      })
      inside.get('/page', () => 1)
    })
    await kit.serve(app, async (live) => {
      for (const [path, method, status] of [
        ['/acm%65/a%20b-x/page', 'GET', 200],
        ['/acme/a%20b-x/none', 'GET', 404],
        ['/acme/a%20b-x/page', 'DELETE', 405],
        ['/acme/a%20b-x/page', 'OPTIONS', 204],
      ] as const) {
        const reply = await live.ask(path, { method })
        assert.equal(reply.status, status)
        assert.deepEqual([reply.headers['x-tenant'], reply.headers['x-id']], ['ACME', 'A B'])
      }
    })
  })

  test('errors go to the handler of the nearest scope', async () => {
    const app = kit.app()
    app.onError((_, ctx) => ctx.text('app', 500))
    app.group('/a', (a) => {
      a.onError((_, ctx) => ctx.text('a', 500))
      a.get('/x', () => Promise.reject(new Error('x')))
      a.with(mark('w')).get('/y', () => Promise.reject(new Error('y')))
    })
    app.get('/z', () => Promise.reject(new Error('z')))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/a/x')).text, 'a')
      assert.equal((await live.ask('/a/y')).text, 'a')
      assert.equal((await live.ask('/z')).text, 'app')
    })
  })

  test('routes() tells of every route with its whole path', () => {
    const app = kit.app()
    const auth = middleware({ errors: { UNAUTHORISED: { status: 401 } } }, (_, next) => next())
    app.get('/a', () => 1)
    app.with(auth).group('/g', (g) => g.post('/b/:id', { maxBodySize: 10, bodyMode: 'stream' }, () => 1))
    const other = kit.app()
    other.on(['PUT', 'PATCH'], '/c', () => 1)
    app.mount('/m', other)
    assert.deepEqual(
      app.routes().map(({ method, path, bodyMode }) => [method, path, bodyMode]),
      [
        ['GET', '/a', 'buffer'],
        ['POST', '/g/b/:id', 'stream'],
        ['PUT', '/m/c', 'buffer'],
        ['PATCH', '/m/c', 'buffer'],
      ],
    )
    assert.deepEqual(app.routes()[1]?.declarations, [{ errors: { UNAUTHORISED: { status: 401 } } }])
    assert.equal(app.routes()[1]?.maxBodySize, 10)
  })
})
