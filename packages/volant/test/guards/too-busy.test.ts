/** Requests that are refused while the process has more to do than it can. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import perfHooks from 'node:perf_hooks'
import { describe, test, type TestContext } from 'node:test'
import { testClock } from '@volant/test-kit'
import { cors } from 'volant'
import { tooBusy } from 'volant/middleware'
import { eventually, Kit } from '../kit.ts'
import { codeOf, refuses } from './kit.ts'

const kit = new Kit()

describe('tooBusy', () => {
  test('requests that are too many at once are refused, in a page as well, and no others', async () => {
    const app = kit.app()
    const guard = tooBusy({ maxInFlight: 2, retryAfter: 3 })
    app.use(guard)
    app.use(cors({ origin: 'https://app.example' }))
    const waiting: (() => void)[] = []
    app.get('/slow', () => new Promise((resolve) => waiting.push(() => resolve('done'))))
    app.get('/health', () => 'well')
    await kit.serve(app, async (live) => {
      const slow = [live.ask('/slow'), live.ask('/slow')]
      while (waiting.length < 2) await new Promise(setImmediate)
      const reply = await live.ask('/slow', { headers: { origin: 'https://app.example' } })
      assert.deepEqual(
        [
          reply.status,
          codeOf(reply),
          reply.headers['retry-after'],
          reply.headers['access-control-expose-headers'],
        ],
        [503, 'E_TOO_BUSY', '3', 'Retry-After'],
      )
      assert.equal((await live.ask('/health')).status, 200)
      assert.deepEqual([guard.stats().inFlight, guard.stats().refused], [2, 1])
      for (const go of waiting) go()
      for (const each of slow) assert.equal((await each).text, 'done')
      assert.equal(guard.stats().inFlight, 0)
      assert.equal((await live.ask('/none')).status, 404)
    })
  })

  test('a handler that fails, and a middleware that refuses, leave nothing behind', async () => {
    const app = kit.app()
    const guard = tooBusy({ maxInFlight: 1 })
    app.use((ctx, next) => (ctx.query['early'] === undefined ? next() : ctx.text('early')))
    app.use(guard)
    app.get('/fail', () => {
      throw new Error('failed')
    })
    await kit.serve(app, async (live) => {
      for (const path of ['/fail', '/fail', '/fail?early', '/none', '/fail']) await live.ask(path)
      assert.deepEqual([guard.stats().inFlight, guard.stats().refused], [0, 0])
    })
  })

  test('while the event loop is late a growing share is refused, and afterwards a falling one', async (t) => {
    const clock = testClock(t)
    const late = latenessOf(t)
    const app = kit.app()
    const guard = tooBusy({ maxEventLoopDelay: 20, sampleInterval: 100 })
    app.use(guard)
    app.get('/x', () => 'x')
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).status, 200)
      for (const [ms, share] of [
        [19, 0],
        [20, 0],
        [21, 0.1],
        [25, 0.35],
        [40, 1],
        [60, 1],
      ] as const) {
        const before = guard.stats()
        late.ms = ms
        await clock.advance(99)
        assert.deepEqual(guard.stats(), before, 'it looks once in an interval')
        await clock.advance(1)
        assert.deepEqual([guard.stats().shedding, guard.stats().eventLoopDelay], [share, ms])
      }
      assert.equal((await live.ask('/x')).status, 503)
      late.ms = 20
      for (const share of [0.5, 0.25, 0.125, 0]) {
        await clock.advance(100)
        assert.equal(guard.stats().shedding, share)
      }
      assert.equal((await live.ask('/x')).status, 200)
    })
  })

  test('a share of the requests is refused evenly', async (t) => {
    const clock = testClock(t)
    latenessOf(t).ms = 25
    const app = kit.app()
    app.use(tooBusy({ maxEventLoopDelay: 20, sampleInterval: 100 }))
    app.get('/x', () => 'x')
    await kit.serve(app, async (live) => {
      await live.ask('/x')
      await clock.advance(100)
      const statuses: number[] = []
      for (let each = 0; each < 8; each++) statuses.push((await live.ask('/x')).status)
      assert.deepEqual(statuses, [200, 200, 200, 503, 200, 200, 200, 503])
    })
  })

  test('the delay of the event loop is what Node.js measures, without the time that it meant to wait', async (t) => {
    const clock = testClock(t)
    const histogram = histogramOf(t)
    const app = kit.app()
    const guard = tooBusy({ maxEventLoopDelay: 900, sampleInterval: 100 })
    app.use(guard)
    app.get('/x', () => 'x')
    await kit.serve(app, async (live) => {
      await live.ask('/x')
      assert.equal(guard.stats().eventLoopDelay, 0)
      await eventually(() => {
        // Node.js notices how late its own timer is, which no clock of a test holds: a child blocks the event loop.
        spawnSync(process.execPath, ['--eval', ''])
        return histogram.count() > 0
      }, 'a timer of Node.js that is late')
      await clock.advance(100)
      const { mean, resolution } = histogram
      assert.ok(mean > resolution, `${mean} ms include the time that Node.js meant to wait`)
      assert.equal(guard.stats().eventLoopDelay, mean - resolution)
    })
  })

  test('memory past its limit refuses all', async (t) => {
    const clock = testClock(t)
    for (const options of [{ maxRss: 1 }, { maxHeapUsed: 1 }]) {
      const app = kit.app()
      const guard = tooBusy({ ...options, sampleInterval: 100 })
      app.use(guard)
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).status, 200)
        await clock.advance(99)
        assert.equal((await live.ask('/x')).status, 200)
        await clock.advance(1)
        assert.equal((await live.ask('/x')).status, 503)
        assert.ok(guard.stats().rss > 1_000 && guard.stats().heapUsed > 1_000)
      })
      assert.equal(guard.stats().shedding, 0, 'it stops with the app')
    }
  })

  test('options that make no sense', () => {
    refuses([
      [() => tooBusy({ maxEventLoopDelay: 0 }), /tooBusy: maxEventLoopDelay takes an integer from 1/],
      ...(['maxInFlight', 'maxHeapUsed', 'maxRss'] as const).flatMap((name) =>
        [NaN, -1, 1.5, Infinity, '9'].map(
          (value) => [() => tooBusy({ [name]: value }), new RegExp(`tooBusy: ${name} takes`)] as const,
        ),
      ),
      [() => tooBusy({ retryAfter: 0 }), /tooBusy: retryAfter/],
      [() => tooBusy({ sampleInterval: 99 }), /tooBusy: sampleInterval/],
      [() => tooBusy({ maxEventLoopDelay: 1_000, sampleInterval: 100 }), /ten times sampleInterval/],
      [() => tooBusy({ ignore: 'health' as never }), /tooBusy: ignore/],
      [() => tooBusy({ maxRssBytes: 1 } as never), /did you mean "maxRss"/],
    ])
  })
})

/** Gives what the histogram of Node.js that the guard makes measures, and its mean in ms before it began anew. */
function histogramOf(t: TestContext) {
  const seen = { resolution: 0, mean: 0, count: () => 0 }
  const { monitorEventLoopDelay } = perfHooks
  t.mock.method(perfHooks, 'monitorEventLoopDelay', ({ resolution }: { resolution: number }) => {
    const delays = monitorEventLoopDelay({ resolution })
    const reset = delays.reset.bind(delays)
    delays.reset = () => {
      seen.mean = delays.mean / 1e6
      reset()
    }
    Object.assign(seen, { resolution, count: () => delays.count })
    return delays
  })
  showMock(t)
  return seen
}

/** Stands in for the histogram of Node.js until the test ends: timers come late by `ms`. */
function latenessOf(t: TestContext): { ms: number } {
  const late = { ms: 0 }
  t.mock.method(perfHooks, 'monitorEventLoopDelay', ({ resolution }: { resolution: number }) => ({
    enable() {},
    disable() {},
    reset() {},
    get mean() {
      return (resolution + late.ms) * 1e6
    },
  }))
  showMock(t)
  return late
}

/** Has modules that import it see what is mocked, until the test ends. */
function showMock(t: TestContext): void {
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}
