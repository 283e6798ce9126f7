import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, HTTPError } from 'volant'
import { mark, kit } from './kit.ts'

describe('scopes', () => {
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
})
