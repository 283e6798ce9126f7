/** On the adapter node-http, `@opentelemetry/instrumentation-http` has made a span already: it is the request's. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, afterEach, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import type { DataPoint } from '@opentelemetry/sdk-metrics'
import { HTTPError } from 'volant'
import { otel } from 'volant/otel'
import { onEach } from '../src/sites.ts'
import { Telemetry } from '../src/telemetry.ts'

const instrumentation = new HttpInstrumentation({ enabled: false })

onEach('with instrumentation of node:http', (site) => {
  let telemetry: Telemetry
  before(() => {
    telemetry = Telemetry.register()
    instrumentation.setTracerProvider(trace.getTracerProvider())
    instrumentation.setMeterProvider(metrics.getMeterProvider())
    instrumentation.enable()
    // It patches the module when that is required.
    createRequire(import.meta.url)('node:http')
  })
  afterEach(() => telemetry.reset())
  after(async () => {
    instrumentation.disable()
    await telemetry.end()
  })

  test('each request has one span, with its route, and is counted once', async () => {
    const app = site.app()
    app.use(otel())
    const seen: (string | undefined)[] = []
    app.get(`/${site.adapter}/:id`, async () => {
      await turn()
      seen.push(trace.getActiveSpan()?.spanContext().spanId)
      // What is called in this process is a request of its own.
      await app.inject('/inner')
      return 'x'
    })
    app.get('/inner', () => 'x')
    app.get('/broken', () => {
      throw new HTTPError(503)
    })
    await site.serve(app, async (url) => {
      await fetch(`${url}/${site.adapter}/1`).then((reply) => reply.text())
      const spans = (await telemetry.ended(2)).filter(({ kind }) => kind === SpanKind.SERVER)
      assert.deepEqual(
        spans.map(({ name }) => name).sort(),
        [`GET /${site.adapter}/:id`, 'GET /inner'].sort(),
      )
      const span = spans.find(({ name }) => name !== 'GET /inner')
      assert.equal(span?.attributes['http.route'], `/${site.adapter}/:id`)
      assert.equal(span?.attributes['http.response.status_code'], 200)
      assert.equal(span?.spanContext().spanId, seen[0])
      assert.match(
        span?.instrumentationScope.name ?? '',
        site.adapter === 'node-http' ? /instrumentation-http$/ : /^volant$/,
      )
      const metric = await telemetry.metrics('http.server.request.duration')
      const points = metric
        .flatMap(({ dataPoints }) => dataPoints as DataPoint<{ count: number }>[])
        .filter(({ attributes }) => attributes['http.route'] === `/${site.adapter}/:id`)
      assert.deepEqual(
        points.map(({ value }) => value.count),
        [1],
      )
      telemetry.reset()
      await fetch(`${url}/broken`).then((reply) => reply.text())
      const [broken] = await telemetry.ended(1)
      assert.equal(broken?.name, 'GET /broken')
      assert.equal(broken?.attributes['error.type'], '503')
      assert.equal(broken?.status.code, SpanStatusCode.ERROR)
    })
  })
})
