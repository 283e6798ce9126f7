import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Scope } from 'volant'
import { mark, kit } from './kit.ts'

describe('scopes', () => {
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
})
