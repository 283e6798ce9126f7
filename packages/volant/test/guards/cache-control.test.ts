/** What `cacheControl()` says of replies, and of which. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { etag, HTTPError } from 'volant'
import { cacheControl, type CacheControlOptions } from 'volant/middleware'
import { Kit } from '../kit.ts'
import { refuses } from './kit.ts'

const kit = new Kit()

describe('cacheControl', () => {
  const serving = (options: CacheControlOptions, run: Parameters<Kit['serve']>[1]) => {
    const app = kit.app()
    app.use(etag())
    app.use(cacheControl(options))
    app.get('/x', () => 'x')
    app.post('/x', () => 'x')
    app.get('/own', (ctx) => ctx.header('Cache-Control', 'no-cache').text('x'))
    app.get('/expires', (ctx) => ctx.header('expires', 'Thu, 01 Jan 1970 00:00:00 GMT').text('x'))
    app.get('/cookie', (ctx) => ctx.cookie('a', 'b').text('x'))
    app.get('/stream', (ctx) => ctx.stream(['a', 'b']))
    app.get('/inner', cacheControl({ noStore: true }), () => 'x')
    app.get('/status/:code', (ctx) => ctx.text('x', Number(ctx.params.code)))
    app.get('/thrown', () => {
      throw new HTTPError(404)
    })
    app.get('/redirect/:code', (ctx) => ctx.redirect('/x', Number(ctx.params.code) as 308))
    return kit.serve(app, run)
  }

  test('every directive, in one order', async () => {
    const rows: [CacheControlOptions, string][] = [
      [{ maxAge: 0 }, 'max-age=0'],
      [{ maxAge: 31_536_000, immutable: true, public: true }, 'public, max-age=31536000, immutable'],
      [
        { sMaxAge: 60, maxAge: 5, staleWhileRevalidate: 30, staleIfError: 600 },
        'max-age=5, s-maxage=60, stale-while-revalidate=30, stale-if-error=600',
      ],
      [{ private: true, noCache: true, noTransform: true }, 'private, no-cache, no-transform'],
      [{ noStore: true }, 'no-store'],
      [
        { maxAge: 1, mustRevalidate: true, proxyRevalidate: true, mustUnderstand: true, private: false },
        'max-age=1, must-revalidate, proxy-revalidate, must-understand',
      ],
    ]
    await Promise.all(
      rows.map(([options, value]) =>
        serving(options, async (live) => {
          assert.equal((await live.ask('/x')).headers['cache-control'], value)
        }),
      ),
    )
  })

  test('what the handler or an inner scope says stays', () =>
    serving({ maxAge: 60 }, async (live) => {
      const said = async (path: string) => (await live.ask(path)).headers['cache-control']
      assert.equal(await said('/own'), 'no-cache')
      assert.equal(await said('/expires'), undefined)
      assert.equal(await said('/inner'), 'no-store')
      assert.equal(await said('/stream'), 'max-age=60')
    }))

  test('a reply with Set-Cookie is for its client alone', async () => {
    for (const [options, value] of [
      [{ public: true, maxAge: 60, sMaxAge: 600, proxyRevalidate: true }, 'private, max-age=60'],
      [{ noCache: true }, 'private, no-cache'],
      [{ private: true, maxAge: 60 }, 'private, max-age=60'],
      [{ noStore: true }, 'no-store'],
    ] as const) {
      await serving(options, async (live) => {
        assert.equal((await live.ask('/cookie')).headers['cache-control'], value)
      })
    }
  })

  test('methods and statuses', () =>
    serving({ maxAge: 60 }, async (live) => {
      const said = async (path: string, method = 'GET', headers = {}) =>
        (await live.ask(path, { method, headers })).headers['cache-control'] ?? 'nothing'
      assert.equal(await said('/x', 'HEAD'), 'max-age=60')
      assert.equal(await said('/x', 'POST'), 'nothing')
      assert.equal(await said('/x', 'OPTIONS'), 'nothing')
      for (const code of [200, 203, 206, 299]) assert.equal(await said(`/status/${code}`), 'max-age=60')
      for (const code of [400, 404, 410, 500, 503]) assert.equal(await said(`/status/${code}`), 'nothing')
      for (const path of ['/none', '/thrown']) assert.equal(await said(path), 'nothing')
      for (const code of [301, 308]) assert.equal(await said(`/redirect/${code}`), 'max-age=60')
      for (const code of [302, 303, 307]) assert.equal(await said(`/redirect/${code}`), 'nothing')
      const { headers } = await live.ask('/x')
      const again = await live.ask('/x', { headers: { 'if-none-match': headers['etag'] as string } })
      assert.deepEqual([again.status, again.headers['cache-control']], [304, 'max-age=60'])
    }))

  test('others by choice', async () => {
    await serving({ maxAge: 60, errors: true, methods: ['POST', 'GET'] }, async (live) => {
      for (const path of ['/none', '/thrown', '/status/500'])
        assert.equal((await live.ask(path)).headers['cache-control'], 'max-age=60')
      assert.equal((await live.ask('/x', { method: 'POST' })).headers['cache-control'], 'max-age=60')
      assert.equal((await live.ask('/x', { method: 'HEAD' })).headers['cache-control'], undefined)
    })
  })

  test('no-store stands for all replies, and there is no tag for what nobody keeps', () =>
    serving({ noStore: true }, async (live) => {
      for (const path of ['/x', '/none', '/thrown', '/redirect/302', '/status/500']) {
        const { headers } = await live.ask(path)
        assert.deepEqual([headers['cache-control'], headers['etag']], ['no-store', undefined], path)
      }
      assert.equal((await live.ask('/x', { method: 'POST' })).headers['cache-control'], 'no-store')
    }))

  test('options that make no sense', () => {
    const bad = (options: object) => () => cacheControl(options as CacheControlOptions)
    refuses([
      [bad({}), /cacheControl takes at least one directive/],
      [() => (cacheControl as Function)(), /cacheControl takes an object/],
      [bad({ maxAge: undefined }), /at least one directive/],
      ...[-1, 1.5, NaN, Infinity, '60', 1e12].map(
        (maxAge) => [bad({ maxAge }), /cacheControl: maxAge takes seconds from 0/] as const,
      ),
      [bad({ public: 1 }), /cacheControl: public takes true or false/],
      [bad({ public: true, private: true }), /public and private contradict each other/],
      [bad({ private: true, sMaxAge: 1 }), /private and sMaxAge contradict/],
      [bad({ noStore: true, maxAge: 0 }), /noStore and maxAge contradict/],
      [bad({ noCache: true, immutable: true }), /noCache and immutable contradict/],
      [
        bad({ maxAge: 1, mustRevalidate: true, staleIfError: 1 }),
        /mustRevalidate and staleIfError contradict/,
      ],
      [bad({ maxAge: 1, methods: ['get'] }), /cacheControl: methods takes methods in upper case/],
      [bad({ maxAge: 1, methods: 'GET' }), /cacheControl: methods takes a list/],
      [bad({ maxage: 1 }), /did you mean "maxAge"/],
    ])
  })
})
