import assert from 'node:assert/strict'
import { testClock } from '@volant/test-kit'
import { describe, test } from 'node:test'
import { metrics, type MetricsSnapshot, type VolantError } from 'volant'
import { eventually, type Kit, type Live } from '../kit.ts'
import { type Family, parseExposition } from '../prometheus.ts'

/** When this process began; a clock that is held has no such time. */
const { timeOrigin } = performance

export function metricsCases(kit: Kit): void {
  describe('metrics', () => {
    test('durations by pattern, method and class of status', async () => {
      const app = kit.app()
      const meter = metrics()
      app.use(meter)
      app.get('/metrics', meter.handler)
      app.get('/users/:id', (ctx) => ({ id: ctx.params.id }))
      app.post('/users/:id', (ctx) => ctx.reply(303))
      app.get('/broken', () => {
        throw new Error('on purpose')
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/users/1', '/users/2', '/users/3', '/broken', '/nowhere', '/else'])
          await live.ask(path)
        await live.ask('/users/1', { method: 'POST' })
        await live.ask('/users/1', { method: 'DELETE' })
        const families = await scrape(live, 9)
        const series = countsOf(families.get('http_request_duration_seconds'))
        assert.deepEqual(series, {
          'GET /users/:id 2xx': 3,
          'POST /users/:id 3xx': 1,
          'GET /broken 5xx': 1,
          'GET unmatched 4xx': 2,
          'DELETE unmatched 4xx': 1,
          'GET /metrics 2xx': 1,
        })
      })
    })

    test('the text is what the format asks for, with its content type', async (t) => {
      const clock = testClock(t)
      const app = kit.app()
      const meter = metrics({ buckets: [0.01, 600] })
      app.use(meter)
      app.get('/metrics', meter.handler)
      app.get('/slow', async () => {
        // Past the first bucket.
        await clock.advance(20)
        return 'slow'
      })
      app.get('/caf%C3%A9/:name.svg', () => 'odd')
      await kit.serve(app, async (live) => {
        await live.ask('/slow')
        await live.ask('/caf%C3%A9/x.svg')
        await eventually(() => app.stats().connections === 0, 'both connections have ended')
        const reply = await live.ask('/metrics')
        assert.equal(reply.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
        assert.equal(reply.headers['cache-control'], 'no-store')
        const families = parseExposition(reply.text)
        for (const [name, type] of [
          ['http_request_duration_seconds', 'histogram'],
          ['http_connections', 'gauge'],
          ['http_requests_in_flight', 'gauge'],
          ['http_requests_total', 'counter'],
          ['process_cpu_seconds_total', 'counter'],
          ['process_resident_memory_bytes', 'gauge'],
          ['nodejs_eventloop_lag_p99_seconds', 'gauge'],
        ] as const) {
          assert.equal(families.get(name)?.type, type, name)
        }
        const value = (name: string): number => families.get(name)?.samples[0]?.value ?? NaN
        assert.ok(value('process_resident_memory_bytes') > 1e6)
        assert.ok(value('process_cpu_seconds_total') > 0)
        assert.ok(Math.abs(value('process_start_time_seconds') - timeOrigin / 1e3) < 5)
        assert.equal(value('http_requests_total'), 3)
        assert.equal(value('http_connections'), 1)
        assert.equal(value('http_requests_in_flight'), 1)
        const slow = families
          .get('http_request_duration_seconds')
          ?.samples.filter(({ labels }) => labels.route === '/slow')
          .map(({ name, labels, value }) => [
            name.slice(29),
            labels.le,
            name.endsWith('_sum') ? value > 0.01 : value,
          ])
        assert.deepEqual(slow, [
          ['_bucket', '0.01', 0],
          ['_bucket', '600', 1],
          ['_bucket', '+Inf', 1],
          ['_sum', undefined, true],
          ['_count', undefined, 1],
        ])
      })
    })

    test('the snapshot has the same as data', async () => {
      const app = kit.app()
      const meter = metrics()
      app.use(meter)
      app.get('/metrics.json', meter.snapshot)
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        for (let count = 0; count < 20; count++) await live.ask('/x')
        const figures = await snapshot(live, 20)
        assert.equal(figures.server.requests, figures.requests + 1)
        assert.ok(figures.recent.rate > 0)
        assert.equal(figures.recent.requests, figures.requests)
        const { p50, p95, p99 } = figures.latency as { p50: number; p95: number; p99: number }
        assert.ok(0 < p50 && p50 <= p95 && p95 <= p99, `${p50} ${p95} ${p99}`)
        assert.ok(figures.memory.rss > 1e6 && figures.cpu.user > 0 && figures.eventLoopLag.max >= 0)
        const row = figures.routes.find(({ route }) => route === '/x')
        assert.deepEqual([row?.method, row?.status, row?.count], ['GET', '2xx', 20])
        assert.equal(row?.buckets.length, 17)
        assert.equal(
          row?.buckets.reduce((sum, each) => sum + each, 0),
          20,
        )
      })
    })

    test('a stream of events is counted, and how long it was open is no latency', async () => {
      const app = kit.app()
      const meter = metrics()
      app.use(meter)
      app.get('/events', (ctx) => ctx.sse(['one']))
      app.get('/figures', (ctx) => meter.figures(ctx))
      await kit.serve(app, async (live) => {
        await live.ask('/events')
        const { requests, latency, routes } = (await live.ask('/figures')).json() as MetricsSnapshot
        assert.deepEqual([requests, latency.p99], [1, null])
        assert.deepEqual(
          routes.map(({ route, count }) => [route, count]),
          [['/events', 1]],
        )
      })
    })

    test('made-up paths and methods make no series of their own', async () => {
      const app = kit.app()
      const meter = metrics()
      app.use(meter)
      app.get('/metrics.json', meter.snapshot)
      await kit.serve(app, async (live) => {
        for (let count = 0; count < 50; count++) await live.ask(`/made/up/${count}`)
        for (const method of ['BREW', 'get', 'PROPFIND']) await live.ask('/x', { method })
        const { routes } = await snapshot(live, 50)
        assert.deepEqual(
          routes.filter(({ route }) => route !== '/metrics.json').map(({ route, method }) => [route, method]),
          [['unmatched', 'GET']],
        )
      })
    })

    test('in a group it observes the group alone; on a mounted app, that app', async () => {
      const app = kit.app()
      const inside = metrics()
      const mounted = metrics()
      app.get('/outside', () => 1)
      app.group('/inside', (group) => {
        group.use(inside)
        group.get('/a', () => 1)
        group.get('/metrics.json', inside.snapshot)
      })
      const other = kit.app()
      other.use(mounted)
      other.get('/b', () => 1)
      other.get('/metrics.json', mounted.snapshot)
      app.mount('/mounted', other)
      await kit.serve(app, async (live) => {
        for (const path of ['/outside', '/inside/a', '/mounted/b', '/inside/none']) await live.ask(path)
        const first = await snapshot(live, 2, '/inside/metrics.json')
        assert.deepEqual(routesOf(first), ['/inside/a', 'unmatched'])
        const second = await snapshot(live, 1, '/mounted/metrics.json')
        assert.deepEqual(routesOf(second), ['/mounted/b'])
        assert.equal(second.server.requests, live.app.stats().requests)
      })
    })

    test('what is there before the app listens', async () => {
      const app = kit.app()
      const meter = metrics()
      app.use(meter)
      app.get('/metrics', meter.handler)
      const families = parseExposition((await app.inject('/metrics')).body.toString())
      assert.equal(families.get('http_requests_total')?.samples[0]?.value, 0)
      app.get('/x', () => 1)
      await app.inject('/x')
      const series = countsOf(
        parseExposition((await app.inject('/metrics')).body.toString()).get('http_request_duration_seconds'),
      )
      assert.deepEqual(series, { 'GET /metrics 2xx': 1, 'GET /x 2xx': 1 })
    })

    for (const buckets of [[], [1, 1], [2, 1], [0], [-1], [NaN], [1, Infinity], ['1'], 5, null]) {
      test(`buckets ${JSON.stringify(buckets)} are refused`, () => {
        assert.throws(
          () => metrics({ buckets: buckets as number[] }),
          (error: VolantError) =>
            error.code === 'E_BAD_OPTION' && error.message.startsWith('metrics.buckets'),
        )
      })
    }
  })
}

/** Asks until `requests` are through: a reply can be read a moment before its request is counted. */
async function snapshot(live: Live, requests: number, path = '/metrics.json'): Promise<MetricsSnapshot> {
  let figures: MetricsSnapshot | null = null
  for (let tries = 0; tries < 100; tries++) {
    figures = JSON.parse((await live.ask(path)).text) as MetricsSnapshot
    if (figures.routes.reduce((sum, { route, count }) => sum + (route === path ? 0 : count), 0) >= requests)
      break
  }
  return figures as MetricsSnapshot
}

async function scrape(live: Live, requests: number): Promise<Map<string, Family>> {
  await eventually(() => live.app.stats().requests >= requests - 1, 'all requests were counted')
  await live.ask('/metrics')
  return parseExposition((await live.ask('/metrics')).text)
}

function routesOf({ routes }: MetricsSnapshot): string[] {
  return routes.map(({ route }) => route).filter((route) => !route.endsWith('.json'))
}

function countsOf(family: Family | undefined): Record<string, number> {
  const counts = family?.samples.filter(({ name }) => name.endsWith('_count')) ?? []
  return Object.fromEntries(
    counts.map(({ labels, value }) => [`${labels.method} ${labels.route} ${labels.status}`, value]),
  )
}
