/** What the OTLP exporters of OpenTelemetry send of requests, as a receiver reads it. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { context, metrics, propagation, trace } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { deferred, eventually, within } from '@volant/test-kit'
import { HTTPError } from 'volant'
import { otel } from 'volant/otel'
import { onEach } from '../src/sites.ts'
import { plain, Receiver, type ReceivedSpan } from '../src/receiver.ts'

const receiver = await Receiver.listen()
const resource = resourceFromAttributes({ 'service.name': 'cases' })
const queue = {
  maxQueueSize: 64,
  maxExportBatchSize: 16,
  exportTimeoutMillis: 3_000,
  scheduledDelayMillis: 20,
}
/** The names of the spans, in the order in which they ended. */
const ended: string[] = []
const spans = new NodeTracerProvider({
  resource,
  spanProcessors: [
    {
      onStart: () => {},
      onEnd: ({ name }) => void ended.push(name),
      forceFlush: async () => {},
      shutdown: async () => {},
    },
    new BatchSpanProcessor(
      new OTLPTraceExporter({ url: `${receiver.url}/v1/traces`, timeoutMillis: 3_000 }),
      queue,
    ),
  ],
})
const meters = new MeterProvider({
  resource,
  readers: [
    new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics`, timeoutMillis: 3_000 }),
      exportIntervalMillis: 3_600_000,
      exportTimeoutMillis: 3_500,
    }),
  ],
})
after(async () => {
  receiver.hangs = true
  // An exporter that gets no answer does not hold the end of the process.
  await within(Promise.allSettled([spans.shutdown(), meters.shutdown()]), 'the end of the SDK')
  await receiver.close()
})

onEach('OTLP', (site) => {
  before(() => {
    spans.register()
    metrics.setGlobalMeterProvider(meters)
  })
  after(() => {
    for (const api of [trace, context, propagation, metrics]) api.disable()
  })
  afterEach(() => {
    receiver.reset()
    ended.length = 0
  })

  test('spans arrive with their attributes and their parents', async () => {
    const app = site.app()
    app.use(otel({ captureHeaders: { request: ['X-Tenant'], response: ['x-cost'] } }))
    app.get('/orders/:id', (ctx) => {
      trace.getTracer('shop').startActiveSpan('price', (span) => span.end())
      ctx.header('x-cost', '7')
      return { ok: true }
    })
    app.get('/down', () => {
      throw new HTTPError(503)
    })
    await site.serve(app, async (url, { port }) => {
      await fetch(`${url}/orders/7?token=hidden`, { headers: { 'x-tenant': 'acme', 'user-agent': 'cases' } })
      await fetch(`${url}/down`)
      const names = ['GET /orders/:id', 'price', 'GET /down']
      const received = () => names.map((name) => receiver.spans.find((span) => span.name === name))
      // A span may end after its reply has come, and an export may be under way.
      await eventually(() => !received().includes(undefined), 'the spans arrive')
      const [request, price, down] = received() as [ReceivedSpan, ReceivedSpan, ReceivedSpan]
      assert.deepEqual(receiver.senders, new Set(['cases volant', 'cases shop']))
      assert.equal(request.kind, 'SPAN_KIND_SERVER')
      assert.equal(Buffer.from(request.traceId, 'base64').length, 16)
      assert.deepEqual([price.traceId, price.parentSpanId], [request.traceId, request.spanId])
      // The SDK takes the times of each span from a start of its own, so those of two spans do not compare.
      assert.ok(ended.indexOf('price') < ended.indexOf('GET /orders/:id'))
      assert.deepEqual(plain(request.attributes), {
        'http.request.method': 'GET',
        'http.route': '/orders/:id',
        'http.response.status_code': 200,
        'http.request.header.x-tenant': { values: [{ stringValue: 'acme' }] },
        'http.response.header.x-cost': { values: [{ stringValue: '7' }] },
        'url.scheme': 'http',
        'url.path': '/orders/7',
        'url.query': 'token=REDACTED',
        'client.address': '127.0.0.1',
        'server.address': '127.0.0.1',
        'server.port': port,
        'network.protocol.version': '1.1',
        'user_agent.original': 'cases',
      })
      assert.equal(down.status?.code, 'STATUS_CODE_ERROR')
      assert.equal(plain(down.attributes)['error.type'], '503')
    })
  })

  test('durations are a histogram in seconds, and open requests are counted', async () => {
    const held = deferred()
    const came = deferred()
    const app = site.app()
    app.use(otel({ ignore: ['/health'] }))
    app.get(`/${site.adapter}/:id`, () => 'x')
    app.get('/health', () => 'well')
    app.get('/held', async () => {
      came.resolve()
      await held.promise
      return 'x'
    })
    await site.serve(app, async (url) => {
      for (const id of [1, 2, 3]) await fetch(`${url}/${site.adapter}/${id}`).then((reply) => reply.text())
      await fetch(`${url}/health`)
      const open = fetch(`${url}/held`)
      await came.promise
      await meters.forceFlush()
      const duration = receiver.metrics.find(({ name }) => name === 'http.server.request.duration')
      assert.equal(duration?.unit, 's')
      const routes =
        duration?.histogram?.dataPoints.map(({ attributes }) => plain(attributes)['http.route']) ?? []
      assert.equal(routes.includes('/health'), false)
      const point = duration?.histogram?.dataPoints[routes.indexOf(`/${site.adapter}/:id`)]
      assert.equal(Number(point?.count), 3)
      assert.ok((point?.sum as number) > 0 && (point?.sum as number) < 30)
      assert.deepEqual(
        point?.explicitBounds,
        [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
      )
      assert.deepEqual(plain(point?.attributes ?? []), {
        'http.request.method': 'GET',
        'http.route': `/${site.adapter}/:id`,
        'http.response.status_code': 200,
        'network.protocol.version': '1.1',
        'url.scheme': 'http',
      })
      const active = receiver.metrics.find(({ name }) => name === 'http.server.active_requests')
      assert.deepEqual(
        active?.sum?.dataPoints.map(({ attributes, ...each }) => [
          plain(attributes),
          Number(each.asDouble ?? each.asInt),
        ]),
        [[{ 'http.request.method': 'GET', 'url.scheme': 'http' }, 1]],
      )
      held.resolve()
      await (await open).text()
    })
  })

  test('an exporter that gets no answer delays no request, and keeps no more than its queue', async () => {
    const app = site.app()
    app.use(otel())
    app.get('/', () => 'x')
    await site.serve(app, async (url) => {
      receiver.hangs = true
      for (let round = 0; round < 20; round++) {
        const replies = await Promise.all(Array.from({ length: 25 }, () => fetch(url)))
        for (const reply of replies) assert.equal(await reply.text(), 'x')
      }
      receiver.hangs = false
      // What is under way was given up, or is in the queue.
      await spans.forceFlush().catch(() => {})
      assert.ok(receiver.spans.length < 500 - 64, `${receiver.spans.length} of 500 spans were kept`)
      await fetch(url)
      await spans.forceFlush()
      assert.equal(receiver.spans.at(-1)?.name, 'GET /')
    })
  })
})
