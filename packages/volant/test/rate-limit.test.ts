import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import {
  type App,
  type AppOptions,
  before,
  type Context,
  cors,
  openapiOf,
  type OpenAPIResponse,
  type VolantError,
} from 'volant'
import { createClient } from 'volant/client'
import { contract } from 'volant/contract'
import { procedure } from 'volant/procedures'
import { type RateLimiter, rateLimit, type RateLimitOptions } from 'volant/rate-limit'
import { z } from 'zod'
import { eventually, Kit, stderrLines } from './kit.ts'

const kit = new Kit()

/** Time stands still where a case does not let it pass. */
let now = 5_000_000
mock.method(performance, 'now', () => now)

function limited(options: RateLimitOptions, more: AppOptions = {}): App & { limiter: RateLimiter } {
  const app = kit.app(more)
  const limiter = rateLimit(options)
  app.use(limiter)
  app.get('/', () => 'x')
  return Object.assign(app, { limiter })
}

/** Gives the statuses of so many requests. */
async function statuses(app: App, count: number, headers: Record<string, string> = {}, url = '/') {
  const list: number[] = []
  for (let each = 0; each < count; each++) list.push((await app.inject({ url, headers })).status)
  return list
}

const fields = (headers: Record<string, unknown>) => [headers['ratelimit-policy'], headers['ratelimit']]
const byName = (ctx: Context) => ctx.headers['x-name']

