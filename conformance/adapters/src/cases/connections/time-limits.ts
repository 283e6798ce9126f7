import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Kit } from '../../kit.ts'

export function connectionsTimeLimits(kit: Kit): void {
  describe('connections', () => {
    test('an early reply to a long upload is read by the client, then the connection ends', async (t) => {
      const clock = kit.clock(t)
      const drainTimeout = clock.isHeld ? 60_000 : 300
      const app = kit.app({ limits: { maxBodySize: 50_000_000, drainTimeout } })
      app.post('/early', { bodyMode: 'stream' }, (ctx) => ctx.text('no, thanks', 403))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 40000000\r\n\r\n')
        wire.send(Buffer.alloc(30_000))
        const reply = await wire.reply()
        assert.equal(reply.status, 403)
        assert.equal(reply.headers['connection'], 'close')
        assert.equal(reply.text, 'no, thanks')
        await wire.ended()
      })
    })
  })
}
