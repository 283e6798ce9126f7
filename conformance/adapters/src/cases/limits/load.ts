import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request, turns } from '../../kit.ts'

/** How many requests, connections and bytes of bodies there may be at a time. */
export function loadLimits(kit: Kit): void {
  describe('limits', () => {
    test('requests past maxInFlight are 503', async () => {
      const app = kit.app({ limits: { maxInFlight: 2 } })
      const gate = deferred()
      app.get('/wait', async () => {
        await gate.promise
        return 'done'
      })
      app.get('/now', () => 'now')
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        const second = await live.connect()
        first.send(request('GET', '/wait'))
        second.send(request('GET', '/wait'))
        await eventually(() => app.stats().inFlight === 2, 'two in flight')
        const refused = await live.ask('/now')
        assert.equal(refused.status, 503)
        gate.resolve()
        assert.equal((await first.reply()).text, 'done')
        assert.equal((await second.reply()).text, 'done')
        assert.equal((await live.ask('/now')).text, 'now')
      })
    })

    test('connections past maxConnections are refused', async () => {
      const app = kit.app({ limits: { maxConnections: 2 } })
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        const second = await live.connect()
        assert.equal((await first.send(request('GET', '/x')).reply()).text, 'ok')
        assert.equal((await second.send(request('GET', '/x')).reply()).text, 'ok')
        // Over TLS the handshake of the third connection fails.
        const third = await live.connect().catch(() => null)
        assert.ok(kit.scheme === 'http' ? third : third === null)
        await third?.ended()
        first.close()
        await eventually(() => app.stats().connections === 1, 'one connection')
        assert.equal((await live.ask('/x')).text, 'ok')
      })
    })

    const counted = kit.needs('maxConnectionsPerAddress')

    test('maxConnectionsPerAddress leaves room for other addresses', counted, async () => {
      const app = kit.app({ limits: { maxConnectionsPerAddress: 2 } })
      app.get('/x', (ctx) => ctx.ip)
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        const second = await live.connect()
        for (const each of [first, second])
          assert.equal((await each.send(request('GET', '/x')).reply()).text, '127.0.0.1')
        const third = await live.connect().catch(() => null)
        assert.ok(kit.scheme === 'http' ? third : third === null)
        await third?.ended()
        // Only Linux has a second loopback address without configuration.
        if (process.platform === 'linux') {
          const other = await live.connect('127.0.0.2')
          assert.equal((await other.send(request('GET', '/x')).reply()).text, '127.0.0.2')
          other.close()
        }
        first.close()
        await eventually(() => app.stats().connections === 1, 'one connection')
        assert.equal((await live.ask('/x')).text, '127.0.0.1')
      })
    })

    test('bodies past maxBufferedBodies are 503', async () => {
      const app = kit.app({ limits: { maxBodySize: 2_000_000, maxBufferedBodies: 3_000_000 } })
      app.post('/b', (ctx) => ctx.bodyBytes.length)
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        first.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n')
        first.send(Buffer.alloc(1_999_999))
        // Nothing tells when the server has read them; had it not, the first body would be the one refused.
        await eventually(() => first.socket.writableLength === 0, 'the body has left')
        await turns(200)
        const second = await live.connect()
        second.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 1500000\r\n\r\n')
        second.send(Buffer.alloc(1_200_000))
        assert.equal((await second.reply()).status, 503)
        first.send('x')
        assert.equal((await first.reply()).text, '2000000')
        assert.equal((await live.post('/b', null, Buffer.alloc(1_500_000))).text, '1500000')
      })
    })

    test('a body refused for maxBufferedBodies is not counted while its rest is discarded', async () => {
      const app = kit.app({ limits: { maxBodySize: 2_000, maxBufferedBodies: 2_000, drainTimeout: 60_000 } })
      app.post('/b', (ctx) => ctx.bodyBytes.length)
      const head = 'POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: '
      await kit.serve(app, async (live) => {
        const refused = await live.connect()
        refused.send(`${head}1900\r\n\r\n`).send(Buffer.alloc(900))
        const held = await live.connect()
        held.send(`${head}1900\r\n\r\n`).send(Buffer.alloc(900))
        // Nothing tells when the server has read them.
        await turns()
        refused.send(Buffer.alloc(500))
        assert.equal((await refused.reply()).status, 503)
        // The rest of it is awaited, and there is room for as much as it had.
        assert.equal((await live.post('/b', null, Buffer.alloc(1_000))).text, '1000')
        held.send(Buffer.alloc(1_000))
        assert.equal((await held.reply()).text, '1900')
      })
    })
  })
}