describe('rateLimit', () => {
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
      for (let ms = 0; ms < 400; ms++, now++) {
        const reply = await app.inject('/')
        if (reply.status === 200) passed++
        else assert.equal(reply.headers['retry-after'], '1', algorithm)
      }
      // A sliding window gives about one unit less than max to one who asks all the time.
      assert.equal(passed, { gcra: 21, fixed: 20, sliding: 11 }[algorithm])
    }
  })

  test('legacy fields, and none', async () => {
    const legacy = await limited({ max: 2, headers: 'legacy', algorithm: 'fixed' }).inject('/')
    assert.deepEqual(
      ['limit', 'remaining', 'reset'].map((name) => legacy.headers[`x-ratelimit-${name}`]),
      ['2', '1', '60'],
    )
    assert.equal(legacy.headers['ratelimit'], undefined)
    const app = limited({ max: 1, headers: false })
    const [first, second] = [await app.inject('/'), await app.inject('/')]
    assert.deepEqual(fields(first.headers), [undefined, undefined])
    assert.deepEqual([second.status, second.headers['retry-after']], [429, '60'])
  })

  test('burst: fewer units at once than in a window', async () => {
    const app = limited({ max: 60, burst: 2 })
    assert.deepEqual(await statuses(app, 3), [200, 200, 429])
    const reply = await app.inject('/')
    assert.deepEqual(fields(reply.headers), ['"default";q=60;w=60', '"default";r=0;t=1'])
  })

  test('keys: a text or number of the app, the address where it gives none', async () => {
    for (const later of [false, true]) {
      const app = limited({
        max: 1,
        keyGenerator: (ctx) => (later ? Promise.resolve(byName(ctx)) : byName(ctx)),
      })
      assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
      assert.deepEqual(await statuses(app, 2, { 'x-name': 'ida' }), [200, 429])
      assert.deepEqual(await statuses(app, 2), [200, 429])
      // It is no way to take the units of an address.
      assert.deepEqual(await statuses(app, 2, { 'x-name': '127.0.0.1' }), [200, 429])
      const long = 'x'.repeat(4_000)
      assert.deepEqual(await statuses(app, 2, { 'x-name': `${long}a` }), [200, 429])
      assert.deepEqual(await statuses(app, 2, { 'x-name': `${long}b` }), [200, 429])
    }
  })

  test('a key that is no text is a mistake of the app', async () => {
    const app = limited({ max: 1, keyGenerator: () => ({}) as string })
    assert.equal((await app.inject('/')).status, 500)
    assert.match(String(kit.reports.at(-1)), /keyGenerator gave .* for GET \//)
  })

  test('what an earlier middleware found out may be the key', async () => {
    const app = kit.app()
    const scope = app.with(
      before<{ user: string }>((ctx) => void (ctx.state.user = ctx.headers['x-name'] ?? '')),
    )
    scope.use(rateLimit({ max: 1, keyGenerator: (ctx) => ctx.state.user }))
    scope.get('/', (ctx) => ctx.state.user)
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ida' }), [200, 429])
  })

  test('X-Forwarded-For changes nothing, unless the peer is a trusted proxy', async () => {
    const app = limited({ max: 1 })
    const lines = await stderrLines(async () => {
      assert.deepEqual(await statuses(app, 1, { 'x-forwarded-for': '192.0.2.1' }), [200])
      assert.deepEqual(await statuses(app, 2, { 'x-forwarded-for': '192.0.2.2' }), [429, 429])
    })
    assert.equal(lines.length, 1)
    assert.match(lines[0] as string, /^volant: rateLimit\(\) refused .* trustProxy/)
    const trusting = limited({ max: 1 }, { trustProxy: true })
    const from = (address: string) => statuses(trusting, 1, { 'x-forwarded-for': address })
    assert.deepEqual(await from('192.0.2.1'), [200])
    assert.deepEqual(await from('192.0.2.2'), [200])
    assert.deepEqual(await from('192.0.2.1'), [429])
    assert.deepEqual(await from('::ffff:192.0.2.1'), [429])
    assert.deepEqual(await from('::ffff:c000:201'), [429])
    assert.deepEqual(await from('2001:db8::1'), [200])
    assert.deepEqual(await from('2001:db8::ffff:2'), [429])
    assert.deepEqual(await from('2001:db8:0:1::1'), [200])
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

  test('limits of app and route stand in one list of fields', async () => {
    for (const headers of ['draft', false] as const) {
      const app = kit.app()
      app.use(rateLimit({ max: 10, headers: 'draft' }))
      app.get('/', rateLimit({ max: 5, groupId: 'search', headers }), (ctx) =>
        ctx.header('x-a', '1').text('x'),
      )
      const reply = await app.inject('/')
      const expected = headers === 'draft' ? ', "search";r=4;t=12' : ''
      assert.equal(reply.headers['ratelimit'], `"default";r=9;t=6${expected}`)
      assert.equal(reply.headers['x-a'], '1')
    }
  })

  test('a hook can take the fields away, and a handler replaces them', async () => {
    const app = kit.app()
    app.onSend((_, reply) => {
      assert.equal(reply.headers.get('ratelimit-policy'), '"default";q=10;w=60')
      reply.headers.delete('RateLimit-Policy')
    })
    app.use(rateLimit({ max: 10 }))
    app.get('/', (ctx) => ctx.header('RateLimit', 'own').text('x'))
    const reply = await app.inject('/')
    assert.deepEqual(fields(reply.headers), [undefined, 'own'])
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

  test('reset by a key of the app', async () => {
    const app = limited({ max: 1, keyGenerator: byName })
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
    await app.limiter.reset('ada')
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
    for (const given of [5, null, {}]) {
      await assert.rejects(app.limiter.reset(given as never), /a context, an address or a key/)
    }
  })

  test('allowList: addresses, ranges, keys or a function', async () => {
    const isAlice = (_: Context, key: string) => key === '=alice'
    for (const allowList of [['127.0.0.1'], ['10.0.0.0/8', 'loopback'], () => true, async () => true]) {
      const app = limited({ max: 1, allowList })
      assert.deepEqual(await statuses(app, 3), [200, 200, 200])
      assert.deepEqual(fields((await app.inject('/')).headers), [undefined, undefined])
    }
    for (const allowList of [['alice'], isAlice]) {
      const app = limited({ max: 1, keyGenerator: byName, allowList })
      assert.deepEqual(await statuses(app, 3, { 'x-name': 'alice' }), [200, 200, 200])
      assert.deepEqual(await statuses(app, 2, { 'x-name': 'bob' }), [200, 429])
    }
  })

  test('allowList: the keys of all policies', async () => {
    const app = limited({
      policies: { address: { max: 1 }, name: { max: 1, keyGenerator: byName } },
      allowList: ['alice'],
    })
    assert.deepEqual(await statuses(app, 3, { 'x-name': 'alice' }), [200, 200, 200])
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'bob' }), [200, 429])
  })

  test('onExceeded hears of it, onError answers it', async () => {
    const heard: string[] = []
    const app = limited({
      max: 1,
      keyGenerator: byName,
      onExceeded: (ctx, key) => heard.push(ctx.path + key),
    })
    app.onError((error) => ({ sorry: (error as { code?: string }).code }))
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'a' }), [200, 429])
    const reply = await app.inject({ url: '/', headers: { 'x-name': 'a' } })
    assert.deepEqual(reply.json(), { sorry: 'E_RATE_LIMITED' })
    assert.deepEqual([reply.status, reply.headers['retry-after']], [429, '60'])
    assert.deepEqual(heard, ['/=a', '/=a'])
  })

  test('misses are limited as well', async () => {
    const app = limited({ max: 1 })
    assert.deepEqual(await statuses(app, 2, {}, '/none'), [404, 429])
  })

  test('a route with beforeBody is refused without its body', async () => {
    const app = kit.app()
    app.use(rateLimit({ max: 1 }))
    app.post('/', { beforeBody: () => {} }, (ctx) => ctx.bodyText)
    let read = false
    const body = () =>
      new ReadableStream(
        {
          pull(controller) {
            read = true
            controller.enqueue(new TextEncoder().encode('sent'))
            controller.close()
          },
        },
        { highWaterMark: 0 },
      )
    assert.equal((await app.inject({ method: 'POST', url: '/', body: body() })).text(), 'sent')
    read = false
    assert.equal((await app.inject({ method: 'POST', url: '/', body: body() })).status, 429)
    assert.equal(read, false)
  })

  test('pages of other origins can read a 429 and its fields, whichever came first', async () => {
    const headers = { origin: 'https://app.example' }
    const all = 'RateLimit-Policy, RateLimit, Retry-After'
    const layers = [() => rateLimit({ max: 2 }), () => cors({ origin: ['https://app.example'] })]
    for (const order of [layers, layers.toReversed()]) {
      const app = kit.app()
      for (const make of order) app.use(make())
      app.get('/', () => 'x')
      for (const status of [200, 200, 429]) {
        const preflight = { ...headers, 'access-control-request-method': 'PUT' }
        assert.equal((await app.inject({ method: 'OPTIONS', url: '/', headers: preflight })).status, 204)
        const reply = await app.inject({ url: '/', headers })
        assert.equal(reply.status, status)
        assert.equal(reply.headers['access-control-allow-origin'], 'https://app.example')
        assert.equal(reply.headers['access-control-expose-headers'], all)
      }
    }
    const app = kit.app()
    app.use(cors({ exposedHeaders: ['x-total'] }))
    app.get('/', rateLimit({ max: 1, headers: false }), () => 'x')
    app.get('/free', () => 'x')
    const exposed = async (url: string) => (await app.inject(url)).headers['access-control-expose-headers']
    assert.equal(await exposed('/'), 'x-total, Retry-After')
    assert.equal(await exposed('/free'), 'x-total')
  })

  test('the API document has the 429 with its fields', () => {
    const app = kit.app()
    app.get('/', rateLimit({ max: 1 }), () => 'x')
    const { paths } = openapiOf(app, { info: { title: 'T', version: '1' } })
    const reply = paths['/']?.get?.responses['429'] as OpenAPIResponse
    assert.deepEqual(Object.keys(reply.headers ?? {}), ['RateLimit-Policy', 'RateLimit', 'Retry-After'])
    assert.match(JSON.stringify(reply.content), /E_RATE_LIMITED/)
  })
})

