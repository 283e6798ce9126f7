/** Tracing that fails, is not there, or comes late: the requests live. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { context, metrics, propagation, type TextMapPropagator, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type Sampler,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { eventually } from '@volant/test-kit'
import type { App } from 'volant'
import { traceContext } from 'volant/middleware'
import { otel, type OtelOptions } from 'volant/otel'
import { onEach, type Site } from '../src/sites.ts'
import { Telemetry } from '../src/telemetry.ts'

const valid = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }

/** The API as another package has it, which has its own copy. */
const folder = mkdtempSync(join(tmpdir(), 'volant-otel-'))
const require = createRequire(import.meta.url)
const installed = join(dirname(require.resolve('@opentelemetry/api')), '../..')
cpSync(installed, join(folder, 'api'), { recursive: true })
const other = require(join(folder, 'api')) as typeof import('@opentelemetry/api')
after(() => rmSync(folder, { recursive: true }))

function asking(site: Site, options: OtelOptions = { trustParent: true }): App {
  const app = site.app()
  app.use(otel(options))
  app.get('/', async () => {
    await turn()
    return trace.getActiveSpan()?.spanContext().traceId ?? 'no span'
  })
  return app
}

const ask = async (url: string, headers: Record<string, string> = valid): Promise<string> => {
  const reply = await fetch(url, { headers })
  assert.equal(reply.status, 200)
  return reply.text()
}

onEach('faults', (site) => {
  afterEach(() => {
    for (const api of [trace, context, propagation, metrics]) api.disable()
    site.reports.length = 0
  })

  test('without an SDK there are no spans, and requests are answered', async () => {
    const lines: string[] = []
    const app = site.app({ log: { destination: { write: (line: string) => void lines.push(line) } } })
    app.use(otel())
    app.get('/', (ctx) => {
      ctx.log.info('here')
      return trace.getActiveSpan() === undefined ? 'no span' : 'a span'
    })
    app.with(traceContext({ trustParent: true })).get('/ids', (ctx) => ctx.state.trace.traceId)
    await site.serve(app, async (url) => {
      assert.equal(await ask(url), 'no span')
      assert.equal(await ask(`${url}/ids`), valid.traceparent.slice(3, 35))
      await eventually(() => lines.some((line) => line.includes('"here"')), 'the line was written')
      assert.equal(
        lines.some((line) => line.includes('trace_id')),
        false,
      )
    })
  })

  test('an SDK that is registered while the app runs has the requests from then on', async () => {
    const app = asking(site)
    await site.serve(app, async (url) => {
      assert.equal(await ask(url), 'no span')
      for (let again = 0; again < 2; again++) {
        const telemetry = Telemetry.register()
        assert.equal(await ask(url), valid.traceparent.slice(3, 35))
        assert.equal((await telemetry.only()).name, 'GET /')
        const metric = await telemetry.metric('http.server.request.duration')
        assert.deepEqual(
          metric?.dataPoints.map((point) => (point.value as { count: number }).count),
          [1],
        )
        await telemetry.end()
        assert.equal(await ask(url), 'no span')
      }
    })
  })

  test('an SDK that is registered by another copy of the API is the same', async () => {
    const exporter = new InMemorySpanExporter()
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    const app = asking(site)
    await site.serve(app, async (url) => {
      assert.equal(await ask(url), 'no span')
      other.trace.setGlobalTracerProvider(provider)
      other.context.setGlobalContextManager(new AsyncLocalStorageContextManager())
      other.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
      try {
        assert.equal(await ask(url), valid.traceparent.slice(3, 35))
        await eventually(() => exporter.getFinishedSpans().length === 1, 'the span ended')
      } finally {
        for (const api of [other.trace, other.context, other.propagation]) api.disable()
      }
    })
  })

  const broken = new Error('tracing is broken')
  const fail = (): never => {
    throw broken
  }
  const sampler: Sampler = { shouldSample: fail, toString: () => 'broken' }
  const propagator: TextMapPropagator = { extract: fail, inject: fail, fields: () => ['traceparent'] }
  const silent = {
    onStart() {},
    onEnd() {},
    shutdown: async () => {},
    forceFlush: async () => {},
  } satisfies SpanProcessor

  for (const [what, register, options] of [
    ['a sampler', () => new NodeTracerProvider({ sampler }).register()],
    ['a propagator', () => new NodeTracerProvider().register({ propagator })],
    [
      'the fields of a propagator',
      () => new NodeTracerProvider().register({ propagator: { ...propagator, fields: fail } }),
    ],
    [
      'a processor at the start of a span',
      () => new NodeTracerProvider({ spanProcessors: [{ ...silent, onStart: fail }] }).register(),
    ],
    [
      'a processor at the end of a span',
      () => new NodeTracerProvider({ spanProcessors: [{ ...silent, onEnd: fail }] }).register(),
    ],
    ['the option ignore', () => new NodeTracerProvider().register(), { ignore: fail }],
    ['the option trustParent', () => new NodeTracerProvider().register(), { trustParent: fail }],
  ] as [string, () => void, OtelOptions?][]) {
    test(`${what} that throws is reported, and harms no request`, async () => {
      register()
      const app = asking(site, options)
      await site.serve(app, async (url) => {
        for (let count = 0; count < 3; count++) await ask(url)
        await eventually(() => site.reports.length > 0, 'the error was reported')
        assert.ok(site.reports.every((error) => error === broken))
        if (what !== 'a processor at the end of a span') assert.equal(site.reports.length, 1)
      })
    })
  }
})
