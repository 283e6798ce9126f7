import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, type Kit, Live, request, within } from '../../kit.ts'

/** How long a close waits. */
export function closingTimeLimits(kit: Kit): void {
  describe('listening and closing', () => {
    test('after shutdownTimeout the rest is reset, and signals fire', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 200 } })
      const started = deferred()
      let fired = 0
      app.get('/never', (ctx) => {
        ctx.signal.addEventListener('abort', () => fired++)
        started.resolve()
        return new Promise(() => {})
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const wire = await live.connect()
      wire.send(request('GET', '/never'))
      await started.promise
      const start = Date.now()
      await within(app.close(), 15_000, 'close')
      const took = Date.now() - start
      assert.ok(took >= 150 && took < 10_000, `${took} ms`)
      await wire.ended()
      assert.equal(fired, 1)
      wire.close()
    })

    test('an onClosing hook that hangs is waited for as long as shutdownTimeout', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 50 } })
      app.onClosing(() => new Promise(() => {}))
      await app.listen(0, '127.0.0.1')
      await within(app.close(), 30_000, 'close')
    })
  })
}
