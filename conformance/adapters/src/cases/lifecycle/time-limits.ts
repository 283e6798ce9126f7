import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, Live, request, unchanging, within } from '../../kit.ts'
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

    test('what is cut off on a Unix socket, which has no reset, ends alone', async (t) => {
      const clock = kit.clock(t)
      const [sendTimeout, shutdownTimeout] = clock.isHeld ? [30_000, 10_000] : [300, 300]
      const folder = mkdtempSync(join(tmpdir(), 'volant-'))
      const app = kit.app({ limits: { sendTimeout, shutdownTimeout } })
      let isLeft = false
      let made = 0
      app.get('/broken', (ctx) =>
        ctx.stream(
          (async function* () {
            yield 'begun'
            throw new Error('broken')
          })(),
        ),
      )
      app.get('/unread', (ctx) => {
        ctx.signal.addEventListener('abort', () => (isLeft = true))
        return (function* () {
          for (; ; made++) yield Buffer.alloc(65_536)
        })()
      })
      app.get('/wait', (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)))
      try {
        const live = new Live(app, await app.listen({ path: join(folder, 'app.sock') }))
        const broken = (await live.connect()).send(request('GET', '/broken'))
        await within(broken.closed, 30_000, 'the end of the broken stream')
        const unread = await live.connect()
        unread.socket.pause()
        unread.send(request('GET', '/unread'))
        await unchanging(() => made, 'the reply waits for its client')
        await passes(clock, sendTimeout, () => isLeft, 'the end of what is not read')
        const waiting = (await live.connect()).send(request('GET', '/wait'))
        await eventually(() => app.stats().inFlight === 1, 'the request in flight')
        const closing = app.close()
        await passes(clock, shutdownTimeout, () => waiting.isEnded, 'the end of what is in flight')
        await within(closing, 30_000, 'the close')
        await within(waiting.closed, 30_000, 'the end of what is in flight')
        live.closeAll()
      } finally {
        kit.reports.length = 0
        await app.close()
        rmSync(folder, { recursive: true })
      }
    })
  })
}
