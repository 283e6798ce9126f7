import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, type Kit, request, turns } from '../../kit.ts'

/** L5: the client leaves at every point. */
export function abortsAtAnyByte(kit: Kit): void {
  describe('aborts', () => {
    const bytes = request('POST', '/up', { 'content-type': 'text/plain' }, 'hello, this is the body')

    for (const mode of ['buffer', 'stream'] as const) {
      test(`leaving after every byte of an upload (${mode})`, async () => {
        const app = kit.app()
        const settled: (() => string)[] = []
        app.post('/up', { bodyMode: mode }, async (ctx) => {
          let fired = 0
          ctx.signal.addEventListener('abort', () => fired++)
          try {
            const text = mode === 'buffer' ? ctx.bodyText : await new Response(ctx.bodyStream).text()
            settled.push(() => text)
            return text
          } catch (error) {
            settled.push(() => `failed ${fired}`)
            throw error
          }
        })
        await kit.serve(app, async (live) => {
          for (let cut = 1; cut <= bytes.length; cut++) {
            const wire = await live.connect()
            wire.send(bytes.subarray(0, cut))
            // So that the server has read some of it, which nothing shows.
            if (cut % 3 === 0) await turns()
            if (cut % 2 === 0) wire.reset()
            else wire.close()
          }
          await eventually(() => app.stats().inFlight === 0 && app.stats().connections === 0, 'nothing left')
          for (const end of settled) {
            const one = end()
            assert.ok(one === 'hello, this is the body' || one === 'failed 1', one)
          }
          assert.equal((await live.ask('/up', { method: 'POST', body: 'x' })).text, 'x')
        })
      })
    }

    test('leaving after every kilobyte of a large reply', async () => {
      const app = kit.app()
      const big = 'x'.repeat(200_000)
      app.get('/big', () => big)
      app.get('/stream', function* () {
        for (let at = 0; at < 200; at++) yield 'y'.repeat(1_000)
      })
      await kit.serve(app, async (live) => {
        for (let cut = 0; cut < 60; cut++) {
          const wire = await live.connect()
          wire.send(request('GET', cut % 2 === 0 ? '/big' : '/stream'))
          await wire.until(() => (wire.received.length >= cut * 1_000 ? true : undefined), 'bytes')
          wire.reset()
        }
        await eventually(() => app.stats().inFlight === 0 && app.stats().connections === 0, 'nothing left')
        assert.equal((await live.ask('/big')).body.length, 200_000)
      })
    })
  })
}
