import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, type Kit, request } from '../../kit.ts'

/** L4: handlers that throw, reject, never settle or reply twice. */
export function errorsTimeLimits(kit: Kit): void {
  describe('errors', () => {
    test('handlerTimeout: 503, the signal aborts, a late reply is dropped, the connection lives', async () => {
      const app = kit.app({ limits: { handlerTimeout: 100 } })
      const fired: unknown[] = []
      let lateError: unknown = 'none'
      app.get('/slow', async (ctx) => {
        ctx.signal.addEventListener('abort', () => fired.push(ctx.signal.reason))
        await eventually(() => fired.length > 0, 'the handler has no more time')
        try {
          ctx.json({ late: true })
          lateError = undefined
        } catch (error) {
          lateError = error
        }
      })
      app.get('/never', () => new Promise(() => {}))
      app.get('/fast', () => 'fast')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const reply = await wire.send(request('GET', '/slow')).reply()
        assert.equal(reply.status, 503)
        assert.equal((reply.json() as { code: string }).code, 'E_HANDLER_TIMEOUT')
        assert.equal(fired.length, 1)
        await eventually(() => lateError === undefined, 'the late reply dropped silently')
        assert.equal(fired.length, 1)
        assert.equal((await live.ask('/never')).status, 503)
        assert.equal((await live.ask('/fast')).text, 'fast')
        assert.equal((await app.inject('/never')).status, 503)
      })
    })
  })
}
