import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EventStream } from 'volant'
import { timeout } from 'volant/middleware'
import { fill, has, keeping, open, sent } from '../event-stream.ts'
import { deferred, eventually, type Kit, Live, request, within } from '../kit.ts'
import { passes } from '../time-limit.ts'

/** What happens to streams of events after a time, and what does not. */
export function sseTimeLimits(kit: Kit): void {
  describe('server-sent events', () => {
    test('a quiet stream has its heartbeats', async (t) => {
      const clock = kit.clock(t)
      const heartbeat = clock.isHeld ? 15_000 : 30
      const app = kit.app()
      keeping(app, { heartbeat })
      await kit.serve(app, async (live) => {
        const wire = await open(live)
        for (let beats = 1; beats <= 3; beats++) {
          const expected = ':\n\n'.repeat(beats + 1)
          await passes(clock, heartbeat, () => sent(wire).includes(expected), `heartbeat ${beats}`)
        }
      })
    })
  })

  describe('server-sent events for clients that read slowly', () => {
    test('sendTimeout ends a stream whose client takes nothing, handlerTimeout and timeout() end none', async (t) => {
      const clock = kit.clock(t)
      const sendTimeout = clock.isHeld ? 30_000 : 400
      const app = kit.app({ limits: { handlerTimeout: 100, sendTimeout } })
      const streams = keeping(app, { maxBuffer: 2 ** 30 })
      app.get('/gated', timeout(100), (ctx) => ctx.sse((stream) => void streams.push(stream)))
      await kit.serve(app, async (live) => {
        const good = [await open(live), await open(live, '/gated')]
        const slow = await live.connect()
        slow.socket.pause()
        slow.send(request('GET', '/e'))
        await eventually(() => streams.length === 3, 'the slow one')
        const stream = streams[2] as EventStream
        await fill(stream)
        await passes(clock, sendTimeout, () => stream.closed, 'the end of the slow one')
        for (const each of streams.slice(0, 2)) assert.equal(each.send('after it'), true)
        for (const wire of good) await has(wire, 'after it')
      })
    })
  })

  describe('server-sent events while the app closes', () => {
    test('ctx.stream with events that waits for ever: the stream and its connection end, and the close waits for neither', async (t) => {
      const clock = kit.clock(t)
      const app = kit.app({ limits: { shutdownTimeout: 60_000, drainIdle: 60_000 } })
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
      await within(closing, 30_000, 'close')
      const text = kit.can('last-chunk') ? (await wire.reply()).text : sent(wire)
      assert.match(text, /data: first\n\n$/)
      assert.deepEqual([kit.reports.length, finished], [reported, 1])
      live.closeAll()
    })

    test('a stream that is no stream of events goes on to its end', async (t) => {
      const clock = kit.clock(t)
      const app = kit.app({ limits: { shutdownTimeout: 60_000, drainIdle: 0 } })
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
      await within(closing, 30_000, 'close')
      live.closeAll()
    })
  })
}
