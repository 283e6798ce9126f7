import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Verb } from 'volant'
import type { Kit } from '../../kit.ts'

/** Methods of routes: 404, 405, OPTIONS and HEAD. */
export function routeMethods(kit: Kit): void {
  describe('routing', () => {
    test('404 is a problem', async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/y')
        assert.equal(reply.status, 404)
        assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
        const { type, title, status, code } = reply.json() as Record<string, unknown>
        assert.deepEqual([type, title, status, code], ['about:blank', 'Not Found', 404, 'E_NOT_FOUND'])
      })
    })

    test('405 names the methods in Allow', async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      app.put('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { method: 'DELETE' })
        assert.equal(reply.status, 405)
        assert.deepEqual(reply.headers['allow']?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS', 'PUT'])
      })
    })

    test('OPTIONS without a route is 204 with Allow', async () => {
      const app = kit.app()
      app.post('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { method: 'OPTIONS' })
        assert.equal(reply.status, 204)
        assert.deepEqual(reply.headers['allow']?.split(', ').sort(), ['OPTIONS', 'POST'])
        assert.equal(reply.headers['content-length'], undefined)
        assert.equal((await live.ask('/nowhere', { method: 'OPTIONS' })).status, 404)
      })
    })

    test('OPTIONS * lists every method', kit.needs('target-forms'), async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      app.delete('/y', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('*', { method: 'OPTIONS' })
        assert.equal(reply.status, 204)
        assert.match(reply.headers['allow'] ?? '', /GET/)
        assert.match(reply.headers['allow'] ?? '', /DELETE/)
      })
    })

    test('a route of its own for OPTIONS', async () => {
      const app = kit.app()
      app.options('/x', () => 'mine')
      await kit.serve(app, async (live) =>
        assert.equal((await live.ask('/x', { method: 'OPTIONS' })).text, 'mine'),
      )
    })

    test('HEAD runs the GET route and sends its length without a body', async () => {
      const app = kit.app()
      let method = ''
      app.get('/x', (ctx) => {
        method = ctx.method
        return 'hello'
      })
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { method: 'HEAD' })
        assert.equal(reply.status, 200)
        assert.equal(reply.headers['content-length'], '5')
        assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
        assert.equal(method, 'HEAD')
      })
    })

    test('a route of its own for HEAD', async () => {
      const app = kit.app()
      app.get('/x', () => 'get')
      app.head('/x', (ctx) => ctx.header('x-head', '1').text(''))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x', { method: 'HEAD' })).headers['x-head'], '1')
        assert.equal((await live.ask('/x')).text, 'get')
      })
    })

    test('every verb', async () => {
      const app = kit.app()
      for (const verb of ['get', 'post', 'put', 'patch', 'delete', 'options'] as const) {
        const register: Verb<string> = app[verb]
        register('/v', (ctx) => ctx.method)
      }
      await kit.serve(app, async (live) => {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
          assert.equal((await live.ask('/v', { method })).text, method)
        }
      })
    })

    test('all and on', async () => {
      const app = kit.app()
      app.all('/all', (ctx) => ctx.method)
      app.on(['PUT', 'PATCH'], '/on', (ctx) => ctx.method)
      await kit.serve(app, async (live) => {
        for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'])
          assert.equal((await live.ask('/all', { method })).text, method)
        assert.equal((await live.ask('/on', { method: 'PATCH' })).text, 'PATCH')
        assert.equal((await live.ask('/on')).status, 405)
      })
    })

    for (const method of ['BREW', 'PURGE', 'trace']) {
      test(`${method} is 501`, async () => {
        const app = kit.app()
        app.all('/x', () => 1)
        await kit.serve(app, async (live) => assert.equal((await live.ask('/x', { method })).status, 501))
      })
    }

    test('onNotFound replies with 404 unless told otherwise', async () => {
      const app = kit.app()
      app.onNotFound((ctx) => ({ lost: ctx.path }))
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/gone')
        assert.equal(reply.status, 404)
        assert.deepEqual(reply.json(), { lost: '/gone' })
      })
    })
  })
}
