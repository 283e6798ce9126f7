import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request } from '../../kit.ts'
import { frame, handshake, Opcode } from '../../peer.ts'
import { frameworkClock, passes } from '../../time-limit.ts'

/** The connection of an upgrade: bytes around it, and clients that leave. */
export function upgradedConnections(kit: Kit): void {
  describe('the upgrade to a WebSocket', () => {
    test('maxSocketsPerAddress counts those whose send hooks take time', async () => {
      const app = kit.app({ limits: { maxSocketsPerAddress: 2 } })
      const hooks = deferred<void>()
      let waiting = 0
      app.onSend(async () => {
        waiting++
        await hooks.promise
      })
      app.ws('/a', {})
      await kit.serve(app, async (live) => {
        const wires = await Promise.all([1, 2, 3, 4].map(() => live.connect()))
        for (const wire of wires) wire.send(request('GET', '/a', handshake))
        await eventually(() => waiting === 4, 'all four')
        hooks.resolve()
        const replies = await Promise.all(wires.map((wire) => wire.interim()))
        assert.deepEqual(replies.map(({ status }) => status).toSorted(), [101, 101, 429, 429])
      })
    })

    test('an upgrade that ends after the time of the handler opens and reports nothing', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app()
      const late = deferred<void>()
      const ended = deferred<void>()
      let opened = 0
      app.use(async (_, next) => {
        await next()
        ended.resolve()
      })
      app.ws('/a', { handlerTimeout: 30_000, upgrade: () => late.promise, open: () => void opened++ })
      app.get('/b', () => 'b')
      await kit.serve(app, async (live) => {
        const reports = kit.reports.length
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake))
        await passes(clock, 30_000, () => wire.received.length > 0, 'the reply')
        assert.equal((await wire.reply()).status, 503)
        late.resolve()
        await ended.promise
        wire.send(request('GET', '/b'))
        assert.equal((await wire.reply()).text, 'b')
        assert.deepEqual(kit.reports.slice(reports), [])
        assert.equal(opened, 0)
      })
    })

    test('a client that closed its sending side before the 101 has no WebSocket', async () => {
      const app = kit.app()
      const entered = deferred<void>()
      const left = deferred<void>()
      const late = deferred<void>()
      let [opened, closed] = [0, 0]
      app.ws('/a', {
        upgrade(ctx) {
          ctx.signal.addEventListener('abort', () => left.resolve())
          entered.resolve()
          return late.promise
        },
        open: () => void opened++,
        close: () => void closed++,
      })
      app.get('/b', () => 'b')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake))
        await entered.promise
        wire.socket.end()
        await left.promise
        late.resolve()
        await live.ask('/b')
        await eventually(() => opened === closed && app.stats().sockets === 0, 'its end')
      })
    })

    test('bytes behind the request belong to the WebSocket', kit.needs('socket-early-frames'), async () => {
      const app = kit.app()
      const entered = deferred<void>()
      const go = deferred<void>()
      app.ws('/a', {
        async upgrade() {
          entered.resolve()
          await go.promise
        },
        message: (ws, message) => ws.send(message),
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Buffer.concat([request('GET', '/a', handshake), frame(Opcode.text, 'early')]))
        await entered.promise
        wire.send(frame(Opcode.text, 'later'))
        go.resolve()
        assert.equal((await wire.interim()).status, 101)
        await wire.until(() => (wire.received.length >= 14 ? true : undefined), 'two messages')
        assert.equal(wire.received.toString('latin1'), '\x81\x05early\x81\x05later')
      })
    })

    test(
      'requests before the upgrade are answered first, and those behind a refusal after it',
      kit.needs('pipelining'),
      async () => {
        const app = kit.app()
        const slow = deferred<string>()
        app.get('/slow', () => slow.promise)
        app.get('/x', () => 'x')
        app.ws('/no', { upgrade: (ctx) => ctx.text('no', 403) })
        app.ws('/yes', { message: (ws, message) => ws.send(message) })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(
            Buffer.concat([
              request('GET', '/slow'),
              request('GET', '/no', handshake),
              request('GET', '/x'),
              request('GET', '/no', handshake),
              request('GET', '/yes', handshake),
              frame(Opcode.text, 'hello'),
            ]),
          )
          slow.resolve('slow')
          assert.equal((await wire.reply()).text, 'slow')
          assert.equal((await wire.reply()).text, 'no')
          assert.equal((await wire.reply()).text, 'x')
          assert.equal((await wire.reply()).text, 'no')
          assert.equal((await wire.interim()).status, 101)
          await wire.until(() => (wire.received.length >= 7 ? true : undefined), 'the echo')
          assert.equal(wire.received.toString('latin1'), '\x81\x05hello')
        })
      },
    )

    test('a client that leaves while upgrade runs gets no WebSocket', async () => {
      const app = kit.app()
      const entered = deferred<void>()
      const aborted = deferred<void>()
      const done = deferred<void>()
      let opened = 0
      app.ws('/a', {
        async upgrade(ctx) {
          ctx.signal.addEventListener('abort', () => aborted.resolve())
          entered.resolve()
          await aborted.promise
        },
        open: () => void opened++,
        close: () => void opened++,
      })
      app.onResponse(() => done.resolve())
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake))
        await entered.promise
        wire.reset()
        await done.promise
        await eventually(() => app.stats().connections === 0, 'the end')
        assert.deepEqual([app.stats().sockets, app.stats().inFlight, opened], [0, 0, 0])
      })
    })
  })
}
