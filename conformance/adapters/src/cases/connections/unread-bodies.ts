import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, type Kit, request, turns } from '../../kit.ts'

export function connectionsWithUnreadBodies(kit: Kit): void {
  describe('connections', () => {
    test('the rest of a short upload is discarded and the connection goes on', async () => {
      const app = kit.app({ limits: { drainTimeout: 60_000 } })
      const gate = deferred()
      app.post('/early', { bodyMode: 'stream' }, () => {
        gate.resolve()
        return 'early'
      })
      app.get('/next', () => 'next')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n')
        await gate.promise
        assert.equal((await wire.reply()).text, 'early')
        wire.send('x'.repeat(1_000)).send(request('GET', '/next'))
        assert.equal((await wire.reply()).text, 'next')
      })
    })

    test('a reply while the body waits to be read: the connection goes on', async () => {
      const app = kit.app({ limits: { drainLimit: 1_000_000 } })
      app.post('/early', { bodyMode: 'stream' }, async (ctx) => {
        // What is not read fills the window, and the client must wait.
        await turns(100)
        ctx.text('early')
      })
      app.get('/next', () => 'next')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('POST', '/early', {}, Buffer.alloc(900_000)))
        assert.equal((await wire.reply()).text, 'early')
        assert.equal((await wire.send(request('GET', '/next')).reply()).text, 'next')
      })
    })

    test('an echo that closes, with bytes behind it', async () => {
      const app = kit.app()
      app.post('/echo', { bodyMode: 'stream' }, (ctx) => ctx.bodyStream)
      await kit.serve(app, async (live) => {
        const body = Buffer.alloc(70_000, 'e')
        for (let round = 0; round < 20; round++) {
          const wire = await live.connect()
          wire.send(
            Buffer.concat([
              request('POST', '/echo', { connection: 'close' }, body),
              request('POST', '/echo', {}, body),
            ]),
          )
          if (!kit.can('pipelining')) await wire.closed
          else {
            assert.ok((await wire.reply()).body.equals(body))
            await wire.ended()
          }
        }
        assert.ok((await live.post('/echo', null, body)).body.equals(body))
      })
    })
  })
}
