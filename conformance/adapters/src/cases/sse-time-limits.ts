import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EventStream } from 'volant'
import { timeout } from 'volant/middleware'
import { fill, has, keeping, open } from '../event-stream.ts'
import { eventually, type Kit, request } from '../kit.ts'
import { passes } from '../time-limit.ts'

/** Which time limits end a stream of events. */
export function sseTimeLimits(kit: Kit): void {
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
}