test('a contract that declares the refusal gives it to its clients, and the document its fields', async () => {
  const api = {
    score: contract.post('/score', { response: z.literal('x'), errors: { E_RATE_LIMITED: { status: 429 } } }),
  }
  const app = kit.app()
  app.with(rateLimit({ max: 1 })).implement(api.score, () => 'x' as const)
  const client = createClient(api, 'http://volant.test', { fetch: app.fetch })
  assert.equal((await client.score()).status, 200)
  const refused = await client.score()
  assert.ok(!refused.ok)
  const code: 'E_RATE_LIMITED' = refused.code
  assert.deepEqual([refused.status, code], [429, 'E_RATE_LIMITED'])
  assert.equal(refused.response.headers.get('retry-after'), '60')
  const { paths } = openapiOf(app, { info: { title: 'T', version: '1' } })
  const reply = paths['/score']?.['post']?.responses['429'] as OpenAPIResponse
  assert.match(reply.description, /than a limit allows/)
  assert.ok(reply.headers?.['Retry-After'])
})

describe('the options of rateLimit', () => {
  const rows: [unknown, RegExp][] = [
    [undefined, /rateLimit takes an object of options/],
    [{}, /rateLimit: max takes an integer from 1/],
    [{ max: 0 }, /max takes an integer from 1 to/],
    [{ max: '5' }, /max takes an integer from 1 to/],
    [{ max: Infinity }, /max takes/],
    [{ max: 2_000, timeWindow: 1 }, /max takes at most 1000 for a timeWindow of 1 ms/],
    [{ max: 1, timeWindow: 0 }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: 1.5 }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: 'soon' }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: '2 moons' }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: '40 days' }, /timeWindow takes milliseconds/],
    [{ max: 1, algorithm: 'leaky' }, /algorithm takes gcra, fixed, sliding/],
    [{ max: 1, algorithm: 'fixed', burst: 2 }, /burst is for the algorithm 'gcra'/],
    [{ max: 1, burst: 0 }, /burst takes an integer/],
    [{ max: 1, keyGenerator: 'ip' }, /keyGenerator takes a function/],
    [{ max: 1, cost: 0 }, /cost takes an integer from 1/],
    [{ max: 1, cost: '1' }, /cost takes an integer from 1/],
    [{ max: 1, refund: true }, /refund takes a function/],
    [{ max: 1, allowList: '127.0.0.1' }, /allowList takes a list/],
    [{ max: 1, allowList: [1] }, /allowList takes a list/],
    [{ max: 1, onExceeded: 'x' }, /onExceeded takes a function/],
    [{ max: 1, headers: true }, /headers takes draft, legacy, false/],
    [{ max: 1, cache: 1 }, /cache takes a number of keys/],
    [{ max: 1, store: {} }, /store takes an object with take, refund and reset/],
    [{ max: 1, onStoreError: 'allow' }, /onStoreError is for a store, and there is none/],
    [{ max: 1, workers: 2 }, /workers is for a store/],
    [{ max: 1, nameSpace: 'x' }, /nameSpace is for a store/],
    [{ max: 1, groupId: '' }, /groupId takes 1 to 64 letters/],
    [{ max: 1, groupId: 'a"b' }, /groupId takes 1 to 64 letters/],
    [{ max: 1, policies: { a: { max: 1 } } }, /max and policies are both given/],
    [{ policies: {} }, /policies takes an object of policies by name/],
    [{ policies: [{ max: 1 }] }, /policies takes an object of policies by name/],
    [{ policies: { a: { max: 0 } } }, /policies\.a: max takes/],
    [{ policies: { a: { max: 1, cost: 1 } } }, /policies\.a has no option "cost"/],
    [{ policies: { 'a b': { max: 1 } } }, /the name of a policy takes/],
    [{ max: 1, windowMs: 5 }, /no option "windowMs"; did you mean "timeWindow"/],
    [{ max: 1, skipOnError: true }, /write onStoreError: 'allow'/],
    [{ max: 1, timeWindows: 5 }, /no option "timeWindows"; did you mean "timeWindow"/],
  ]
  for (const [options, message] of rows) {
    test(JSON.stringify(options) ?? 'undefined', () => {
      assert.throws(
        () => rateLimit(options as RateLimitOptions),
        (error: VolantError) => {
          assert.equal(error.code, 'E_BAD_OPTION')
          assert.match(error.message, message)
          return true
        },
      )
    })
  }

  test('times as text', async () => {
    for (const [text, seconds] of [
      ['1 second', 1],
      ['30s', 30],
      ['2 minutes', 120],
      ['1 min', 60],
      ['3 Hours', 10_800],
      ['1 day', 86_400],
      ['1500 ms', 2],
    ] as const) {
      const reply = await limited({ max: 1, timeWindow: text }).inject('/')
      assert.equal(reply.headers['ratelimit-policy'], `"default";q=1;w=${seconds}`)
    }
  })

  test('a limit that is given as beforeBody is refused, with what to write', () => {
    for (const beforeBody of [rateLimit({ max: 1 }), (_: Context, next: () => void) => next()]) {
      assert.throws(
        () => kit.app().post('/x', { beforeBody: beforeBody as never }, () => 'x'),
        /beforeBody takes a function \(ctx\), not a middleware: those of scopes run before it/,
      )
    }
  })

  test('a limit of a procedure is refused', () => {
    assert.throws(
      () => procedure().use(rateLimit({ max: 1 })),
      /or a rate limit, belongs to an app or a scope/,
    )
  })

  test('a limiter that is passed without being called is named', () => {
    assert.throws(() => kit.app().use(rateLimit as never), /write app\.use\(rateLimit\(\{ max: 100 \}\)\)/)
  })
})
