/** Loaded before the server: traces and metrics go to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, if any. */
import { metrics } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
  const traces = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] })
  const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })
  const meters = new MeterProvider({ readers: [reader] })
  traces.register()
  metrics.setGlobalMeterProvider(meters)
  // When the app has closed: what was gathered is sent.
  process.once('beforeExit', () => void Promise.allSettled([traces.shutdown(), meters.shutdown()]))
}
