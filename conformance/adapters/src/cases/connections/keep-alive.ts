import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request } from '../../kit.ts'

export function keptConnections(kit: Kit): void {
  describe('connections', () => {
    test('keep-alive: many requests on one connection', async () => {
      const app = kit.app()
      app.get('/:n', (ctx) => ctx.params.n)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let n = 0; n < 50; n++)
          assert.equal((await wire.send(request('GET', `/${n}`)).reply()).text, String(n))
      })
    })

    test('Connection: close is honoured', async () => {
      const app = kit.app()
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const reply = await wire.send(request('GET', '/x', { connection: 'close' })).reply()
        assert.equal(reply.headers['connection'], 'close')
        assert.equal(await wire.ended(), 'end')
      })
    })

    test('HTTP/1.0 closes, and stays with keep-alive', kit.needs('http-1.0'), async () => {
      const app = kit.app()
      app.get('/x', (ctx) => ctx.httpVersion)
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        assert.equal((await first.send('GET /x HTTP/1.0\r\n\r\n').reply()).text, '1.0')
        await first.ended()
        const second = await live.connect()
        for (let round = 0; round < 2; round++) {
          const reply = await second.send('GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n').reply()
          assert.equal(reply.text, '1.0')
          assert.equal(reply.headers['connection'], 'keep-alive')
        }
      })
    })

    test('stats count connections, requests and what is in flight', async () => {
      const app = kit.app()
      const gate = deferred()
      app.get('/x', async () => {
        await gate.promise
        return 1
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/x'))
        await eventually(() => app.stats().inFlight > 0, 'a request in flight')
        const { connections: open, requests, inFlight } = app.stats()
        assert.deepEqual([open, requests, inFlight], [1, 1, 1])
        gate.resolve()
        await wire.reply()
        assert.equal(app.stats().inFlight, 0)
      })
    })
  })
}
