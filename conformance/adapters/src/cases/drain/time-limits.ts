/** What a close ends after a time. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engineClock } from '@volant/engine'
import { blockFor, testClock } from '@volant/test-kit'
import { reach } from '../../clock.ts'
import { deferred, eventually, type Kit, request, turns, untilAborted, within } from '../../kit.ts'
import { appsOf, get, serve } from './kit.ts'

export function drainTimeLimits(kit: Kit): void {
  describe('draining', () => {
    const appOf = appsOf(kit)
    test('an idle connection is read once more when drainIdle is over', async (t) => {
      const clock = kit.clock(t)
      const app = appOf({ drainIdle: 30 })
      const live = await serve(app)
      const [late, quiet] = [await live.connect(), await live.connect()]
      assert.equal((await late.send(get).reply()).text, 'x')
      await eventually(() => app.stats().connections === 2, 'both are accepted')
      const closing = app.close()
      if (clock.isHeld) await turns()
      late.send(get)
      // The time is over before the event loop has read the request.
      if (clock.isHeld) await engineClock.advance(30)
      // The timer and the request are due together after it.
      else blockFor(60)
      const reply = await late.reply()
      assert.equal(reply.headers['connection'], 'close')
      await late.ended()
      assert.equal(await quiet.ended(), 'end')
      late.close()
      quiet.close()
      await within(closing, 'close')
    })

    test(
      'a request that crosses the end is not run, and meets no reset',
      kit.needs('lingering'),
      async (t) => {
        const clock = kit.clock(t)
        // Less than the time that an idle connection has anyway.
        const drainIdle = clock.isHeld ? 4_000 : 300
        const app = appOf({ drainIdle })
        let runs = 0
        app.get('/run', () => ++runs)
        const live = await serve(app)
        const wire = await live.connect()
        assert.equal((await wire.send(get).reply()).text, 'x')
        const closing = app.close()
        await turns()
        await reach(clock, drainIdle, () => wire.isEnded)
        await wire.ended()
        let reset = false
        wire.socket.on('error', () => (reset = true))
        wire.send(request('GET', '/run')).socket.end()
        await within(closing, 'close')
        assert.deepEqual([runs, reset], [0, false])
        wire.close()
      },
    )

    test('shutdownTimeout ends what drains, too', async (t) => {
      const clock = kit.clock(t)
      const shutdownTimeout = clock.isHeld ? 4_000 : 300
      const app = appOf({ drainIdle: shutdownTimeout, shutdownTimeout })
      const entered = deferred()
      app.get('/never', () => {
        entered.resolve()
        return new Promise(() => {})
      })
      const live = await serve(app)
      const [idle, waits] = [await live.connect(), await live.connect()]
      assert.equal((await idle.send(get).reply()).text, 'x')
      waits.send(request('GET', '/never'))
      await entered.promise
      const closing = app.close()
      await turns()
      await reach(clock, shutdownTimeout, () => idle.isEnded || waits.isEnded)
      await within(closing, 'close')
      for (const wire of [idle, waits]) {
        await wire.ended()
        wire.close()
      }
    })

    test('a client that does not end its side holds a close no longer than drainTimeout', async (t) => {
      const clock = kit.clock(t)
      const drainTimeout = clock.isHeld ? 5_000 : 300
      const app = appOf({ drainIdle: 0, drainTimeout })
      app.get('/stream', async function* (ctx) {
        yield 'begun'
        await untilAborted(ctx.signal).catch(() => {})
      })
      const live = await serve(app)
      const wire = (await live.connect()).send(request('GET', '/stream'))
      await wire.until(() => (wire.received.includes('begun') ? true : undefined), 'the first chunk')
      let isClosed = false
      const closing = app.close().then(() => (isClosed = true))
      assert.equal(await within(wire.closed, 'the end of the stream'), 'end')
      // node:http and uWebSockets.js wait for no client after such a stream.
      if (clock.isHeld) await reach(clock, drainTimeout, () => isClosed)
      await within(closing, 'close')
      wire.close()
    })

    test('shutdownTimeout 0 resets at once', async (t) => {
      // Time goes on by a few milliseconds on every adapter: what looks at connections each second does not come.
      const clock = testClock(t, engineClock)
      const app = appOf({ shutdownTimeout: 0, drainTimeout: 60_000 })
      const entered = deferred()
      app.get('/never', () => {
        entered.resolve()
        return new Promise(() => {})
      })
      const live = await serve(app)
      const wire = await live.connect()
      wire.send(request('GET', '/never'))
      await entered.promise
      const closing = app.close()
      for (let ms = 0; ms < 10; ms++) await clock.advance(1)
      await within(closing, 'close')
      await wire.closed
      wire.close()
    })
  })
}
