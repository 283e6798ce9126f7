/** How long handlers may take, and who says so. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { testClock, turns } from '@volant/test-kit'
import { HTTPError } from 'volant'
import { timeout } from 'volant/middleware'
import { deferred, eventually, Kit } from '../kit.ts'
import { refuses } from './kit.ts'

const kit = new Kit()

describe('timeout', () => {
  test('a handler that is too slow is answered with 503, and told', async (t) => {
    const clock = testClock(t)
    const app = kit.app()
    const outcomes: unknown[] = []
    app.onResponse((_, { status, error }) => void outcomes.push([status, (error as HTTPError).code]))
    app.use(timeout(20))
    const aborted = deferred<unknown>()
    app.get('/slow', async (ctx) => {
      await once(ctx.signal, 'abort')
      aborted.resolve(ctx.signal.reason)
      return 'too late'
    })
    await kit.serve(app, async (live) => {
      const asked = live.ask('/slow')
      await turns()
      await clock.advance(19)
      assert.deepEqual(outcomes, [])
      await clock.advance(1)
      const reply = await asked
      assert.deepEqual([reply.status, (reply.json() as { code: string }).code], [503, 'E_HANDLER_TIMEOUT'])
      assert.equal(((await aborted.promise) as Error).name, 'AbortError')
      assert.deepEqual(outcomes, [[503, 'E_HANDLER_TIMEOUT']])
    })
    assert.deepEqual(kit.reports.splice(0), [])
  })

  test('the innermost counts, a route’s own before all, and 0 is none', async (t) => {
    const clock = testClock(t)
    const app = kit.app()
    app.use(timeout(20))
    let entered = 0
    const later = (ms: number) => () => {
      entered++
      return new Promise((resolve) => setTimeout(resolve, ms, 'in time'))
    }
    app.get('/scope', timeout(60), later(59))
    app.get('/none', timeout(0), later(86_400_000))
    app.get('/route', { handlerTimeout: 60 }, later(59))
    app.get('/shorter', { handlerTimeout: 20 }, timeout(60), later(21))
    app.use('/under/here', timeout(0))
    app.get('/under/*', later(21))
    await kit.serve(app, async (live) => {
      const inTime = ['/scope', '/none', '/route', '/under/here/x']
      const tooLate = ['/shorter', '/under/there']
      const asked = new Map([...inTime, ...tooLate].map((path) => [path, live.ask(path)]))
      await eventually(() => entered === asked.size, 'the handlers')
      await clock.advance(86_400_000)
      for (const path of inTime) assert.equal((await asked.get(path))?.text, 'in time', path)
      for (const path of tooLate) assert.equal((await asked.get(path))?.status, 503, path)
    })
  })

  test('an error handler answers in its place, and misses have it too', async (t) => {
    const clock = testClock(t)
    const app = kit.app()
    app.use(timeout(20))
    app.onError((error, ctx) => ctx.text(`sorry: ${(error as HTTPError).code}`, 504))
    app.onNotFound(() => new Promise(() => {}))
    await kit.serve(app, async (live) => {
      const asked = live.ask('/none')
      await turns()
      await clock.advance(20)
      const { status, text } = await asked
      assert.deepEqual([status, text], [504, 'sorry: E_HANDLER_TIMEOUT'])
    })
  })

  test('options that make no sense', () => {
    refuses([
      ...[-1, 1.5, NaN, Infinity, '5', undefined, 1e9].map(
        (ms) => [() => timeout(ms as number), /timeout takes a whole number of milliseconds/] as const,
      ),
      [() => timeout(1, { streams: 1 as never }), /timeout: streams takes true or false/],
      [() => timeout(1, { respond: true } as never), /onError answers/],
    ])
  })
})
