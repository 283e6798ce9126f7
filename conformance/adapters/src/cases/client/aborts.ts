import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { ClientError, createClient } from 'volant/client'
import { eventually, type Kit, type Live, turns } from '../../kit.ts'

export function abortsOfClients(kit: Kit): void {
  describe('client', () => {
    test('an aborted call ends on both sides, and so does one that takes too long', async (t) => {
      const clock = testClock(t)
      const app = kit.app()
      const state = { started: 0, aborted: 0 }
      const api = {
        slow: app.get('/slow', async (ctx) => {
          state.started++
          await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
          state.aborted++
        }),
        endless: app.get('/endless', async function* (ctx) {
          for (;;) {
            yield 'x'
            await turns(1)
            if (ctx.signal.aborted) state.aborted++
          }
        }),
      }
      app.expose(api)
      const run = async ({ address }: Live): Promise<void> => {
        const client = createClient<typeof api>(address.url)
        const controller = new AbortController()
        const call = client.slow({}, { signal: controller.signal })
        await eventually(() => state.started === 1, 'the handler started')
        const reason = new Error('enough')
        controller.abort(reason)
        await assert.rejects(call, reason)
        await eventually(() => state.aborted === 1, 'the handler was told')
        await assert.rejects(client.slow({}, { signal: AbortSignal.abort(reason) }), reason)

        let isOver = false
        const calling = client.slow({}, { timeout: 30 }).catch((error: unknown) => error)
        void calling.then(() => (isOver = true))
        await eventually(() => state.started === 2, 'the handler started')
        await clock.advance(29)
        await turns()
        assert.equal(isOver, false)
        await clock.advance(1)
        const late = await calling
        assert.ok(late instanceof ClientError)
        assert.equal(late.message, 'slow: no reply within 30 ms')
        assert.equal((late.cause as DOMException).name, 'TimeoutError')
        await eventually(() => state.aborted === state.started, 'the handlers were told')

        // The time is that of the call: what it gave is read after it.
        const stop = new AbortController()
        const { data } = await client.endless({}, { timeout: 200, signal: stop.signal })
        const reader = data.getReader()
        await clock.advance(201)
        for (let chunk = 0; chunk < 100; chunk++) assert.equal((await reader.read()).done, false)
        stop.abort(reason)
        await assert.rejects(async () => {
          for (;;) await reader.read()
        }, reason)
      }
      await kit.serve(app, run, { clock })
    })
  })
}
