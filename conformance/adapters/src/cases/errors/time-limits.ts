import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { reach } from '../../clock.ts'
import { eventually, type Kit, request } from '../../kit.ts'
import { randomHandlers } from './random.ts'

export function errorsTimeLimits(kit: Kit): void {
  describe('errors', () => {
    test('handlerTimeout: 503, the signal aborts, a late reply is dropped, the connection lives', async (t) => {
      const clock = kit.clock(t)
      const handlerTimeout = clock.isHeld ? 3_600_000 : 300
      const app = kit.app({ limits: { handlerTimeout } })
      const fired: unknown[] = []
      let lateError: unknown = 'none'
      let begun = 0
      app.get('/slow', async (ctx) => {
        begun++
        ctx.signal.addEventListener('abort', () => fired.push(ctx.signal.reason))
        await eventually(() => fired.length > 0, 'the handler has no more time')
        try {
          ctx.json({ late: true })
          lateError = undefined
        } catch (error) {
          lateError = error
        }
      })
      app.get('/never', () => {
        begun++
        return new Promise(() => {})
      })
      app.get('/fast', () => 'fast')
      /** Waits until the handler has begun, and then for the end of its time. */
      const expired = async (handlers: number): Promise<void> => {
        await eventually(() => begun === handlers, 'the handler began')
        await reach(clock, handlerTimeout, () => app.stats().inFlight === 0)
      }
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/slow'))
        await expired(1)
        const reply = await wire.reply()
        assert.equal(reply.status, 503)
        assert.equal((reply.json() as { code: string }).code, 'E_HANDLER_TIMEOUT')
        assert.equal(fired.length, 1)
        await eventually(() => lateError === undefined, 'the late reply dropped silently')
        assert.equal(fired.length, 1)
        const never = live.ask('/never')
        await expired(2)
        assert.equal((await never).status, 503)
        assert.equal((await live.ask('/fast')).text, 'fast')
        const injected = app.inject('/never')
        await eventually(() => begun === 3, 'the handler began')
        if (clock.isHeld) await clock.advance(handlerTimeout)
        assert.equal((await injected).status, 503)
      })
    })

    test('2,000 random handlers: one reply each, of the right status, in order', async (t) => {
      await randomHandlers(kit, kit.clock(t))
    })
  })
}
