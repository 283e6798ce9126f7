import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App, VolantError } from 'volant'
import {
  rateLimit,
  type RateLimiter,
  type RateLimitOptions,
  type RateLimitStore,
  type Take,
} from 'volant/rate-limit'
import { redisStore } from 'volant/redis'
import { eventually, Kit, stderrLines } from './kit.ts'

const kit = new Kit()
const never = (): Promise<never> => new Promise(() => {})
const level = { allowed: true, remaining: 5, reset: 1_000, retryAfter: 0 }

/** A store that does what `answer` says, and keeps what it was asked. */
function storeOf(answer: (takes: readonly Take[]) => Promise<unknown>) {
  const store = {
    asked: [] as (readonly Take[])[],
    refunded: [] as (readonly Take[])[],
    forgotten: [] as string[],
    answer,
    take: (takes: readonly Take[]) => {
      store.asked.push(takes)
      return store.answer(takes) as Promise<(typeof level)[]>
    },
    refund: async (takes: readonly Take[]) => void store.refunded.push(takes),
    reset: async (keys: readonly string[]) => void store.forgotten.push(...keys),
  }
  return store satisfies RateLimitStore
}

function limited(
  store: RateLimitStore,
  more: Partial<RateLimitOptions> = {},
): App & { limiter: RateLimiter } {
  const app = kit.app()
  const limiter = rateLimit({ ...('policies' in more ? {} : { max: 4 }), store, groupId: 'g', ...more })
  app.use(limiter)
  app.get('/', () => 'x')
  return Object.assign(app, { limiter })
}

async function statuses(app: App, count: number): Promise<number[]> {
  const list: number[] = []
  for (let each = 0; each < count; each++) list.push((await app.inject('/')).status)
  return list
}

