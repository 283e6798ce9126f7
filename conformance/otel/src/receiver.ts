/** An OTLP receiver: a Volant app that reads what exporters send with the protocol's own definitions. */
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import { createApp } from 'volant'

const proto = fileURLToPath(new URL('../../proto', import.meta.url))
const root = new protobuf.Root()
root.resolvePath = (_, target) => `${proto}/${target}`
root.loadSync([
  'opentelemetry/proto/collector/trace/v1/trace_service.proto',
  'opentelemetry/proto/collector/metrics/v1/metrics_service.proto',
])
const collector = 'opentelemetry.proto.collector'
const traces = root.lookupType(`${collector}.trace.v1.ExportTraceServiceRequest`)
const metrics = root.lookupType(`${collector}.metrics.v1.ExportMetricsServiceRequest`)

export interface KeyValue {
  key: string
  value: { stringValue?: string; intValue?: number; arrayValue?: unknown }
}

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: KeyValue[]
  status?: { code?: string; message?: string }
}

export interface ReceivedMetric {
  name: string
  unit: string
  histogram?: {
    dataPoints: { count: string; sum: number; explicitBounds: number[]; attributes: KeyValue[] }[]
  }
  sum?: { isMonotonic?: boolean; dataPoints: { asDouble?: number; asInt?: string; attributes: KeyValue[] }[] }
}

export class Receiver {
  readonly spans: ReceivedSpan[] = []
  readonly metrics: ReceivedMetric[] = []
  /** The names of the services and scopes that sent something. */
  readonly senders = new Set<string>()
  /** True lets exporters wait for ever. */
  hangs = false
  url = ''
  readonly #app = createApp({
    signals: false,
    limits: { handlerTimeout: 0, drainIdle: 0, shutdownTimeout: 100 },
  })

  static async listen(): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.#app.post('/v1/traces', async (ctx) => {
      if (receiver.hangs) await new Promise(() => {})
      const { resourceSpans } = read(traces, ctx.bodyBytes)
      for (const { resource, scopeSpans } of resourceSpans as never[]) {
        for (const { scope, spans } of scopeSpans as never[]) {
          receiver.senders.add(`${serviceOf(resource)} ${(scope as { name: string }).name}`)
          receiver.spans.push(...(spans as ReceivedSpan[]))
        }
      }
      ctx.header('content-type', 'application/x-protobuf').bytes(Buffer.alloc(0))
    })
    receiver.#app.post('/v1/metrics', async (ctx) => {
      if (receiver.hangs) await new Promise(() => {})
      const { resourceMetrics } = read(metrics, ctx.bodyBytes)
      for (const { scopeMetrics } of resourceMetrics as never[]) {
        for (const each of scopeMetrics as { metrics: ReceivedMetric[] }[])
          receiver.metrics.push(...each.metrics)
      }
      ctx.header('content-type', 'application/x-protobuf').bytes(Buffer.alloc(0))
    })
    receiver.url = (await receiver.#app.listen({ port: 0, host: '127.0.0.1' })).url
    return receiver
  }

  reset(): void {
    this.spans.length = 0
    this.metrics.length = 0
  }

  close(): Promise<void> {
    return this.#app.close()
  }
}

function read(type: protobuf.Type, bytes: Buffer): Record<string, unknown> {
  const message = type.decode(bytes)
  const fault = type.verify(message)
  if (fault !== null) throw new Error(fault)
  return type.toObject(message, { longs: String, enums: String, bytes: String, arrays: true })
}

function serviceOf(resource: { attributes: KeyValue[] }): string | undefined {
  return resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue
}

/** Gives attributes as an object. */
export function plain(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue === undefined ? value.arrayValue : Number(value.intValue)),
    ]),
  )
}
