/** An SDK that keeps what it is given, registered for the whole process, as `node --import` would do it. */
import { metrics, propagation, trace, context } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { eventually } from '@volant/test-kit'

export class Telemetry {
  readonly #spans = new InMemorySpanExporter()
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: 3_600_000,
  })
  readonly #provider: NodeTracerProvider
  readonly #meters = new MeterProvider({ readers: [this.#reader] })

  private constructor(sampler: Sampler | undefined) {
    this.#provider = new NodeTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(this.#spans)],
      ...(sampler === undefined ? {} : { sampler }),
    })
    this.#provider.register()
    metrics.setGlobalMeterProvider(this.#meters)
  }

  static register(sampler?: Sampler): Telemetry {
    return new Telemetry(sampler)
  }

  /** The spans that have ended, in the order of their end. */
  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans()
  }

  /** Waits for so many spans, and gives them. */
  async ended(count: number): Promise<readonly ReadableSpan[]> {
    await eventually(() => this.spans.length >= count, `${count} spans have ended`)
    return this.spans
  }

  /** Waits for the first span, which is the only one. */
  async only(): Promise<ReadableSpan> {
    const spans = await this.ended(1)
    if (spans.length > 1)
      throw new Error(`${spans.length} spans: ${spans.map(({ name }) => name).join(', ')}`)
    return spans[0] as ReadableSpan
  }

  reset(): void {
    this.#spans.reset()
  }

  /** Gives a metric as it is now. */
  async metric(name: string): Promise<MetricData | undefined> {
    return (await this.metrics(name))[0]
  }

  /** Gives the metrics with that name, of all who measure. */
  async metrics(name: string): Promise<MetricData[]> {
    await this.#reader.forceFlush()
    const all = this.#metrics.getMetrics().at(-1)
    const every = all?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    return every.filter(({ descriptor }) => descriptor.name === name)
  }

  /** Takes the SDK back. */
  async end(): Promise<void> {
    for (const api of [trace, context, propagation, metrics]) api.disable()
    await this.#provider.shutdown()
    await this.#meters.shutdown()
  }
}