describe('a store of your own', () => {
  test('is asked for all policies at once, by names in one slot', async () => {
    const store = storeOf(async (takes) => takes.map(() => level))
    const quota = { algorithm: 'gcra', max: 4, window: 60_000, burst: 4, cost: 1 }
    await limited(store).inject('/')
    assert.deepEqual(store.asked.pop(), [{ ...quota, key: 'volant-rate-limit:{g:127.0.0.1}:g' }])
    await limited(store, {
      nameSpace: 'ns',
      cost: 9,
      policies: { a: { max: 4 }, b: { max: 8, timeWindow: '1 day', algorithm: 'fixed' } },
    }).inject('/')
    assert.deepEqual(store.asked.pop(), [
      { ...quota, cost: 4, key: 'ns:{g:127.0.0.1}:a' },
      { algorithm: 'fixed', max: 8, window: 86_400_000, burst: 8, cost: 8, key: 'ns:{g:127.0.0.1}:b' },
    ])
    const keyed = { a: { max: 4 }, b: { max: 4, keyGenerator: () => 'x}{y' } }
    const reply = await limited(store, { policies: keyed }).inject('/')
    assert.deepEqual(
      store.asked.pop()?.map(({ key }) => key),
      ['volant-rate-limit:{g}:a:127.0.0.1', 'volant-rate-limit:{g}:b:=x}{y'],
    )
    assert.equal(reply.headers['ratelimit'], '"a";r=5;t=1, "b";r=5;t=1')
  })

  test('gets units back, and forgets', async () => {
    const store = storeOf(async (takes) => takes.map(() => level))
    const app = limited(store, { refund: (_, { status }) => status === 200, cost: 2 })
    app.get('/reset', async (ctx) => {
      await app.limiter.reset(ctx)
      return 'x'
    })
    assert.deepEqual(await statuses(app, 1), [200])
    assert.deepEqual(store.refunded, store.asked)
    await app.inject('/reset')
    await app.limiter.reset('2001:db8::1')
    await app.limiter.reset('ada')
    assert.deepEqual(
      store.forgotten.map((key) => key.slice('volant-rate-limit:{g:'.length)),
      ['127.0.0.1}:g', '=2001:db8::1}:g', '2001:db8:0:0::/64}:g', '=ada}:g'],
    )
    // What was forgotten is not given back.
    assert.equal(store.refunded.length, 1)
  })

  test('is not asked about a key that it refused, until its time, or until that is forgotten', async () => {
    let wait = 60_000
    const store = storeOf(async (takes) =>
      takes.map(() => ({ ...level, allowed: false, remaining: 0, retryAfter: wait })),
    )
    const app = limited(store)
    assert.deepEqual(await statuses(app, 50), Array(50).fill(429))
    assert.equal(store.asked.length, 1)
    wait = 1
    await app.limiter.reset('127.0.0.1')
    await statuses(app, 1)
    const asked = store.asked.length
    await eventually(() => {
      void app.inject('/')
      return store.asked.length > asked
    }, 'the store is asked again')
  })

  test('a dearer request was refused: a cheap one is asked for', async () => {
    const store = storeOf(async (takes) =>
      takes.map(({ cost }) => (cost === 1 ? level : { ...level, allowed: false, retryAfter: 60_000 })),
    )
    const app = limited(store, { cost: (ctx) => Number(ctx.queryAll('cost')[0]) })
    const costs = [3, 4, 1, 3]
    const replies = []
    for (const cost of costs) replies.push((await app.inject(`/?cost=${cost}`)).status)
    assert.deepEqual(replies, [429, 429, 200, 429])
    assert.equal(store.asked.length, 2)
  })

  const faults: [string, () => Promise<unknown>, RegExp][] = [
    ['never answers', never, /no answer within 20 ms/],
    ['rejects', () => Promise.reject(new Error('broken')), /broken/],
    ['rejects with a text', () => Promise.reject('broken'), /'broken'/],
    [
      'throws',
      () => {
        throw new Error('thrown')
      },
      /thrown/,
    ],
    ['gives nothing', () => Promise.resolve(undefined), /take\(\) gave undefined, and not 1 levels/],
    [
      'gives levels that are none',
      () => Promise.resolve([null]),
      /take\(\) gave \[ null \], and not 1 levels/,
    ],
    [
      'gives times that are none',
      () => Promise.resolve([{ ...level, allowed: false, retryAfter: NaN }]),
      /retryAfter: NaN/,
    ],
    ['gives parts of units', () => Promise.resolve([{ ...level, remaining: 0.5 }]), /remaining: 0\.5/],
    ['gives fewer units than none', () => Promise.resolve([{ ...level, remaining: -1 }]), /remaining: -1/],
    ['gives too little', () => Promise.resolve([]), /take\(\) gave \[\], and not 1 levels/],
  ]
  for (const [what, answer, message] of faults) {
    test(`that ${what} is reported once, and onStoreError decides`, async () => {
      for (const [onStoreError, expected] of [
        ['local', [200, 200, 429]],
        ['allow', [200, 200, 200]],
        ['deny', [503, 503, 503]],
      ] as const) {
        kit.reports.length = 0
        const store = storeOf(answer)
        const app = limited(store, { onStoreError, workers: 2, storeTimeout: 20 })
        assert.deepEqual(await statuses(app, 3), expected)
        const last = await app.inject('/')
        assert.equal(last.headers['ratelimit-policy'], onStoreError === 'local' ? '"g";q=4;w=60' : undefined)
        if (onStoreError === 'deny') {
          assert.deepEqual([last.status, last.headers['retry-after']], [503, '1'])
          assert.equal((last.json() as { code: string }).code, 'E_RATE_LIMIT_STORE')
        }
        assert.equal(kit.reports.length, 1)
        assert.equal((kit.reports[0] as VolantError).code, 'E_RATE_LIMIT_STORE')
        assert.match(String(kit.reports[0]), message)
        assert.deepEqual([app.limiter.stats().storeErrors, app.limiter.stats().storeDown], [4, true])
      }
    })
  }

  test('after five failures it is left alone for a second, and one request finds out whether it answers', async (t) => {
    let now = 1_000_000
    t.mock.method(performance, 'now', () => now)
    const store = storeOf(() => Promise.reject(new Error('broken')))
    const app = limited(store, { onStoreError: 'allow' })
    await statuses(app, 20)
    assert.equal(store.asked.length, 5)
    now += 999
    await statuses(app, 20)
    assert.equal(store.asked.length, 5)
    now += 2
    let fail!: (error: Error) => void
    store.answer = () => new Promise((_, reject) => (fail = reject))
    const probing = app.inject('/')
    await eventually(() => store.asked.length === 6, 'a request asks')
    assert.deepEqual(await statuses(app, 20), Array(20).fill(200))
    assert.equal(store.asked.length, 6)
    fail(new Error('still'))
    assert.equal((await probing).status, 200)
    await statuses(app, 20)
    assert.equal(store.asked.length, 6)
    now += 1_001
    store.answer = async (takes) => takes.map(() => level)
    await statuses(app, 20)
    assert.equal(store.asked.length, 26)
    assert.equal(app.limiter.stats().storeDown, false)
  })

  test('failures that come and go are reported once, and its recovery on stderr', async (t) => {
    let now = 1_000_000
    t.mock.method(performance, 'now', () => now)
    const good = async (takes: readonly Take[]) => takes.map(() => level)
    const store = storeOf(good)
    const app = Object.assign(kit.app({ report: undefined as never }))
    app.use(rateLimit({ max: 4, store, groupId: 'g' }))
    app.get('/', () => 'x')
    const lines = await stderrLines(async () => {
      for (let each = 0; each < 20; each++) {
        store.answer = each % 2 === 0 ? () => Promise.reject(new Error('broken')) : good
        await app.inject('/')
        now += 100
      }
      now += 1_000
      await app.inject('/')
    })
    assert.equal(lines.length, 2)
    assert.match(
      lines[0] as string,
      /^volant: GET \/: VolantError: the store of the rate limit g fails \(broken\)/,
    )
    assert.equal(
      lines[1],
      'volant: rateLimit(): the store of the rate limit g answers again, and counts all requests',
    )
  })

  test('what was counted in memory meanwhile is given back in memory', async () => {
    const store = storeOf(() => Promise.reject(new Error('broken')))
    const app = limited(store, { max: 1, refund: () => true })
    assert.deepEqual(await statuses(app, 4), [200, 200, 200, 200])
    assert.equal(store.refunded.length, 0)
  })

  test('reset and refund of a store that fails reject nothing', async () => {
    const store = storeOf(async (takes) => takes.map(() => level))
    store.reset = () => Promise.reject(new Error('broken'))
    store.refund = () => Promise.reject(new Error('broken'))
    const app = limited(store, { refund: () => true })
    const lines = await stderrLines(() => app.limiter.reset('ada'))
    assert.match(lines.join('\n'), /the store of the rate limit g fails \(broken\)/)
    assert.deepEqual(await statuses(app, 2), [200, 200])
    assert.equal(app.limiter.stats().storeErrors, 3)
  })

  test('redisStore fails where a server answers a script with something else', async () => {
    const client = { eval: never, evalSha: never as () => Promise<unknown>, del: never, on: () => {} }
    const store = redisStore(client)
    const take = { key: 'k', algorithm: 'gcra', max: 1, window: 1, burst: 1, cost: 1 } as const
    for (const given of [
      null,
      'OK',
      [1],
      [1, 2, 3],
      ['x', 'y', 'z', 'q'],
      [0, -1, 0, 0],
      [1, null, 0, 0],
      [[], [], [], []],
    ]) {
      client.evalSha = async () => given
      await assert.rejects(store.take([take]), /the script of the rate limit got the reply/)
    }
    // As ioredis gives them with stringNumbers.
    client.evalSha = async () => ['1', '2', '3000', '0']
    assert.deepEqual(await store.take([take]), [{ allowed: true, remaining: 2, reset: 3, retryAfter: 0 }])
  })

  test('a store needs a groupId, and redisStore a client', () => {
    const store = storeOf(never)
    assert.throws(() => rateLimit({ max: 1, store }), /a store needs groupId/)
    assert.throws(() => rateLimit({ max: 1, store, groupId: 'g', storeTimeout: 0 }), /storeTimeout takes ms/)
    assert.throws(() => rateLimit({ max: 1, store, groupId: 'g', workers: 0 }), /workers takes a number/)
    for (const client of [undefined, null, {}, 'redis://localhost', { evalSha() {} }]) {
      assert.throws(() => redisStore(client as never), /redisStore takes a client of redis/)
    }
  })
})
