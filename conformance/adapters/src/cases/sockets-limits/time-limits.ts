import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit } from '../../kit.ts'
import { Opcode, Peer } from '../../peer.ts'

/** How long a WebSocket may be idle. */
export function socketTimeLimits(kit: Kit): void {
  describe('limits of WebSockets', () => {
    test('socketIdleTimeout: a ping after half of it, and a reset without any frame', async () => {
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
          while (answers < 3 && !ends.some((end) => end.startsWith('alive'))) {
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
      // Half of a time is what an answer may take: a busy machine may need another attempt with a longer one.
      let outlived = false
      for (const ms of [2_000, 6_000, 18_000]) outlived ||= await outlives(ms)
      assert.ok(outlived)
    })

    test('idleTimeout of a route: 0 is no limit', async () => {
      const app = kit.app({ limits: { socketIdleTimeout: 1_000, keepAliveTimeout: 400 } })
      app.ws('/', { idleTimeout: 0, message: (ws, message) => ws.send(message) })
      const ended = deferred<number>()
      app.ws('/short', { close: (_, code) => ended.resolve(code) })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        await Peer.open(live, '/short')
        assert.equal(await ended.promise, 1006)
        assert.equal(await peer.send('still here').text(), 'still here')
      })
    })
  })
}
