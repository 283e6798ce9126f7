import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { type App, etag } from 'volant'
import { cacheControl, cspReport, serverTiming } from 'volant/middleware'
import { type Kit, request } from '../../kit.ts'
import { Wire } from '../../wire.ts'

/** What plugins say in replies, and what no reply says. */
export function protectedReplies(kit: Kit): void {
  describe('protection', () => {
    test('Cache-Control stands in replies of every kind, and never in those of errors', async () => {
      const app = kit.app()
      app.use(etag())
      app.use(cacheControl({ public: true, maxAge: 60 }))
      replies(app)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const path of ['/json', '/bytes', '/stream', '/file']) {
          for (const method of ['GET', 'HEAD']) {
            const { status, headers } = await wire.send(request(method, path)).reply(method)
            assert.deepEqual(
              [status, headers['cache-control']],
              [200, 'public, max-age=60'],
              `${method} ${path}`,
            )
          }
        }
        const tag = (await wire.send(request('GET', '/json')).reply()).headers['etag'] as string
        const again = await wire.send(request('GET', '/json', { 'if-none-match': tag })).reply()
        assert.deepEqual([again.status, again.headers['cache-control']], [304, 'public, max-age=60'])
        for (const path of ['/none', '/thrown']) {
          const { headers } = await wire.send(request('GET', path)).reply()
          assert.equal(headers['cache-control'], undefined, path)
        }
        const cookie = await wire.send(request('GET', '/cookie')).reply()
        assert.equal(cookie.headers['cache-control'], 'private, max-age=60')
      })
    })

    test('Server-Timing has what the handler took', async (t) => {
      const clock = testClock(t)
      const app = kit.app()
      app.with(serverTiming({ enabled: true })).get('/x', async ({ state: { timing } }) => {
        await timing.time('db', () => clock.advance(20), 'books')
        return 'x'
      })
      await kit.serve(app, async (live) => {
        const text = (await live.ask('/x')).headers['server-timing'] ?? ''
        const [, db = '', total = ''] = /^db;dur=([\d.]+);desc="books", total;dur=([\d.]+)$/.exec(text) ?? []
        assert.deepEqual([Number(db), Number(total)], [20, 20], text)
      })
    })

    test('reports of browsers are taken, up to 64 KiB', async () => {
      const app = kit.app()
      const seen: string[] = []
      app.register(cspReport, { onReport: ({ directive }) => seen.push(directive) })
      await kit.serve(app, async (live) => {
        const type = 'application/csp-report'
        const body = '{"csp-report":{"effective-directive":"img-src"}}'
        assert.equal((await live.post('/csp-reports', type, body)).status, 204)
        assert.equal((await live.post('/csp-reports', type, body.padEnd(65_536))).status, 204)
        assert.equal((await live.post('/csp-reports', type, body.padEnd(65_537))).status, 413)
        assert.equal((await live.post('/csp-reports', 'text/plain', body)).status, 415)
        assert.deepEqual(seen, ['img-src', 'img-src'])
      })
    })

    test('no reply says what made it', async () => {
      const app = kit.app()
      replies(app)
      await kit.serve(app, async (live) => {
        for (const path of ['/json', '/file', '/none', '/thrown', '/%']) {
          const { headers } = await live.ask(path)
          assert.deepEqual(
            [headers['x-powered-by'], headers['server'], headers['via']],
            [undefined, undefined, undefined],
          )
        }
        const wire: Wire = await live.connect()
        wire.send(Buffer.from('GET / HTTP/9.9\r\n\r\n'))
        const { headers } = await wire.reply()
        assert.deepEqual([headers['x-powered-by'], headers['server']], [undefined, undefined])
      })
      kit.reports.length = 0
    })
  })
}

function replies(app: App): void {
  app.get('/json', () => ({ a: 1 }))
  app.get('/bytes', () => Buffer.from('x'))
  app.get('/stream', (ctx) => ctx.stream(['a', 'b']))
  app.get('/file', (ctx) => ctx.file(new URL(import.meta.url)))
  app.get('/cookie', (ctx) => ctx.cookie('a', 'b').text('x'))
  app.get('/thrown', () => {
    throw new Error('thrown')
  })
}
