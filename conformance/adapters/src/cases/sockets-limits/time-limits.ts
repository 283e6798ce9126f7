import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit } from '../../kit.ts'
import { Opcode, Peer } from '../../peer.ts'
import { passes } from '../../time-limit.ts'

/** How long a WebSocket may be idle, and how long its end may take. */
export function socketTimeLimits(kit: Kit): void {
  describe('limits of WebSockets', () => {
    test('socketIdleTimeout: a ping after half of it, and a reset without any frame', async (t) => {
      const clock = kit.clock(t)
      /** Gives whether the silent one is asked and reset, and the client that answers outlives it. */
      const outlives = async (socketIdleTimeout: number): Promise<boolean> => {
        const app = kit.app({ limits: { socketIdleTimeout } })
        const ends: string[] = []
        app.ws('/:name', {
          upgrade: (ctx) => ctx.params.name,
          open: (ws) => ws.send('ready'),
          close: (ws, code) => void ends.push(`${ws.data} ${code}`),
        })
        let answers = 0
        let isAsked = false
        await kit.serve(app, async (live) => {
          const silent = await Peer.open(live, '/silent')
          const alive = await Peer.open(live, '/alive')
          assert.equal(await silent.text(), 'ready')
          assert.equal(await alive.text(), 'ready')
          const hasPing = () => alive.wire.received.length > 0
          while (answers < 3 && !ends.some((end) => end.startsWith('alive'))) {
            if (clock.isHeld) {
              await passes(clock, socketIdleTimeout / 2, hasPing, 'the ping')
              assert.deepEqual(ends, answers === 0 ? [] : ['silent 1006'])
            }
            const ping = await alive.next().catch(() => null)
            if (ping === null) break
            assert.equal(ping.opcode, Opcode.ping)
            alive.frame(Opcode.pong, ping.payload)
            answers++
          }
          isAsked = await silent.next().then(
            ({ opcode }) => opcode === Opcode.ping,
            () => false,
          )
          await eventually(() => ends.includes('silent 1006'), 'the end of the silent one')
          if (ends.length === 1) assert.equal(app.stats().sockets, 1)
        })
        return isAsked && answers === 3 && ends[0] === 'silent 1006'
      }
      // Half of a time is what an answer may take: where time goes on, a busy machine may need another attempt with a
      // longer one.
      let outlived = false
      for (const ms of clock.isHeld ? [60_000] : [2_000, 6_000, 18_000]) outlived ||= await outlives(ms)
      assert.ok(outlived)
    })

    test('idleTimeout of a route: 0 is no limit', async (t) => {
      const clock = kit.clock(t)
      const limits = clock.isHeld ? {} : { socketIdleTimeout: 1_000, keepAliveTimeout: 400 }
      const app = kit.app({ limits })
      app.ws('/', { idleTimeout: 0, message: (ws, message) => ws.send(message) })
      const ended = deferred<number>()
      app.ws('/short', { close: (_, code) => ended.resolve(code) })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        await Peer.open(live, '/short')
        // Each half of a minute ends with the ping or with the reset of the one that has the limit.
        for (let halves = 0; clock.isHeld && halves < 100; halves++) await clock.advance(30_000)
        assert.equal(await ended.promise, 1006)
        assert.equal(await peer.send('still here').text(), 'still here')
      })
    })
  })

  describe('the end of a WebSocket', () => {
    // uWebSockets.js ends the connection with its close frame, and gives no client time to answer.
    const timeToAnswer: typeof passes = (clock, limit, isOver, what) =>
      kit.adapter === 'uwebsockets' ? eventually(isOver, what) : passes(clock, limit, isOver, what)

    test('a client that does not answer is cut off after closeTimeout', async (t) => {
      const clock = kit.clock(t)
      const closeTimeout = clock.isHeld ? 5_000 : 200
      const app = kit.app({ limits: { closeTimeout } })
      const codes: number[] = []
      app.ws('/', { open: (ws) => ws.close(4000), close: (_, code) => void codes.push(code) })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        assert.equal((await peer.closing())[0], 4000)
        await timeToAnswer(clock, closeTimeout, () => peer.wire.isEnded, 'the end of the connection')
        await peer.wire.ended()
        await eventually(() => app.stats().sockets === 0, 'the end of the WebSocket')
      })
      assert.deepEqual(codes, [4000])
    })

    test('sockets that do not answer hold a shutdown no longer than closeTimeout', async (t) => {
      const clock = kit.clock(t)
      const closeTimeout = clock.isHeld ? 5_000 : 200
      const app = kit.app({ limits: { closeTimeout, shutdownTimeout: 600_000 } })
      const codes: number[] = []
      app.ws('/', { open: (ws) => ws.send('ready'), close: (_, code) => void codes.push(code) })
      await kit.serve(app, async (live) => {
        const peers = [await Peer.open(live, '/'), await Peer.open(live, '/')]
        for (const peer of peers) assert.equal(await peer.text(), 'ready')
        let isClosed = false
        const closing = app.close({ drainIdle: 0 }).then(() => (isClosed = true))
        for (const peer of peers) assert.equal((await peer.closing())[0], 1001)
        await timeToAnswer(clock, closeTimeout, () => isClosed, 'the close')
        await closing
      })
      assert.deepEqual(codes, [1001, 1001])
    })
  })
}
