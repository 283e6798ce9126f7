/** The metrics of requests. All `otel()` of a process share them, as they share the provider. */
import { type Attributes, type Context, createNoopMeter, type Histogram, metrics } from '@opentelemetry/api'
import { errorTypeOf } from './attributes.ts'
import type { ResponseInfo } from '../types/declaration.ts'
import type { RequestContext } from '../types/request.ts'

/** The boundaries that the semantic conventions advise, in seconds. */
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

let provider: unknown = null
let duration: Histogram | null = null

/** The requests without a complete reply, by scheme and method. */
const active = { http: new Map<string, number>(), https: new Map<string, number>() }

/** True where a provider takes metrics: without one no attributes are made. It may be registered at any time. */
export function measures(): boolean {
  const given = metrics.getMeterProvider()
  if (given === provider) return duration !== null
  provider = given
  duration = null
  const meter = given.getMeter('volant')
  if (meter === createNoopMeter()) return false
  duration = meter.createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP server requests.',
    unit: 's',
    advice: { explicitBucketBoundaries: boundaries },
  })
  meter
    .createObservableUpDownCounter('http.server.active_requests', {
      description: 'Number of active HTTP server requests.',
      unit: '{request}',
    })
    .addCallback((result) => {
      for (const [scheme, counts] of Object.entries(active)) {
        for (const [method, count] of counts) {
          result.observe(count, { 'http.request.method': method, 'url.scheme': scheme })
        }
      }
    })
  return true
}

/** Counts a request, and gives the function that records it when it is over. */
export function measure(ctx: RequestContext, method: string, within: Context): (info: ResponseInfo) => void {
  // Later the exchange may not know it any more.
  const scheme = ctx.protocol
  const counts = active[scheme]
  counts.set(method, (counts.get(method) ?? 0) + 1)
  return (info) => {
    counts.set(method, (counts.get(method) as number) - 1)
    const attributes: Attributes = {
      'http.request.method': method,
      'url.scheme': scheme,
      'http.response.status_code': info.status,
      'network.protocol.version': ctx.httpVersion,
    }
    if (ctx.route.pattern !== null) attributes['http.route'] = ctx.route.pattern
    const type = errorTypeOf(info)
    if (type !== undefined) attributes['error.type'] = type
    // The context is for exemplars.
    duration?.record(info.duration / 1_000, attributes, within)
  }
}
