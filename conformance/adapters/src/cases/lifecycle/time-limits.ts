import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, type Kit, Live, request, within } from '../../kit.ts'
import { passes } from '../../time-limit.ts'

/** How long a close waits. */
export function closingTimeLimits(kit: Kit): void {
  describe('listening and closing', () => {
    test('after shutdownTimeout the rest is reset, and signals fire', async (t) => {
      const clock = kit.clock(t)
      const shutdownTimeout = clock.isHeld ? 10_000 : 200
      const app = kit.app({ limits: { shutdownTimeout } })
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
      const closing = app.close()
      await passes(clock, shutdownTimeout, () => wire.isEnded, 'the end of the connection')
      await within(closing, 30_000, 'close')
      await wire.ended()
      assert.equal(fired, 1)
      wire.close()
    })

    test('an onClosing hook that hangs is waited for as long as shutdownTimeout', async (t) => {
      const clock = kit.clock(t)
      const shutdownTimeout = clock.isHeld ? 10_000 : 50
      const app = kit.app({ limits: { shutdownTimeout } })
      app.onClosing(() => new Promise(() => {}))
      await app.listen(0, '127.0.0.1')
      let isClosed = false
      const closing = app.close().then(() => (isClosed = true))
      await passes(clock, shutdownTimeout, () => isClosed, 'the close')
      await closing
    })
  })
}
