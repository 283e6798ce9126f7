import assert from 'node:assert/strict'
import { beforeEach, describe, test, type TestContext } from 'node:test'
import { type TestClock, testClock } from '@volant/test-kit'
import { rateLimit } from 'volant/rate-limit'
import { kit, limited, statuses, fields, byName } from './kit.ts'

describe('rateLimit', () => {
  /** Time stands still where a case does not let it pass. */
  let clock: TestClock
  beforeEach((t) => {
    clock = testClock(t as TestContext)
  })

  test('so many requests pass, and the next ones are 429 with fields that agree', async () => {
    const app = limited({ max: 3 })
    for (const [left, seconds] of [
      [2, 20],
      [1, 40],
      [0, 20],
    ]) {
      const reply = await app.inject('/')
      assert.equal(reply.status, 200)
      assert.deepEqual(fields(reply.headers), ['"default";q=3;w=60', `"default";r=${left};t=${seconds}`])
      assert.equal(reply.headers['retry-after'], undefined)
    }
    for (let again = 0; again < 3; again++) {
      const reply = await app.inject('/')
      assert.equal(reply.status, 429)
      assert.deepEqual(fields(reply.headers), ['"default";q=3;w=60', '"default";r=0;t=20'])
      assert.equal(reply.headers['retry-after'], '20')
      assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
      const problem = reply.json() as Record<string, unknown>
      assert.deepEqual([problem['status'], problem['code']], [429, 'E_RATE_LIMITED'])
    }
    const { allowed, refused, keys, evicted } = app.limiter.stats()
    assert.deepEqual([allowed, refused, keys, evicted], [3, 3, 1, 0])
  })

  test('units come back with time, by every algorithm', async () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      const app = limited({ max: 2, timeWindow: 40, algorithm })
      let passed = 0
      for (let ms = 0; ms < 400; ms++) {
        const reply = await app.inject('/')
        if (reply.status === 200) passed++
        else assert.equal(reply.headers['retry-after'], '1', algorithm)
        await clock.advance(1)
      }
      // A sliding window gives about one unit less than max to one who asks all the time.
      assert.equal(passed, { gcra: 21, fixed: 20, sliding: 11 }[algorithm])
    }
  })

  test('burst: fewer units at once than in a window', async () => {
    const app = limited({ max: 60, burst: 2 })
    assert.deepEqual(await statuses(app, 3), [200, 200, 429])
    const reply = await app.inject('/')
    assert.deepEqual(fields(reply.headers), ['"default";q=60;w=60', '"default";r=0;t=1'])
  })

  test('several policies: all are checked, and none is charged if one refuses', async () => {
    const app = limited({
      policies: {
        name: { max: 2, keyGenerator: byName },
        all: { max: 3, timeWindow: '1 hour', keyGenerator: () => 'all' },
      },
    })
    const first = await app.inject({ url: '/', headers: { 'x-name': 'ada' } })
    assert.deepEqual(fields(first.headers), [
      '"name";q=2;w=60, "all";q=3;w=3600',
      '"name";r=1;t=30, "all";r=2;t=1200',
    ])
    assert.deepEqual(await statuses(app, 3, { 'x-name': 'ada' }), [200, 429, 429])
    // The refused ones took nothing of the third unit.
    assert.deepEqual(await statuses(app, 1, { 'x-name': 'ida' }), [200])
    const refused = await app.inject({ url: '/', headers: { 'x-name': 'ida' } })
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['ratelimit'], '"name";r=1;t=30, "all";r=0;t=1200')
    assert.equal(refused.headers['retry-after'], '1200')
  })

  test('one limiter counts its routes together, and another by itself', async () => {
    const app = kit.app()
    const shared = rateLimit({ max: 2 })
    app.get('/a', shared, () => 'a')
    app.get('/b', shared, () => 'b')
    app.get('/c', rateLimit({ max: 1 }), () => 'c')
    assert.deepEqual(await statuses(app, 1, {}, '/a'), [200])
    assert.deepEqual(await statuses(app, 2, {}, '/b'), [200, 429])
    assert.deepEqual(await statuses(app, 2, {}, '/c'), [200, 429])
    assert.deepEqual(await statuses(app, 1, {}, '/a'), [429])
  })

  test('limits of one groupId count together in an app, not among apps', async () => {
    const build = () => {
      const app = kit.app()
      for (const path of ['/a', '/b']) app.get(path, rateLimit({ max: 2, groupId: 'g' }), () => path)
      app.get('/other', rateLimit({ max: 3, groupId: 'g' }), () => 'x')
      return app
    }
    for (const app of [build(), build()]) {
      assert.deepEqual(await statuses(app, 1, {}, '/a'), [200])
      assert.deepEqual(await statuses(app, 2, {}, '/b'), [200, 429])
      assert.deepEqual(await statuses(app, 1, {}, '/other'), [500])
      assert.match(String(kit.reports.at(-1)), /two limits have the groupId "g" and other numbers/)
    }
  })

  test('cost, also by request', async () => {
    const app = limited({ max: 5, cost: 2 })
    assert.deepEqual(await statuses(app, 3), [200, 200, 429])
    const priced = limited({ max: 5, cost: async (ctx) => Number(ctx.headers['x-cost'] ?? 1) })
    assert.deepEqual(await statuses(priced, 2, { 'x-cost': '3' }), [200, 429])
    assert.deepEqual(await statuses(priced, 3), [200, 200, 429])
    assert.deepEqual(await statuses(priced, 1, { 'x-cost': '0' }), [200])
    assert.deepEqual(await statuses(priced, 1, { 'x-cost': '0.5' }), [500])
    // What can never be there takes all there is.
    const much = limited({ max: 5, cost: () => 1_000 })
    assert.deepEqual(await statuses(much, 2), [200, 429])
  })

  test('misses are limited as well', async () => {
    const app = limited({ max: 1 })
    assert.deepEqual(await statuses(app, 2, {}, '/none'), [404, 429])
  })
})
