/** What a span says of how its request ended, and when it ends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { SpanStatusCode } from '@opentelemetry/api'
import { deferred, turns } from '@volant/test-kit'
import { type App, HTTPError } from 'volant'
import { otel } from 'volant/otel'
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
          await turns(1)
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
        await turns(1)
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
})
