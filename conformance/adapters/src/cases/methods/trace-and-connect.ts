import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { eventually, type Kit, request } from '../../kit.ts'
import { sorted } from './names.ts'

/** TRACE and CONNECT, which no route can have. */
export function traceAndConnect(kit: Kit): void {
  describe('TRACE and CONNECT', () => {
    test('TRACE is 405 with Allow where there are routes', async () => {
      const app = kit.app()
      const seen: unknown[] = []
      app.use((ctx, next) => {
        ctx.header('x-method', ctx.request.method)
        return next()
      })
      app.onResponse((ctx, { status }) => void seen.push([ctx.method, ctx.path, status]))
      app.all('/x', () => 1)
      app.get('/y/:id', () => 1)
      await kit.serve(app, async (live) => {
        const x = await live.ask('/x', { method: 'TRACE', headers: { cookie: 'secret=1' } })
        assert.equal(x.status, 405)
        assert.equal((x.json() as { code: string }).code, 'E_METHOD_NOT_ALLOWED')
        assert.equal(x.headers['x-method'], 'TRACE')
        assert.ok(!x.text.includes('secret'))
        const y = await live.ask('/y/1', { method: 'TRACE' })
        assert.deepEqual([y.status, sorted(y.headers['allow'])], [405, ['GET', 'HEAD', 'OPTIONS']])
        assert.equal((await live.ask('/z', { method: 'TRACE' })).status, 404)
        await eventually(() => seen.length === 3, 'onResponse')
        assert.deepEqual(seen, [
          ['TRACE', '/x', 405],
          ['TRACE', '/y/1', 405],
          ['TRACE', '/z', 404],
        ])
      })
      assert.equal((await app.inject({ method: 'TRACE', url: '/x' })).status, 405)
    })

    test('CONNECT is 405 with Allow, and the last request', kit.needs('target-forms'), async () => {
      const app = kit.app()
      const seen: unknown[] = []
      app.onResponse(
        (ctx, { status }) => void seen.push([ctx.method, ctx.path, ctx.host, ctx.request.method, status]),
      )
      app.get('/x', () => 1)
      app.post('/y', () => 1)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('CONNECT', 'b.example:443', { host: 'a' }))
        // Meant for the tunnel.
        wire.send(request('GET', '/x'))
        const reply = await wire.reply()
        assert.equal(reply.status, 405)
        assert.deepEqual(sorted(reply.headers['allow']), ['GET', 'HEAD', 'OPTIONS', 'POST'])
        assert.equal(reply.headers['connection'], 'close')
        assert.equal((reply.json() as { code: string }).code, 'E_METHOD_NOT_ALLOWED')
        await wire.ended()
        assert.deepEqual(seen, [['CONNECT', '*', 'b.example:443', 'CONNECT', 405]])
      })
    })

    test('CONNECT waits for the requests before it', kit.needs('target-forms'), async () => {
      const app = kit.app()
      app.get('/x', async () => {
        await new Promise((resolve) => setImmediate(resolve))
        return 'first'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Buffer.concat([request('GET', '/x'), request('CONNECT', 'a:443')]))
        assert.equal((await wire.reply()).text, 'first')
        assert.equal((await wire.reply()).status, 405)
        await wire.ended()
      })
    })

    test('a middleware may stream its reply to CONNECT', kit.needs('target-forms'), async () => {
      const app = kit.app()
      const chunk = Buffer.alloc(100_000, 'x')
      app.use((ctx, next) => (ctx.method === 'CONNECT' ? ctx.stream(Array(30).fill(chunk)) : next()))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('CONNECT', 'a:443'))
        const reply = await wire.reply()
        assert.equal(reply.body.length, 3_000_000)
        await wire.ended()
      })
    })

    test('a client that resets after CONNECT does no harm', kit.needs('target-forms'), async () => {
      const app = kit.app()
      let begun = 0
      let gone = 0
      app.use(async (ctx, next) => {
        begun++
        if (ctx.method === 'CONNECT') await once(ctx.signal, 'abort')
        await next()
      })
      app.onResponse((_ctx, { aborted }) => void (gone += Number(aborted)))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        for (let count = 1; count <= 5; count++) {
          const wire = await live.connect()
          wire.send(request('CONNECT', 'a:443'))
          await eventually(() => begun === count, 'the request')
          wire.reset()
          await eventually(() => gone === count, 'its end')
        }
        assert.equal((await live.ask('/x')).text, 'x')
      })
    })

    test('CONNECT with a path is 400', async () => {
      const app = kit.app()
      app.all('/x', () => 1)
      await kit.serve(app, async (live) =>
        assert.equal((await live.ask('/x', { method: 'CONNECT' })).status, 400),
      )
    })
  })
}
