import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { procedure, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { deferred, eventually, type Kit, Live, request, within, turns, untilAborted } from '../../kit.ts'
import { frameworkClock, passes } from '../../time-limit.ts'

/** What becomes of requests and streams when the app closes. */
export function closing(kit: Kit): void {
  describe('listening and closing', () => {
    test('close answers what is in flight, says close, and resolves', async () => {
      const app = kit.app()
      const started = deferred()
      const finish = deferred()
      app.get('/slow', async () => {
        started.resolve()
        await finish.promise
        return 'done'
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const busy = await live.connect()
      const idle = await live.connect()
      const fresh = await live.connect()
      assert.equal((await idle.send(request('GET', '/none')).reply()).status, 404)
      busy.send(request('GET', '/slow'))
      await started.promise
      const closing = app.close()
      assert.equal(app.close(), closing)
      // uWebSockets.js does not say which connections are idle: it closes them after the last reply.
      if (kit.adapter !== 'uwebsockets') await idle.ended()
      finish.resolve()
      const reply = await busy.reply()
      assert.equal(reply.text, 'done')
      assert.equal(reply.headers['connection'], 'close')
      await busy.ended()
      await idle.ended()
      for (const wire of [busy, idle, fresh]) wire.close()
      await within(closing, 'close')
      await assert.rejects(live.ask('/slow'), /ECONNREFUSED/)
    })

    test('a stream in flight is finished by close', async () => {
      const app = kit.app()
      app.get('/s', async function* () {
        yield '0'
        await eventually(() => app.closing, 'the app closes')
        for (let at = 1; at < 5; at++) {
          await turns(1)
          yield String(at)
        }
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const wire = await live.connect()
      wire.send(request('GET', '/s'))
      await wire.until(() => (wire.received.includes('\r\n1\r\n0') ? true : undefined), 'the first chunk')
      const closing = app.close()
      assert.equal((await wire.reply()).text, '01234')
      // Of its own accord: its head could not say so yet.
      assert.equal(await within(wire.closed, 'the end'), 'end')
      live.closeAll()
      await within(closing, 'close')
    })

    test('close tells open streams, and they end properly', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 600_000 } })
      const reasons: unknown[] = []
      const opened = [deferred(), deferred()]
      app.get('/events', async function* (ctx) {
        yield 'data: 1\n\n'
        opened[0]?.resolve()
        await untilAborted(ctx.signal).catch(() => {})
        reasons.push(ctx.signal.reason, app.closing)
        yield 'data: last\n\n'
      })
      app.get('/thrown', async function* (ctx) {
        yield 'data: 1\n\n'
        opened[1]?.resolve()
        await untilAborted(ctx.signal)
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const reported = kit.reports.length
      const wire = (await live.connect()).send(request('GET', '/events'))
      const cut = (await live.connect()).send(request('GET', '/thrown'))
      for (const { promise } of opened) await promise
      await cut.until(() => (cut.received.includes('data: 1') ? true : undefined), 'the first event')
      const injected = app.inject('/events')
      const closed = app.close()
      const reply = await wire.reply()
      assert.equal(reply.text, 'data: 1\n\ndata: last\n\n')
      assert.equal((await injected).text(), reply.text)
      const [reason, closing] = reasons as [DOMException, boolean]
      assert.deepEqual([reason.name, reason.message], ['AbortError', 'the server is closing'])
      assert.equal(closing, true)
      // Work that was told to stop failed: no half reply is taken for a whole one, and that is no news.
      await assert.rejects(cut.reply())
      assert.equal(kit.reports.length, reported)
      live.closeAll()
      await within(closed, 'close')
    })

    test('close does not tell requests that have no reply yet, nor streams with a length', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 600_000 } })
      const told: string[] = []
      const go = deferred()
      let begun = 0
      app.get('/work', async (ctx) => {
        ctx.signal.addEventListener('abort', () => told.push('work'))
        begun++
        await go.promise
        return `done ${ctx.signal.aborted}`
      })
      app.get('/download', (ctx) => {
        ctx.signal.addEventListener('abort', () => told.push('download'))
        const source = async function* () {
          begun++
          await go.promise
          yield 'abc'
        }
        ctx.stream(source(), { length: 3 })
      })
      app.get('/later', async (ctx) => {
        begun++
        await go.promise
        const before = ctx.signal.aborted
        const source = async function* () {
          yield `${before} ${ctx.signal.aborted}`
        }
        ctx.stream(source())
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const paths = ['/work', '/download', '/later']
      const wires = await Promise.all(
        paths.map(async (path) => (await live.connect()).send(request('GET', path))),
      )
      await eventually(() => begun === 3, 'all three')
      const closing = app.close()
      go.resolve()
      const texts = await Promise.all(wires.map(async (wire) => (await wire.reply()).text))
      assert.deepEqual(texts, ['done false', 'abc', 'false true'])
      assert.deepEqual(told, [])
      for (const wire of wires) wire.close()
      await within(closing, 'close')
    })

    test('close ends subscriptions so that their clients connect again', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 600_000 } })
      const ends: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
        returns: (signal) => untilAborted(signal).catch(() => {}),
        throws: (signal) => untilAborted(signal),
        hangs: () => new Promise(() => {}),
      }
      const subscription = (end: string) =>
        procedure().subscription(async function* ({ ctx }) {
          yield 1
          await ends[end]?.(ctx.signal)
        })
      const routes = Object.fromEntries(Object.keys(ends).map((end) => [end, subscription(end)]))
      app.register(trpc(router(routes)))
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const reported = kit.reports.length
      const wires = await Promise.all(
        Object.keys(ends).map(async (end) => (await live.connect()).send(request('GET', `/trpc/${end}`))),
      )
      for (const wire of wires) {
        await wire.until(() => (wire.received.includes('data: 1') ? true : undefined), 'the first event')
      }
      const closing = app.close()
      for (const wire of wires) {
        if (!kit.can('last-chunk')) await wire.closed
        const text = kit.can('last-chunk') ? (await wire.reply()).text : String(wire.received)
        assert.doesNotMatch(text, /event: (return|serialized-error)/)
      }
      live.closeAll()
      await within(closing, 'close')
      assert.equal(kit.reports.length, reported)
    })

    test('onClosing runs first, all of them at once, while the port is open', async () => {
      const app = kit.app()
      const ran: string[] = []
      const go = deferred()
      app.onClose(() => void ran.push('closed'))
      app.onClosing(() => {
        ran.push(`first ${app.closing}`)
        throw new Error('hook')
      })
      app.onClosing(async () => {
        ran.push('second')
        await go.promise
        ran.push('second is through')
      })
      app.get('/x', () => 'x')
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const closing = app.close()
      closing.catch(() => {})
      assert.deepEqual(ran, ['first true', 'second'])
      assert.equal((await live.ask('/x')).text, 'x')
      go.resolve()
      await assert.rejects(within(closing, 'close'), /^Error: hook$/)
      assert.deepEqual(ran, ['first true', 'second', 'second is through', 'closed'])
      await assert.rejects(live.ask('/x'), /ECONNREFUSED/)
      live.closeAll()
    })

    test('close without listen resolves', async () => {
      await kit.app().close()
    })

    test('after shutdownTimeout the rest is reset, and signals fire', async (t) => {
      const clock = frameworkClock(t)
      const shutdownTimeout = 10_000
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
      await within(closing, 'close')
      await wire.ended()
      assert.equal(fired, 1)
      wire.close()
    })

    test('an onClosing hook that hangs is waited for as long as shutdownTimeout', async (t) => {
      const clock = frameworkClock(t)
      const shutdownTimeout = 10_000
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
