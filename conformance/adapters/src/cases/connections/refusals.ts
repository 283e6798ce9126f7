import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, type Kit, request, turns } from '../../kit.ts'

export function connectionsAfterRefusals(kit: Kit): void {
  describe('connections', () => {
    const refused: [string, string, number][] = [
      ['two Host fields', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
      ['an expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n', 417],
      ['a large body', 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345', 413],
    ]

    for (const [what, bytes, status] of refused) {
      test(`nothing runs after a request that was refused for ${what}`, async () => {
        const app = kit.app()
        let ran = 0
        app.get('/canary', () => ++ran)
        app.post('/x', { maxBodySize: 4 }, () => 'x')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(bytes + 'GET /canary HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
          if (kit.can('pipelining')) {
            assert.equal((await wire.reply()).status, status)
            await wire.ended()
          } else await wire.closed
          // A connection of its own is served: whatever was left over has had its turn.
          assert.equal((await live.ask('/canary')).text, '1')
        })
      })
    }

    test('nothing runs behind a reply that says close', kit.needs('pipelining'), async () => {
      const app = kit.app()
      let ran = 0
      app.post('/canary', () => ++ran)
      const canary = request('POST', '/canary', {}, '{}')
      const chunks = '3\r\nabc\r\n0\r\n\r\n'
      await kit.serve(app, async (live) => {
        for (const method of ['POST', 'TRACE']) {
          ran = 0
          const unread = request(method, '/nowhere', { 'transfer-encoding': 'chunked' })
          const wire = await live.connect()
          wire.send(Buffer.concat([unread, Buffer.from(chunks), canary]))
          const reply = await wire.reply()
          assert.equal(reply.status, 404)
          // An adapter may as well read the body to its end and go on.
          const closes = reply.headers['connection'] === 'close'
          if (closes) await wire.ended()
          else assert.equal((await wire.reply()).text, '1')
          assert.equal(ran, closes ? 0 : 1, method)
        }
      })
    })

    test('rubbish behind a request that waits is answered once', kit.needs('pipelining'), async () => {
      const app = kit.app()
      const go = deferred()
      app.get('/slow', async () => {
        await go.promise
        return 'slow'
      })
      const warnings: Error[] = []
      const warned = (warning: Error) => void warnings.push(warning)
      process.on('warning', warned)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/slow'))
        for (let times = 0; times < 20; times++) {
          wire.send('rubbish\r\n\r\n')
          // So that the server reads each on its own.
          await turns()
        }
        go.resolve()
        assert.equal((await wire.reply()).text, 'slow')
        assert.equal((await wire.reply()).status, 400)
        await wire.ended()
        assert.equal(app.stats().refused, 1)
      })
      process.off('warning', warned)
      assert.deepEqual(warnings, [])
    })

    test('a missing Host is 400', async () => {
      const app = kit.app()
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        assert.equal((await wire.send('GET /x HTTP/1.1\r\n\r\n').reply()).status, 400)
        await wire.ended()
      })
    })
  })
}
