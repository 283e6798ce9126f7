import assert from 'node:assert/strict'
import { beforeEach, describe, test, type TestContext } from 'node:test'
import { testClock } from '@volant/test-kit'
import { cors, openapiOf, type OpenAPIResponse } from 'volant'
import { createClient } from 'volant/client'
import { contract } from 'volant/contract'
import { rateLimit } from 'volant/rate-limit'
import { z } from 'zod'
import { kit, limited, statuses, fields, byName } from './kit.ts'

describe('rateLimit', () => {
  // No unit comes back in the midst of a case.
  beforeEach((t) => void testClock(t as TestContext))

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
