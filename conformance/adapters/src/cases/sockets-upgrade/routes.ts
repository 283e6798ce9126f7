import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp, etag, middleware, requestId, securityHeaders } from 'volant'
import { compress } from 'volant/compress'
import { deferred, type Kit } from '../../kit.ts'
import { handshake, Peer } from '../../peer.ts'
import { codeOf } from './refused.ts'

/** Routes of WebSockets: their chain, scopes and middleware. */
export function socketRoutes(kit: Kit): void {
  describe('the upgrade to a WebSocket', () => {
    test('the chain of the route runs first, and its headers and cookies are in the 101', async () => {
      const app = kit.app()
      const order: unknown[] = []
      app.use(async (ctx, next) => {
        order.push('in')
        ctx.header('x-outer', 'é')
        await next()
        order.push(['out', ctx.status()])
      })
      app.onSend((ctx, reply) => {
        order.push(['send', reply.status, reply.body, reply.length])
        reply.headers.set('x-sent', ctx.path)
      })
      const info = deferred<unknown>()
      app.onResponse((ctx, { status, aborted }) => info.resolve([ctx.pattern, status, aborted]))
      app.ws('/a/:id', {
        upgrade(ctx) {
          order.push('upgrade')
          ctx.cookie('one', '1').cookie('two', '2')
        },
        open: () => void order.push('open'),
      })
      await kit.serve(app, async (live) => {
        const { reply } = await Peer.open(live, '/a/1')
        assert.equal(reply.reason, 'Switching Protocols')
        assert.equal(reply.headers['x-outer'], 'é')
        assert.equal(reply.headers['x-sent'], '/a/1')
        assert.equal(reply.raw.filter(([name]) => name.toLowerCase() === 'set-cookie').length, 2)
        for (const name of ['content-length', 'content-type', 'transfer-encoding'])
          assert.equal(reply.headers[name], undefined, name)
        assert.deepEqual(await info.promise, ['/a/:id', 101, false])
      })
      assert.deepEqual(order, ['in', 'upgrade', ['send', 101, null, 0], 'open', ['out', 101]])
    })

    test('app.get and app.ws share a path, and a WebSocket is in the way of nothing', async () => {
      const app = kit.app()
      app.get('/chat/:room', (ctx) => `page of ${ctx.params.room}`)
      app.post('/chat/:room', () => 'posted')
      app.ws('/chat/:room', {
        upgrade: (ctx) => ctx.params.room,
        open: (ws) => ws.send(ws.data),
      })
      app.get('/*', () => 'anything')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/chat/a')).text, 'page of a')
        assert.equal((await live.ask('/chat/a', { method: 'POST' })).text, 'posted')
        assert.equal(await (await Peer.open(live, '/chat/b')).text(), 'b')
        // No other route answers who asks for a WebSocket.
        const none = await live.ask('/other', { headers: { ...handshake, connection: 'upgrade, close' } })
        assert.deepEqual(
          [none.status, codeOf(none), none.headers['upgrade']],
          [426, 'E_UPGRADE_REQUIRED', 'HTTP/1.1'],
        )
      })
    })

    test('scopes, groups, plugins and mounted apps have WebSockets', async () => {
      const app = kit.app()
      const order: string[] = []
      const note = (name: string) => middleware((_, next) => (order.push(name), next()))
      app.use(note('app'))
      app.with(note('with')).ws('/with', note('own'), { open: (ws) => ws.send('with') })
      app.group('/group/:id', (group) => {
        group.use(note('group'))
        group.ws('/in', { upgrade: (ctx) => ctx.params.id, open: (ws) => ws.send(ws.data) })
      })
      app.register(async (scope) => {
        await Promise.resolve()
        scope.use(note('plugin'))
        scope.ws('/plugin', { open: (ws) => ws.send('plugin') })
      })
      const inner = createApp({ signals: false })
      inner.use(note('inner'))
      const mounted = inner.ws('/m/:x', {
        open: (ws) => {
          ws.subscribe('t')
          ws.send('mounted')
        },
      })
      app.mount('/outer', inner)
      await kit.serve(app, async (live) => {
        assert.equal(await (await Peer.open(live, '/with')).text(), 'with')
        assert.equal(await (await Peer.open(live, '/group/7/in')).text(), '7')
        assert.equal(await (await Peer.open(live, '/plugin')).text(), 'plugin')
        const peer = await Peer.open(live, '/outer/m/1')
        assert.equal(await peer.text(), 'mounted')
        mounted.publish('t', 'to the mounted')
        assert.equal(await peer.text(), 'to the mounted')
      })
      assert.deepEqual(order, ['app', 'with', 'own', 'app', 'group', 'app', 'plugin', 'app', 'inner'])
    })

    test('other middleware of this package lets a WebSocket pass', async () => {
      const app = kit.app()
      app.use(requestId())
      app.use(securityHeaders())
      app.use(etag())
      app.use(compress())
      app.ws('/a', { open: (ws) => ws.send(ws.id), message: (ws, message) => ws.send(message) })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/a', { 'accept-encoding': 'gzip', 'if-none-match': '*' })
        assert.equal(await peer.text(), peer.reply.headers['x-request-id'])
        assert.equal(await peer.send('x').text(), 'x')
        for (const name of ['content-encoding', 'etag']) assert.equal(peer.reply.headers[name], undefined)
      })
    })

    test('inject and fetch say that they open none', async () => {
      const app = kit.app()
      app.ws('/a', { upgrade: (ctx) => (ctx.query['no'] === undefined ? 1 : ctx.text('no', 403)) })
      const injected = await app.inject({ url: '/a', headers: handshake })
      assert.deepEqual(
        [injected.status, (injected.json() as { code: string }).code],
        [501, 'E_SOCKETS_MISSING'],
      )
      const plain = await app.fetch(new Request('http://a/a'))
      assert.deepEqual([plain.status, plain.headers.get('upgrade')], [426, 'websocket'])
    })
  })
}
