import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test, type TestContext } from 'node:test'
import { type App, cors, etag, type HTTPError } from 'volant'
import {
  allowedHosts,
  cacheControl,
  cspReport,
  httpsRedirect,
  ipRestriction,
  serverTiming,
  timeout,
  tooBusy,
  trailingSlash,
} from 'volant/middleware'
import { deferred, eventually, type Kit, request } from '../kit.ts'
import { Wire } from '../wire.ts'

/** What `volant/middleware` does over sockets; its options are in `packages/volant/test/guards.test.ts` and `guards-replies.test.ts`. */
export function protection(kit: Kit): void {
  describe('protection', () => {
    const codeOf = (reply: { json(): unknown }): unknown => (reply.json() as { code: string }).code

    test('a host that is not listed is 421, as Host and in an absolute target, and the connection goes on', async () => {
      const app = kit.app()
      app.use(allowedHosts(['shop.example', '[::1]']))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const [host, status] of [
          ['evil.example', 421],
          ['shop.example', 200],
          ['SHOP.example.:81', 200],
          ['[::1]:81', 200],
          ['shop.example.evil.example', 421],
        ] as const) {
          for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
            const reply = await wire.send(request(method, '/x', { host })).reply(method)
            const expected = status === 421 ? 421 : { GET: 200, HEAD: 200, OPTIONS: 204, DELETE: 405 }[method]
            assert.equal(reply.status, expected, `${method} ${host}`)
          }
        }
      })
    })

    test('nobody is sent to another host', async () => {
      const app = kit.app()
      app.use('/secure', httpsRedirect({ allowedHosts: ['shop.example'] }))
      app.use(trailingSlash('remove'))
      app.get('/secure/x', () => 'served')
      app.post('/secure/x', (ctx) => ctx.bodyText)
      await kit.serve(app, async (live) => {
        const secure = await live.ask('/secure/x?a=1', { headers: { host: 'shop.example:8080' } })
        const other = await live.ask('/secure/x', { headers: { host: 'evil.example' } })
        const post = await live.post('/secure/x', 'text/plain', 'password', { host: 'shop.example' })
        if (kit.scheme === 'https') {
          assert.deepEqual([secure.text, other.text, post.text], ['served', 'served', 'password'])
        } else {
          assert.deepEqual(
            [secure.status, secure.headers['location']],
            [308, 'https://shop.example/secure/x?a=1'],
          )
          assert.deepEqual([other.status, other.headers['location']], [421, undefined])
          assert.deepEqual([post.status, codeOf(post)], [403, 'E_HTTPS_REQUIRED'])
        }
        for (const [path, to] of [
          ['/a/?b=/', '/a?b=/'],
          ['//evil.example/', '/evil.example'],
          ['//evil.example//', '/evil.example'],
          ['/\\evil.example/', '/%5Cevil.example'],
          ['/%2F%2fevil.example/', '/%2F%2Fevil.example'],
          ['/%09/evil.example/', '/%09/evil.example'],
        ] as const) {
          const { status, headers } = await live.ask(path)
          // An adapter may refuse the path.
          if (status !== 400) assert.deepEqual([status, headers['location']], [308, to], path)
        }
      })
    })

    test('clients are told apart by the address of their connection', async () => {
      const app = kit.app()
      app.use('/none', ipRestriction({ deny: ['loopback'] }))
      app.use('/own', ipRestriction({ allow: ['127.0.0.1/32'] }))
      app.get('/own', () => 'own')
      await kit.serve(app, async (live) => {
        const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' }
        const reply = await live.ask('/none', { headers })
        assert.deepEqual([reply.status, codeOf(reply)], [403, 'E_IP_DENIED'])
        assert.equal((await live.ask('/own', { headers })).text, 'own')
      })
    })

    test('a request that is refused is refused before its body is sent', kit.needs('late-100'), async () => {
      const app = kit.app()
      app.use('/ip', ipRestriction({ deny: ['loopback'] }))
      app.use('/host', allowedHosts(['shop.example']))
      app.use('/https', httpsRedirect({ allowedHosts: ['localhost'] }))
      const busy = tooBusy({ maxRss: 1, sampleInterval: 100 })
      app.use('/busy', busy)
      for (const path of ['/ip', '/host', '/https', '/busy', '/open']) app.post(path, (ctx) => ctx.bodyText)
      await kit.serve(app, async (live) => {
        for (const path of ['/open', '/busy'])
          assert.equal((await live.post(path, 'text/plain', 'sent')).text, 'sent')
        await eventually(() => busy.stats().shedding === 1, 'the process is too busy')
        for (const [path, status] of [
          ['/ip', 403],
          ['/host', 421],
          // Over TLS the app does not refuse this request, and the client may send its body.
          ['/https', kit.scheme === 'https' ? 100 : 403],
          ['/busy', 503],
        ] as const) {
          const wire = await live.connect()
          wire.send(request('POST', path, { 'content-length': '1000', expect: '100-continue' }))
          assert.equal((await wire.interim()).status, status)
        }
      })
    })

    test('requests past maxInFlight are refused, also those whose client has left before', async () => {
      const app = kit.app()
      const guard = tooBusy({ maxInFlight: 2 })
      app.use(guard)
      let started = 0
      const done = deferred<string>()
      app.get('/slow', () => {
        started++
        return done.promise
      })
      app.get('/health', () => 'well')
      await kit.serve(app, async (live) => {
        const leaving = await live.connect()
        leaving.send(request('GET', '/slow'))
        await eventually(() => started === 1, 'the first runs')
        const staying = await live.connect()
        staying.send(request('GET', '/slow'))
        await eventually(() => started === 2, 'the second runs')
        const refused = await live.ask('/slow')
        assert.deepEqual(
          [refused.status, refused.headers['retry-after'], codeOf(refused)],
          [503, '10', 'E_TOO_BUSY'],
        )
        assert.equal((await live.ask('/health')).text, 'well')
        leaving.reset()
        await eventually(() => guard.stats().inFlight === 1, 'the first is not counted any more')
        done.resolve('done')
        assert.equal((await staying.reply()).text, 'done')
        assert.equal((await live.ask('/slow')).text, 'done')
        assert.deepEqual(guard.stats(), { ...guard.stats(), inFlight: 0, refused: 1, shedding: 0 })
      })
    })

    test('a slow handler is answered with 503, its signal aborted, and the connection goes on', async (t) => {
      const reports: unknown[] = []
      const app = kit.app({ report: (error) => void reports.push(error) })
      app.use('/slow', timeout(50))
      app.use('/stream', timeout(farAway))
      app.use(cors({ origin: 'https://app.example' }))
      const aborted = deferred()
      app.get('/slow', async (ctx) => {
        await once(ctx.signal, 'abort')
        aborted.resolve()
        return 'too late'
      })
      const isOver = deferred()
      app.get('/stream', (ctx) =>
        ctx.stream(
          (async function* () {
            yield 'begun, '
            await isOver.promise
            yield 'ended'
          })(),
        ),
      )
      const pass = timerOf(t, farAway)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const reply = await wire.send(request('GET', '/slow', { origin: 'https://app.example' })).reply()
        assert.deepEqual([reply.status, codeOf(reply)], [503, 'E_HANDLER_TIMEOUT'])
        assert.equal(reply.headers['access-control-allow-origin'], 'https://app.example')
        await aborted.promise
        wire.send(request('GET', '/stream'))
        await wire.until(() => wire.received.includes('begun, ') || undefined, 'the stream')
        pass()
        isOver.resolve()
        assert.equal((await wire.reply()).text, 'begun, ended')
      })
      assert.deepEqual(reports, [])
    })

    test('a stream that has begun is cut off where that is asked for', async (t) => {
      const reports: unknown[] = []
      const app = kit.app({ report: (error) => void reports.push(error) })
      const outcomes: unknown[] = []
      app.onResponse((_, { aborted, error }) => void outcomes.push([aborted, (error as HTTPError).code]))
      app.use(timeout(farAway, { streams: true }))
      const cancelled = deferred()
      app.get('/endless', (ctx) => {
        ctx.signal.addEventListener('abort', () => cancelled.resolve())
        return ctx.stream(
          (async function* () {
            yield 'begun'
            await new Promise(() => {})
          })(),
        )
      })
      const pass = timerOf(t, farAway)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/endless'))
        await wire.until(() => wire.received.includes('begun') || undefined, 'the stream')
        pass()
        await assert.rejects(wire.reply())
        await cancelled.promise
        await eventually(() => outcomes.length === 1, 'the request is over')
        assert.deepEqual(outcomes, [[true, 'E_HANDLER_TIMEOUT']])
        assert.deepEqual(
          reports.map((error) => (error as HTTPError).code),
          ['E_HANDLER_TIMEOUT'],
        )
      })
    })

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

    test('Server-Timing has what the handler took', async () => {
      const app = kit.app()
      app.with(serverTiming({ enabled: true })).get('/x', async ({ state: { timing } }) => {
        await timing.time('db', () => new Promise((resolve) => setTimeout(resolve, 20)), 'books')
        return 'x'
      })
      await kit.serve(app, async (live) => {
        const text = (await live.ask('/x')).headers['server-timing'] ?? ''
        const [, db = '', total = ''] = /^db;dur=([\d.]+);desc="books", total;dur=([\d.]+)$/.exec(text) ?? []
        assert.ok(Number(db) >= 18 && Number(total) >= Number(db), text)
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

/** A time that no other timer has, and that no case waits for, in milliseconds. */
const farAway = 86_399_999

/** Gives a function that ends the timer of `ms` milliseconds which was started last, at once. */
function timerOf(t: TestContext, ms: number): () => void {
  const start = globalThis.setTimeout as (run: (...given: unknown[]) => void, ...rest: unknown[]) => unknown
  let end = (): void => assert.fail(`there is no timer of ${ms} ms`)
  t.mock.method(
    globalThis,
    'setTimeout',
    (run: (...given: unknown[]) => void, after: unknown, ...given: unknown[]) => {
      if (after === ms) end = () => run(...given)
      return start(run, after, ...given)
    },
  )
  return () => end()
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
