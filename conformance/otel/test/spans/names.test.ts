/** The names and attributes of the spans of requests, made by a real SDK. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { type App, createApp } from 'volant'
import { otel } from 'volant/otel'
import { procedure, rest, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { onEach } from '../../src/sites.ts'
import { Telemetry } from '../../src/telemetry.ts'

onEach('spans', (site) => {
  let telemetry: Telemetry
  before(() => {
    telemetry = Telemetry.register()
  })
  afterEach(() => telemetry.reset())
  after(() => telemetry.end())

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
