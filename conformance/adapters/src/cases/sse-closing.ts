import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context } from 'volant'
import { has, keeping, open, sent } from '../event-stream.ts'
import { deferred, eventually, type Kit, Live, request, within, untilAborted } from '../kit.ts'
import { frameworkClock, passes } from '../time-limit.ts'

/** Streams of events do not hold up an app that closes, and their clients are told when to come back. */
export function sseClosing(kit: Kit): void {
  describe('server-sent events while the app closes', () => {
    const patient = { limits: { shutdownTimeout: 600_000, drainIdle: 600_000 } }

    const endings: [name: string, handler: (ctx: Context) => unknown, last: RegExp][] = [
      [
        'a function',
        (ctx) =>
          ctx.sse(
            (stream) => {
              stream.send('first')
              ctx.signal.addEventListener('abort', () => stream.send('bye'))
            },
            { retry: 400 },
          ),
        /data: bye\n\nretry: (?:[2-5]\d\d|600)\n\n$/,
      ],
      [
        'a generator that follows the signal',
        (ctx) =>
          ctx.sse(async function* () {
            yield 'first'
            await untilAborted(ctx.signal)
          }),
        /data: first\n\nretry: [1-4]\d\d\d\n\n$/,
      ],
      [
        'a generator that waits for ever',
        (ctx) =>
          ctx.sse(async function* () {
            yield 'first'
            await new Promise(() => {})
          }),
        /data: first\n\nretry: [1-4]\d\d\d\n\n$/,
      ],
      [
        'ctx.stream with events that ends by itself',
        async function* (ctx) {
          ctx.header('content-type', 'text/event-stream')
          yield 'data: first\n\n'
          await untilAborted(ctx.signal).catch(() => {})
          yield 'data: bye\n\n'
        },
        /data: bye\n\n$/,
      ],
    ]
    for (const [name, handler, last] of endings) {
      test(`${name}: the stream and its connection end, and the close waits for neither`, async () => {
        const app = kit.app(patient)
        app.get('/e', handler)
        let finished = 0
        app.onResponse(() => void finished++)
        const live = new Live(app, await app.listen(0, '127.0.0.1'))
        const reported = kit.reports.length
        const wire = await open(live)
        await has(wire, 'data: first')
        const closing = app.close()
        await wire.until(() => (wire.isEnded ? true : undefined), 'the end of the connection')
        assert.equal(await wire.closed, 'end')
        // The server has ended its side, and goes on to read until its client has ended the other.
        wire.socket.end()
        await within(closing, 'close')
        const text = kit.can('last-chunk') ? (await wire.reply()).text : sent(wire)
        assert.match(text, last)
        assert.deepEqual([kit.reports.length, finished], [reported, 1])
        live.closeAll()
      })
    }

    test('a stream that begins then ends at once', async () => {
      const app = kit.app(patient)
      const go = deferred()
      const begun = deferred()
      app.get('/e', async (ctx) => {
        begun.resolve()
        await go.promise
        return ctx.sse(() => {})
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const wire = (await live.connect()).send(request('GET', '/e'))
      await begun.promise
      const closing = app.close()
      go.resolve()
      await wire.until(() => (sent(wire).includes('retry: ') ? true : undefined), 'the last event')
      live.closeAll()
      await within(closing, 'close')
      live.closeAll()
    })

    test('a request behind the stream is answered', kit.needs('pipelining'), async () => {
      const app = kit.app({ limits: { shutdownTimeout: 600_000, drainIdle: 0 } })
      keeping(app)
      app.get('/next', () => 'next')
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const wire = (await live.connect()).send(request('GET', '/e')).send(request('GET', '/next'))
      await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
      await eventually(() => app.stats().inFlight >= 1, 'the stream')
      const closing = app.close()
      assert.match((await wire.reply()).text, /retry: \d+\n\n$/)
      assert.equal((await wire.reply()).text, 'next')
      live.closeAll()
      await within(closing, 'close')
      live.closeAll()
    })

    test('ctx.stream with events that waits for ever: the stream and its connection end, and the close waits for neither', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app({ limits: { shutdownTimeout: 600_000, drainIdle: 600_000 } })
      app.get('/e', async function* (ctx) {
        ctx.header('content-type', 'Text/Event-Stream; charset=utf-8')
        yield 'data: first\n\n'
        await new Promise(() => {})
      })
      let finished = 0
      app.onResponse(() => void finished++)
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const reported = kit.reports.length
      const wire = await open(live)
      await has(wire, 'data: first')
      const closing = app.close()
      await passes(clock, 1_000, () => wire.isEnded, 'the end of the connection')
      assert.equal(await wire.closed, 'end')
      // The server has ended its side, and goes on to read until its client has ended the other.
      wire.socket.end()
      await within(closing, 'close')
      const text = kit.can('last-chunk') ? (await wire.reply()).text : sent(wire)
      assert.match(text, /data: first\n\n$/)
      assert.deepEqual([kit.reports.length, finished], [reported, 1])
      live.closeAll()
    })

    test('a stream that is no stream of events goes on to its end', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app({ limits: { shutdownTimeout: 600_000, drainIdle: 0 } })
      const go = deferred()
      app.get('/download', async function* () {
        yield 'one '
        await go.promise
        yield 'two'
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const wire = (await live.connect()).send(request('GET', '/download'))
      await wire.until(() => (wire.received.includes('one') ? true : undefined), 'the first chunk')
      const closing = app.close()
      // Longer than streams of events have.
      await clock.advance(1_200)
      go.resolve()
      assert.equal((await wire.reply()).text, 'one two')
      live.closeAll()
      await within(closing, 'close')
      live.closeAll()
    })
  })
}
