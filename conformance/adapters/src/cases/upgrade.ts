import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Context, HTTPError } from 'volant'
import { eventually, type Kit, request } from '../kit.ts'

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** What asks for another protocol (RFC 9110 §7.8): WebSocket is refused with 426, anything else is ignored. */
export function upgrade(kit: Kit): void {
  describe('Upgrade', () => {
    const refused: [string, string][] = [
      ['a route', '/x'],
      ['a path without a route', '/nowhere'],
      ['a path whose routes have other methods', '/post'],
    ]
    for (const [name, path] of refused) {
      test(`a WebSocket is 426: ${name}`, async () => {
        const app = kit.app()
        let handled = 0
        app.get('/x', () => ++handled)
        app.post('/post', () => ++handled)
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', path, handshake))
          const reply = await wire.reply()
          assert.equal(reply.status, 426)
          assert.equal(reply.reason, 'Upgrade Required')
          assert.equal(reply.headers['upgrade'], 'HTTP/1.1')
          assert.equal(reply.headers['connection'], 'upgrade')
          const { title, status, code } = reply.json() as Record<string, unknown>
          assert.deepEqual([title, status, code], ['Upgrade Required', 426, 'E_UPGRADE_REQUIRED'])
          assert.equal(handled, 0)
          // The connection goes on.
          wire.send(request('GET', '/x'))
          assert.equal((await wire.reply()).text, '1')
        })
      })
    }

    test('a WebSocket is 426: middleware, onError and onResponse see it', async () => {
      const app = kit.app()
      const seen: unknown[] = []
      app.use((ctx, next) => {
        ctx.header('x-seen', ctx.path)
        return next()
      })
      app.onError((error, ctx) => {
        assert.ok(error instanceof HTTPError)
        return { own: error.code, path: ctx.path }
      })
      app.onResponse((ctx, { status }) => void seen.push([ctx.method, ctx.path, status]))
      app.get('/x/:id', (ctx) => ctx.params.id)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x/%61?q=1', {
          headers: { ...handshake, connection: 'upgrade, close' },
        })
        assert.equal(reply.status, 426)
        assert.equal(reply.headers['x-seen'], '/x/a')
        assert.match(reply.headers['connection'] ?? '', /close/)
        assert.deepEqual(reply.json(), { own: 'E_UPGRADE_REQUIRED', path: '/x/a' })
        await eventually(() => seen.length > 0, 'onResponse')
        assert.deepEqual(seen, [['GET', '/x/a', 426]])
      })
    })

    test('a WebSocket is 426: middleware may answer first', async () => {
      const app = kit.app()
      app.use((ctx) => ctx.text('no', 401))
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { headers: { ...handshake, connection: 'upgrade, close' } })
        assert.equal(reply.status, 401)
        assert.equal(reply.headers['upgrade'], undefined)
      })
    })

    const ignored: [string, string, Record<string, string>][] = [
      ['Connection does not say so', 'GET', { upgrade: 'websocket' }],
      [
        'h2c',
        'GET',
        { connection: 'Upgrade, HTTP2-Settings, close', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' },
      ],
      ['TLS', 'GET', { connection: 'Upgrade, close', upgrade: 'TLS/1.0' }],
      ['another method', 'POST', { ...handshake, connection: 'upgrade, close' }],
      ['a field without the other', 'GET', { connection: 'Upgrade, close' }],
    ]
    for (const [name, method, headers] of ignored) {
      test(`is ignored: ${name}`, async () => {
        const app = kit.app()
        app.all('/x', (ctx: Context) => ctx.method)
        await kit.serve(app, async (live) => {
          const reply = await live.ask('/x', { method, headers })
          assert.deepEqual([reply.status, reply.text], [200, method])
          assert.equal(reply.headers['upgrade'], undefined)
        })
      })
    }

    test("a handler's own 426 names the protocol, too", async () => {
      const app = kit.app()
      app.get('/x', (ctx) => ctx.text('later', 426))
      app.get('/stream', (ctx) => {
        ctx.status(426).stream(['lat', 'er'])
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/x', '/stream']) {
          const reply = await live.ask(path)
          assert.deepEqual([reply.status, reply.text, reply.headers['upgrade']], [426, 'later', 'HTTP/1.1'])
          assert.match(reply.headers['connection'] ?? '', /upgrade/)
          assert.match(reply.headers['connection'] ?? '', /close/)
        }
      })
    })

    test('inject and fetch give the same', async () => {
      const app = kit.app()
      app.get('/x', () => 'x')
      const injected = await app.inject({ url: '/x', headers: handshake })
      assert.deepEqual([injected.status, injected.headers['upgrade']], [426, 'HTTP/1.1'])
      const fetched = await app.fetch(new Request('http://a/x', { headers: handshake }))
      assert.deepEqual([fetched.status, fetched.headers.get('upgrade')], [426, 'HTTP/1.1'])
    })
  })
}
