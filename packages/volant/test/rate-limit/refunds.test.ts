import assert from 'node:assert/strict'
import { beforeEach, describe, test, type TestContext } from 'node:test'
import { testClock } from '@volant/test-kit'
import { rateLimit, type RateLimitOptions } from 'volant/rate-limit'
import { eventually } from '../kit.ts'
import { kit, limited, statuses } from './kit.ts'

describe('rateLimit', () => {
  // No unit comes back in the midst of a case.
  beforeEach((t) => void testClock(t as TestContext))

  test('refund counts failures alone, and reset forgets', async () => {
    const app = kit.app()
    const limiter = rateLimit({ max: 2, refund: (_, { status }) => status < 400 })
    app.post('/sign-in', limiter, async (ctx) => {
      if (ctx.bodyText === 'right') return 'welcome'
      if (ctx.bodyText === 'reset') await limiter.reset(ctx)
      return ctx.text('no', 401)
    })
    const attempt = async (body: string) =>
      (await app.inject({ method: 'POST', url: '/sign-in', body })).status
    for (let each = 0; each < 5; each++) assert.equal(await attempt('right'), 200)
    assert.equal(await attempt('wrong'), 401)
    assert.equal(await attempt('reset'), 401)
    assert.equal(await attempt('wrong'), 401)
    assert.equal(await attempt('wrong'), 401)
    assert.equal(await attempt('right'), 429)
    await limiter.reset('127.0.0.1')
    assert.equal(await attempt('right'), 200)
    // Attempts that are under way at once count until they are answered.
    assert.deepEqual(
      (await Promise.all(['wrong', 'wrong', 'right', 'right'].map(attempt))).toSorted(),
      [401, 401, 429, 429],
    )
  })

  test('hooks that are async, and those that fail', async () => {
    const broken = async () => Promise.reject(new Error('broken'))
    const app = limited({ max: 2, refund: async () => true })
    assert.deepEqual(await statuses(app, 4), [200, 200, 200, 200])
    for (const fault of [
      broken,
      () => {
        throw new Error('broken')
      },
    ]) {
      for (const more of [{ refund: fault }, { onExceeded: fault }]) {
        kit.reports.length = 0
        const list = await statuses(limited({ max: 2, ...(more as Partial<RateLimitOptions>) }), 3)
        assert.deepEqual(list, [200, 200, 429])
        await eventually(() => kit.reports.length > 0, 'the error is reported')
        assert.match(String(kit.reports[0]), /broken/)
      }
    }
  })

  test('refund, by every algorithm', async () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      const app = limited({ max: 2, algorithm, refund: () => true })
      assert.deepEqual(await statuses(app, 4), [200, 200, 200, 200], algorithm)
    }
  })

  test('a request that passes a limiter twice gets all of it back', async () => {
    const app = kit.app()
    const limiter = rateLimit({ max: 2, refund: () => true })
    app.use(limiter)
    app.get('/', limiter, () => 'x')
    assert.deepEqual(await statuses(app, 4), [200, 200, 200, 200])
  })
})
