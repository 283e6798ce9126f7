import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { deferred, eventually, type Kit, request } from '../../kit.ts'

/** L5: the client leaves at every point. */
export function signalsOfAborts(kit: Kit): void {
  describe('aborts', () => {
    for (const how of ['reset', 'close'] as const) {
      test(`${how} while the handler waits: the signal fires once, the late reply is dropped`, async () => {
        const app = kit.app()
        const started = deferred()
        const replied = deferred<unknown>()
        let fired = 0
        app.get('/w', async (ctx) => {
          ctx.signal.addEventListener('abort', () => fired++)
          started.resolve()
          await eventually(() => fired > 0, 'the signal')
          try {
            ctx.json({ late: true })
            replied.resolve(undefined)
          } catch (error) {
            replied.resolve(error)
          }
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/w'))
          await started.promise
          wire[how]()
          assert.equal(await replied.promise, undefined)
          await eventually(() => app.stats().inFlight === 0 && app.stats().connections === 0, 'nothing left')
          assert.equal(fired, 1)
        })
      })
    }

    test('a refusal after the client left is not reported, and an unexpected error is', async () => {
      const reports: string[] = []
      const app = kit.app({ report: (error) => void reports.push((error as Error).message) })
      let begun = 0
      app.use(async (ctx, next) => {
        begun++
        if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
        await next()
      })
      app.get('/refused', () => {
        throw new HTTPError(401)
      })
      app.get('/broken', () => {
        throw new Error('broken')
      })
      await kit.serve(app, async (live) => {
        for (const [at, path] of ['/refused', '/nowhere', '/broken'].entries()) {
          const wire = await live.connect()
          wire.send(request('GET', path))
          await eventually(() => begun === at + 1, 'the request')
          wire.reset()
          await eventually(() => app.stats().inFlight === 0, 'its end')
        }
        await eventually(() => reports.includes('broken'), 'the report')
        assert.deepEqual(reports, ['broken'])
      })
    })

    test('the signal is aborted already when first read after the client left', async () => {
      const app = kit.app()
      const started = deferred()
      const aborted = deferred<boolean>()
      app.get('/w', async (ctx) => {
        started.resolve()
        await eventually(() => app.stats().connections === 0, 'the client has left')
        aborted.resolve(ctx.signal.aborted)
        return 'late'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/w'))
        await started.promise
        wire.reset()
        assert.equal(await aborted.promise, true)
      })
    })

    test('the signal does not fire after a complete reply', async () => {
      const app = kit.app()
      let signal: AbortSignal | undefined
      app.get('/x', (ctx) => {
        signal = ctx.signal
        return 'ok'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        await wire.send(request('GET', '/x')).reply()
        wire.reset()
        await eventually(() => app.stats().connections === 0, 'no connection')
        assert.equal(signal?.aborted, false)
      })
    })
  })
}
