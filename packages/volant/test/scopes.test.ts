import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, type Context, HTTPError, middleware, type Next, type Scope } from 'volant'
import { Kit } from './kit.ts'

/** A middleware that leaves its name in a header of the reply, in the order they ran. */
const mark = (name: string) => (ctx: Context, next: Next) => {
  ctx.append('x-ran', name)
  return next()
}

const kit = new Kit()

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

  test('a mounted app brings its routes, middleware, errors and misses', async () => {
    const admin = kit.app()
    admin.use(mark('admin'))
    admin.get('/', () => 'home')
    admin.get('/fail', () => {
      throw new Error('secret')
    })
    admin.onError((error, ctx) => ctx.json({ admin: error instanceof Error }, 500))
    admin.onNotFound(() => 'no admin page')
    const app = kit.app()
    app.use(mark('app'))
    app.group('/inner', (inner) => inner.mount('/admin', admin))
    admin.get('/later/:id', (ctx) => `later ${ctx.params.id}`)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/inner/admin')).text, 'home')
      assert.equal((await live.ask('/inner/admin')).headers['x-ran'], 'app, admin')
      assert.equal((await live.ask('/inner/admin/later/5')).text, 'later 5')
      assert.deepEqual((await live.ask('/inner/admin/fail')).json(), { admin: true })
      const missing = await live.ask('/inner/admin/none')
      assert.equal(missing.status, 404)
      assert.equal(missing.text, 'no admin page')
      assert.equal((await live.ask('/inner')).headers['x-ran'], 'app')
    })
    assert.throws(() => admin.get('/too-late', () => 1), { code: 'E_STARTED' })
  })

  test('routes that conflict through prefixes name both', () => {
    const app = kit.app()
    app.get('/api/users/:id', () => 1)
    const named = /GET \/api\/users\/:name conflicts with GET \/api\/users\/:id/
    assert.throws(() => app.group('/api', (api) => api.get('/users/:name', () => 2)), named)
    const other = kit.app()
    other.get('/users/:name', () => 3)
    assert.throws(() => app.mount('/api', other), named)
  })

  test('what cannot be mounted or grouped is refused by name', () => {
    const app = kit.app()
    const other = kit.app()
    app.mount('/a', other)
    assert.throws(() => other.mount('/b', app), { code: 'E_BAD_OPTION', message: /mounted in itself/ })
    assert.throws(() => app.mount('/x', app), { code: 'E_BAD_OPTION' })
    assert.throws(() => app.mount('/x', {} as never), { code: 'E_BAD_HANDLER', message: /mount\(\/x\)/ })
    assert.throws(() => app.group('/files/*', () => {}), { code: 'E_BAD_OPTION', message: /wildcard/ })
    assert.throws(() => app.group('/a/:b?', () => {}), { code: 'E_BAD_OPTION', message: /optional/ })
    assert.throws(() => app.group('api', () => {}), { code: 'E_ROUTE_PATTERN' })
    assert.throws(() => app.group('', () => {}), { code: 'E_BAD_OPTION' })
    assert.throws(() => app.group('/g', undefined as never), {
      code: 'E_BAD_HANDLER',
      message: /group\(\/g\)/,
    })
    assert.throws(() => app.group('/g', (async () => {}) as never), { message: /register\(\)/ })
    assert.throws(() => app.use(other as never), { code: 'E_BAD_HANDLER', message: /app\.mount/ })
    assert.throws(() => app.register(null as never), { code: 'E_BAD_HANDLER', message: /plugin/ })
    const pathless = { code: 'E_BAD_OPTION', message: /onNotFound is for an app or a group/ }
    assert.throws(() => app.with(mark('x')).onNotFound(() => 1), pathless)
    assert.throws(() => app.register((scope: Scope) => void scope.onNotFound(() => 1)), pathless)
    assert.throws(() => app.on([], '/x', () => 1), { code: 'E_BAD_OPTION', message: /methods/ })
    assert.throws(() => app.with('auth' as never), { code: 'E_BAD_HANDLER', message: /middleware/ })
    assert.throws(() => app.group('/g', (g) => g.get('users', () => 1)), { code: 'E_ROUTE_PATTERN' })
  })

  test('use() with a path is for requests under it', async () => {
    const app = kit.app()
    app.use('/admin', mark('admin'))
    app.use('/users/:id/private', mark('private'))
    app.use('/', mark('all'))
    app.get('/admin', () => 1)
    app.get('/administrator', () => 1)
    app.get('/:section/page', () => 1)
    app.get('/users/:id/private/keys', () => 1)
    app.get('/users/:id/public', () => 1)
    await kit.serve(app, async (live) => {
      const ran = async (path: string) => (await live.ask(path)).headers['x-ran']
      assert.equal(await ran('/admin'), 'admin, all')
      assert.equal(await ran('/administrator'), 'all')
      assert.equal(await ran('/admin/page'), 'admin, all')
      assert.equal(await ran('/other/page'), 'all')
      assert.equal(await ran('/admin/none'), 'admin, all')
      assert.equal(await ran('/users/1/private/keys'), 'private, all')
      assert.equal(await ran('/users/1/public'), 'all')
      // One canonical path: an escape does not get around it.
      assert.equal(await ran('/%61dmin/page'), 'admin, all')
    })
  })

  test('no spelling of a path gets around use() with a path', async () => {
    const guard = before(() => {
      throw new HTTPError(401)
    })
    const app = kit.app()
    app.use('/admin', guard)
    app.use('/a@b/:id', guard)
    app.get('/*', (ctx) => `leaked ${ctx.params['*']}`)
    app.get('/items/:name', (ctx) => ctx.params.name)
    app.use('/items/secret', guard)
    await kit.serve(app, async (live) => {
      for (const path of [
        '/admin',
        '/admin/x',
        '//admin/x',
        '///admin//x',
        '/admin%2Fx',
        '/admin%5cx',
        '/%61dmin%2fx',
        '/%2Fadmin/x',
        '/a%40b/7',
        '//a@b/7/x',
        '/items/secret',
        '/items/secret%2Fx',
      ]) {
        assert.equal((await live.ask(path)).status, 401, path)
      }
      for (const path of ['/administrator', '/x/admin', '/a@b', '/items/secrets', '/adm%25in']) {
        assert.equal((await live.ask(path)).status, 200, path)
      }
    })
    const relaxed = kit.app({ router: { caseSensitive: false, ignoreTrailingSlash: true } })
    relaxed.use('/Caf%C3%A9', guard)
    relaxed.get('/:place/:page?', () => 'leaked')
    await kit.serve(relaxed, async (live) => {
      for (const path of ['/caf%c3%a9', '/CAF%C3%A9/', '/caf%C3%A9/x', '/caf%C3%A9/x/']) {
        assert.equal((await live.ask(path)).status, 401, path)
      }
    })
  })

  test('use() with a path in a mounted app counts from where it is mounted', async () => {
    const inner = kit.app()
    inner.use('/secret', mark('secret'))
    inner.get('/secret/x', () => 1)
    inner.get('/:any/y', () => 1)
    inner.group('/deep', (deep) => {
      deep.get('/secret', () => 1)
      deep.get('/:name', () => 1)
    })
    const middle = kit.app()
    middle.mount('/inner', inner)
    const app = kit.app()
    app.mount('/m', middle)
    app.mount('/other/:tenant', inner)
    // Later: mounted apps go on.
    inner.group('/deep', (deep) => deep.use('/secret', mark('deep')))
    inner.use('/deep', mark('under'))
    await kit.serve(app, async (live) => {
      for (const base of ['/m/inner', '/other/acme']) {
        const ran = async (path: string) => (await live.ask(base + path)).headers['x-ran']
        assert.equal(await ran('/secret/x'), 'secret')
        assert.equal(await ran('/secret/y'), 'secret')
        assert.equal(await ran('/secret/none'), 'secret')
        assert.equal(await ran('/public/y'), undefined)
        assert.equal(await ran('/deep/secret'), 'under')
      }
      assert.equal((await live.ask('/secret/x')).headers['x-ran'], undefined)
    })
  })

  test('an app mounted at / has its own paths; one mounted twice has its hooks once', async () => {
    const inner = kit.app()
    const ran: string[] = []
    inner.onStart(() => void ran.push('start'))
    inner.onClose(() => void ran.push('close'))
    inner.get('/', () => 'root')
    inner.get('/x', () => 'x')
    inner.use('/x', mark('x'))
    const app = kit.app()
    app.mount('/', inner)
    app.mount('/again', inner)
    assert.deepEqual(
      app.routes().map(({ path }) => path),
      ['/', '/x', '/again', '/again/x'],
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/')).text, 'root')
      assert.equal((await live.ask('/x')).headers['x-ran'], 'x')
      assert.equal((await live.ask('/again/x')).headers['x-ran'], 'x')
    })
    assert.deepEqual(ran, ['start', 'close'])
  })

  test('plugins have a scope of their own, async ones are waited for', async () => {
    const app = kit.app()
    const order: string[] = []
    app.register(
      (scope: Scope, { name }: { name: string }) => {
        scope.use(mark(name))
        scope.get(`/${name}`, () => name)
      },
      { name: 'first' },
    )
    app.register(async (scope: Scope) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      scope.get('/slow', () => 'slow')
      scope.register(async (inside: Scope) => {
        await Promise.resolve()
        inside.get('/inside', () => 'inside')
      })
      order.push('plugin')
    })
    app.onStart(() => void order.push('start'))
    app.get('/plain', () => 'plain')
    await kit.serve(app, async (live) => {
      assert.deepEqual(order, ['plugin', 'start'])
      assert.equal((await live.ask('/first')).headers['x-ran'], 'first')
      assert.equal((await live.ask('/plain')).headers['x-ran'], undefined)
      assert.equal((await live.ask('/slow')).text, 'slow')
      assert.equal((await live.ask('/inside')).text, 'inside')
    })
  })

  test('a plugin that fails is the failure of listen and inject', async () => {
    const app = kit.app()
    app.register(async () => {
      throw new Error('no database')
    })
    await assert.rejects(app.inject('/'), /no database/)
    await assert.rejects(app.listen({ port: 0, host: '127.0.0.1' }), /no database/)
    await app.close()
  })

  test('a plugin may give any thenable', async () => {
    const app = kit.app()
    app.register(((scope: Scope) => ({
      // oxlint-disable-next-line unicorn/no-thenable -- that is the case
      then(go: () => void) {
        setTimeout(() => {
          scope.get('/late', () => 'late')
          go()
        }, 10)
      },
    })) as never)
    assert.equal((await app.inject('/late')).text(), 'late')
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

describe('before', () => {
  test('goes on, replies, returns or throws; synchronously or not', async () => {
    const app = kit.app()
    const act = (ctx: Context): unknown => {
      switch (ctx.query['do']) {
        case 'reply':
          return ctx.text('replied', 403)
        case 'return':
          return { returned: true }
        case 'throw':
          throw new HTTPError(418, 'thrown')
      }
      ctx.header('x-seen', 'yes')
      return undefined
    }
    app.get('/sync', before(act), () => 'handler')
    app.get(
      '/async',
      before(async (ctx) => {
        await Promise.resolve()
        return act(ctx)
      }),
      () => 'handler',
    )
    app.get('/between', mark('outer'), before(act), mark('inner'), async () => 'handler')
    await kit.serve(app, async (live) => {
      for (const path of ['/sync', '/async', '/between']) {
        const passed = await live.ask(path)
        assert.equal(passed.text, 'handler')
        assert.equal(passed.headers['x-seen'], 'yes')
        assert.equal((await live.ask(`${path}?do=reply`)).status, 403)
        assert.deepEqual((await live.ask(`${path}?do=return`)).json(), { returned: true })
        assert.equal((await live.ask(`${path}?do=throw`)).status, 418)
      }
    })
  })

  test('a middleware around it sees the reply', async () => {
    const app = kit.app()
    const seen: unknown[] = []
    app.use(async (ctx, next) => {
      await next()
      seen.push(ctx.status(), ctx.replied)
    })
    app.get(
      '/x',
      before((ctx) => ctx.text('stop', 402)),
      () => 'handler',
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).status, 402)
    })
    assert.deepEqual(seen, [402, true])
  })

  test('declarations that make no sense are refused', () => {
    assert.throws(() => before('x' as never), { code: 'E_BAD_HANDLER', message: /before takes a function/ })
    assert.throws(() => middleware({} as never, null as never), { code: 'E_BAD_HANDLER' })
    assert.throws(() => middleware(5 as never, () => {}), { code: 'E_BAD_OPTION' })
    assert.throws(() => middleware({ error: {} } as never, () => {}), { message: /not error/ })
    assert.throws(() => middleware({ errors: { X: { status: 200 } } }, () => {}), { code: 'E_BAD_STATUS' })
    assert.throws(() => middleware({ onResponse: 1 } as never, () => {}), { code: 'E_BAD_HANDLER' })
    for (const [security, message] of [
      ['bearer', /security takes schemes by name.*not "bearer"/],
      [[], /security takes schemes by name.*not an empty array/],
      [['bearer'], /security takes schemes by name.*not "bearer"/],
      [[{ bearer: [] }], /security\.bearer takes a Security Scheme Object.*not an empty array/],
      [{ bearer: { scheme: 'bearer' } }, /security\.bearer takes a Security Scheme Object/],
      [{ 'my key': { type: 'http', scheme: 'bearer' } }, /not "my key"/],
    ] as const) {
      assert.throws(() => before({ security } as never, () => {}), { code: 'E_BAD_OPTION', message })
    }
  })
})
