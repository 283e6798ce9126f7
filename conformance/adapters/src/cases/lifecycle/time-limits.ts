import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually, type Kit, Live, request, unchanging, within } from '../../kit.ts'
import { passes } from '../../time-limit.ts'

/** What time limits cut off on a Unix socket. */
export function unixSocketTimeLimits(kit: Kit): void {
  describe('listening and closing', () => {
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
        await within(broken.closed, 'the end of the broken stream')
        const unread = await live.connect()
        unread.socket.pause()
        unread.send(request('GET', '/unread'))
        await unchanging(() => made, 'the reply waits for its client')
        await passes(clock, sendTimeout, () => isLeft, 'the end of what is not read')
        const waiting = (await live.connect()).send(request('GET', '/wait'))
        await eventually(() => app.stats().inFlight === 1, 'the request in flight')
        const closing = app.close()
        await passes(clock, shutdownTimeout, () => waiting.isEnded, 'the end of what is in flight')
        await within(closing, 'the close')
        await within(waiting.closed, 'the end of what is in flight')
        live.closeAll()
      } finally {
        kit.reports.length = 0
        await app.close()
        rmSync(folder, { recursive: true })
      }
    })
  })
}
