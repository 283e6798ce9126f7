/** The span of a request is active in all that runs for it, and in nothing else. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { SpanKind, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node'
import { eventually, turns } from '@volant/test-kit'
import { type App, before as check, HTTPError, middleware } from 'volant'
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
    app.use(check(() => note('gate')))
    app.onSend(async () => {
      note('hook')
      await timer()
      note('hook, later')
    })
    app.onResponse(() => note('listener'))
    app.onError(async () => {
      note('error handler')
      await timer()
      note('error handler, later')
    })
    app.onNotFound(() => {
      note('miss')
      throw new HTTPError(404)
    })
    app.post('/all', async (ctx) => {
      note('handler')
      await timer()
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
          if (at % 16 === 0) await timer()
        }
        note('source of a stream, at its end')
      })()
    })
    app.post('/generator', async function* () {
      note('generator')
      yield 'a'
      await timer()
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
          await turns(Number(ctx.params.id) % 5)
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
})

function timer(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
