/** The spans of requests, made by a real SDK. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node'
import { deferred, eventually } from '@volant/test-kit'
import { type App, before, createApp, HTTPError, middleware } from 'volant'
import { otel } from 'volant/otel'
import { procedure, rest, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { onEach } from '../src/sites.ts'
import { Telemetry } from '../src/telemetry.ts'

const telemetry = Telemetry.register()

onEach('spans', (site) => {
  afterEach(() => telemetry.reset())

  function traced(build: (app: App) => void, options: Parameters<typeof otel>[0] = {}): App {
    const app = site.app()
    app.use(otel(options))
    build(app)
    return app
  }

  test('a request has the name and the attributes of the semantic conventions', async () => {
    const app = traced((each) => each.get('/users/:id', () => ({ ok: true })))
    await site.serve(app, async (url, { port }) => {
      const reply = await fetch(`${url}/users/a%62?q=x%20y&to%6ben=hidden&sig=hidden&flag`, {
        headers: { 'user-agent': 'cases/1' },
      })
      await reply.text()
      const span = await telemetry.only()
      assert.equal(span.name, 'GET /users/:id')
      assert.equal(span.kind, SpanKind.SERVER)
      assert.deepEqual(span.attributes, {
        'http.request.method': 'GET',
        'url.path': '/users/ab',
        'http.route': '/users/:id',
        'url.scheme': 'http',
        'url.query': 'q=x%20y&to%6ben=REDACTED&sig=REDACTED&flag',
        'client.address': '127.0.0.1',
        'server.address': '127.0.0.1',
        'server.port': port,
        'network.protocol.version': '1.1',
        'user_agent.original': 'cases/1',
        'http.response.status_code': 200,
      })
      assert.deepEqual(span.status, { code: SpanStatusCode.UNSET })
      assert.deepEqual([span.events, span.links, span.parentSpanContext], [[], [], undefined])
      assert.equal(span.instrumentationScope.name, 'volant')
    })
  })

  test('a request that no route takes is named by its method', async () => {
    const app = traced((each) => each.get('/known', () => 'x'))
    await site.serve(app, async (url) => {
      for (const [method, path, status] of [
        ['GET', '/unknown', 404],
        ['DELETE', '/known', 405],
        ['OPTIONS', '/known', 204],
      ] as const) {
        await fetch(url + path, { method })
        const span = await telemetry.only()
        assert.deepEqual(
          [span.name, span.attributes['http.response.status_code'], span.attributes['http.route']],
          [method, status, undefined],
        )
        assert.equal(span.status.code, SpanStatusCode.UNSET)
        assert.equal(span.attributes['error.type'], undefined)
        telemetry.reset()
      }
    })
  })

  test('a status from 500 on is an error, a lower one is not', async () => {
    class Broken extends Error {
      override name = 'Broken'
    }
    const app = traced((each) => {
      each.get('/thrown', () => {
        throw new Broken('it broke')
      })
      each.get('/coded', () => {
        throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' })
      })
      each.get('/refused', () => {
        throw new HTTPError(503, 'not now')
      })
      each.get('/replied', (ctx) => ctx.text('no', 502))
      each.get('/client', () => {
        throw new HTTPError(409, 'conflict', { code: 'CONFLICT' })
      })
    })
    await site.serve(app, async (url) => {
      for (const [path, status, type, exceptions] of [
        ['/thrown', 500, 'Broken', 1],
        ['/coded', 500, 'ECONNREFUSED', 1],
        ['/refused', 503, '503', 1],
        ['/replied', 502, '502', 0],
        ['/client', 409, undefined, 0],
      ] as const) {
        await fetch(url + path)
        const span = await telemetry.only()
        assert.equal(span.attributes['http.response.status_code'], status)
        assert.equal(span.attributes['error.type'], type, path)
        assert.equal(span.status.code, type === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR)
        assert.equal(span.events.length, exceptions)
        telemetry.reset()
      }
    })
  })

  test('the span is active in all that runs for the request', async () => {
    const seen: Record<string, string | undefined> = {}
    const note = (where: string): void => {
      seen[where] = trace.getActiveSpan()?.spanContext().spanId
    }
    const app = site.app()
    // What stands before it runs in the span, too.
    app.use(
      middleware(async (_, next) => {
        note('middleware')
        await next()
        note('middleware, after next')
      }),
    )
    app.use(otel())
    app.use(before(() => note('gate')))
    app.onSend(async () => {
      note('hook')
      await sleep(1)
      note('hook, later')
    })
    app.onResponse(() => note('listener'))
    app.onError(async () => {
      note('error handler')
      await sleep(1)
      note('error handler, later')
    })
    app.onNotFound(() => {
      note('miss')
      throw new HTTPError(404)
    })
    app.post('/all', async (ctx) => {
      note('handler')
      await sleep(1)
      note('handler, after a timer')
      await new Promise<void>((resolve) => queueMicrotask(resolve))
      setImmediate(() => note('handler, left behind'))
      note(`body ${(ctx.body as { x: number }).x}`)
      ctx.signal.addEventListener('abort', () => {})
      throw new Error('to the error handler')
    })
    app.post('/stream', { bodyMode: 'stream', maxBodySize: 10_000_000 }, async (ctx) => {
      let length = 0
      for await (const chunk of ctx.bodyStream) {
        length += chunk.length
        note('chunk of a body')
      }
      note('after a body')
      ctx.header('x-length', length)
      return (async function* () {
        // More than a socket takes, so that the source is asked again when it drained.
        for (let at = 0; at < 64; at++) {
          note('source of a stream')
          yield Buffer.alloc(65_536, 97)
          if (at % 16 === 0) await sleep(1)
        }
        note('source of a stream, at its end')
      })()
    })
    app.post('/generator', async function* () {
      note('generator')
      yield 'a'
      await sleep(1)
      note('generator, later')
      yield 'b'
    })
    await site.serve(app, async (url) => {
      for (const [path, body, places] of [
        [
          '/all',
          '{"x":1}',
          [
            'middleware',
            'gate',
            'handler',
            'handler, after a timer',
            'handler, left behind',
            'body 1',
            'error handler',
            'error handler, later',
            'hook',
            'hook, later',
          ],
        ],
        [
          '/stream',
          'x'.repeat(1_000_000),
          [
            'chunk of a body',
            'after a body',
            'source of a stream',
            'source of a stream, at its end',
            'listener',
          ],
        ],
        ['/generator', '{}', ['generator', 'generator, later', 'middleware, after next', 'listener']],
        ['/nothing', '{}', ['miss', 'error handler', 'hook', 'gate']],
      ] as const) {
        for (const each of Object.keys(seen)) delete seen[each]
        const reply = await fetch(url + path, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
        })
        await reply.text()
        const span = await telemetry.only()
        const { spanId } = span.spanContext()
        await eventually(() => places.every((place) => place in seen), places.join(', '))
        for (const place of places) assert.equal(seen[place], spanId, place)
        telemetry.reset()
      }
    })
  })

  test('spans of requests at the same time do not mix', async () => {
    const tracer = trace.getTracer('cases')
    const app = traced((each) =>
      each.get('/:id', async (ctx) => {
        for (let step = 0; step < 3; step++) {
          await sleep(Number(ctx.params.id) % 5)
          tracer.startSpan(`step of ${ctx.params.id}`).end()
        }
        return 'x'
      }),
    )
    await site.serve(app, async (url) => {
      await Promise.all(
        Array.from({ length: 40 }, (_, id) => fetch(`${url}/${id}`).then((each) => each.text())),
      )
      const spans = await telemetry.ended(160)
      const roots = new Map(
        spans
          .filter(({ kind }) => kind === SpanKind.SERVER)
          .map((span) => [span.spanContext().spanId, span] as const),
      )
      assert.equal(roots.size, 40)
      for (const span of spans.filter(({ name }) => name.startsWith('step'))) {
        const root = roots.get(span.parentSpanContext?.spanId ?? '') as ReadableSpan
        assert.equal(`/${span.name.slice('step of '.length)}`, root.attributes['url.path'])
        assert.equal(span.spanContext().traceId, root.spanContext().traceId)
      }
    })
  })

  test('a streamed reply ends its span with its last byte', async () => {
    const last = deferred()
    const app = traced((each) =>
      each.get('/', async function* () {
        yield 'a'
        await last.promise
        yield 'b'
      }),
    )
    await site.serve(app, async (url) => {
      const { body } = await fetch(url)
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      assert.equal(telemetry.spans.length, 0)
      last.resolve()
      while (!(await reader.read()).done);
      assert.equal((await telemetry.only()).attributes['http.response.status_code'], 200)
    })
  })

  test('a client that disconnects is told apart, and is no fault of the server', async () => {
    const came = deferred()
    const app = traced((each) => {
      each.get('/waits', async (ctx) => {
        came.resolve()
        await once(ctx.signal, 'abort')
      })
      each.get('/streams', async function* () {
        for (;;) {
          yield 'x'.repeat(1_000)
          await sleep(1)
        }
      })
    })
    await site.serve(app, async (_, { port }) => {
      for (const [path, status] of [
        ['/waits', 499],
        ['/streams', 200],
      ] as const) {
        const socket = connect(port as number, '127.0.0.1')
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
        if (path === '/waits') await came.promise
        else await once(socket, 'data')
        socket.resetAndDestroy()
        const span = await telemetry.only()
        assert.deepEqual(
          [span.attributes['http.response.status_code'], span.attributes['error.type'], span.status.code],
          [status, 'E_ABORTED', SpanStatusCode.UNSET],
        )
        telemetry.reset()
      }
    })
  })

  test('a stream whose source fails is an error, though its status was sent', async () => {
    const app = traced((each) =>
      each.get('/', async function* () {
        yield 'a'
        await sleep(1)
        throw new TypeError('no more')
      }),
    )
    await site.serve(app, async (url) => {
      await assert.rejects(fetch(url).then((reply) => reply.text()))
      const span = await telemetry.only()
      assert.deepEqual(
        [span.attributes['http.response.status_code'], span.attributes['error.type'], span.status.code],
        [200, 'TypeError', SpanStatusCode.ERROR],
      )
      assert.equal(span.events[0]?.name, 'exception')
    })
  })

  test('a handler that is too slow is an error', async () => {
    const app = site.app({ limits: { handlerTimeout: 50 } })
    app.use(otel())
    app.get('/', async () => new Promise(() => {}))
    await site.serve(app, async (url) => {
      assert.equal((await fetch(url)).status, 503)
      const span = await telemetry.only()
      assert.deepEqual(
        [span.attributes['http.response.status_code'], span.attributes['error.type'], span.status.code],
        [503, 'E_HANDLER_TIMEOUT', SpanStatusCode.ERROR],
      )
    })
  })

  test('mounted apps, groups and routes: each request has one span', async () => {
    const inner = createApp({ signals: false })
    inner.use(otel())
    inner.get('/books/:id', otel(), () => 'x')
    const app = site.app()
    app.use(otel())
    app.mount('/shop', inner)
    app.group('/api', (scope) => {
      scope.use(otel())
      scope.get('/:id', () => 'x')
    })
    const other = site.app()
    other.get('/traced', otel(), () => 'x')
    other.get('/plain', () => 'x')
    other.use('/under', otel())
    other.get('/under/:id', () => 'x')
    for (const [each, path, name] of [
      [app, '/shop/books/1', 'GET /shop/books/:id'],
      [app, '/shop/none', 'GET'],
      [app, '/api/1', 'GET /api/:id'],
      [other, '/traced', 'GET /traced'],
      [other, '/plain', null],
      [other, '/under/1', 'GET /under/:id'],
      [other, '/under/1/none', 'GET'],
      [other, '/none', null],
    ] as const) {
      await each.inject(path)
      assert.deepEqual(
        telemetry.spans.map((span) => span.name),
        name === null ? [] : [name],
        path,
      )
      telemetry.reset()
    }
    await other.close()
    await app.close()
  })

  test('procedures are named by their route, REST and tRPC', async () => {
    const tree = router({
      books: router({ list: procedure().query(() => []), add: procedure().mutation(() => 'x') }),
    })
    const app = traced((each) => {
      each.register(rest(tree))
      each.register(trpc(tree))
    })
    await site.serve(app, async (url) => {
      for (const [method, path, name] of [
        ['GET', '/books', 'GET /books'],
        ['POST', '/books', 'POST /books'],
        ['GET', '/trpc/books.list', 'GET /trpc/books.list'],
        ['GET', '/trpc/books.list,books.list?batch=1', 'GET /trpc/*'],
        ['GET', '/trpc/none', 'GET /trpc/*'],
      ] as const) {
        await fetch(url + path, { method })
        assert.equal((await telemetry.only()).name, name)
        telemetry.reset()
      }
    })
  })

  test('a method that is not known is _OTHER', async () => {
    const app = site.app({ router: { methods: ['PURGE'] } })
    app.use(otel())
    app.on(['PURGE'], '/cache/:key', () => 'x')
    await site.serve(app, async (url) => {
      await fetch(`${url}/cache/1`, { method: 'PURGE' })
      const span = await telemetry.only()
      assert.equal(span.name, 'HTTP /cache/:key')
      assert.equal(span.attributes['http.request.method'], '_OTHER')
      assert.equal(span.attributes['http.request.method_original'], 'PURGE')
    })
  })
})
