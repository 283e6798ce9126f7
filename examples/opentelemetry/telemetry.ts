/** Sets up OpenTelemetry. Node.js loads it before the app: `node --import ./dist/telemetry.js dist/main.js`. */
import { metrics } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

// OTEL_SERVICE_NAME names the service, OTEL_EXPORTER_OTLP_ENDPOINT the collector, http://localhost:4318 by default.
const resource = defaultResource().merge(detectResources({ detectors: [envDetector] }))

const traces = new NodeTracerProvider({
  resource,
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
})
traces.register()

const meters = new MeterProvider({
  resource,
  readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })],
})
metrics.setGlobalMeterProvider(meters)

// The app has closed by then, and what was not sent yet is.
process.once('beforeExit', () => Promise.allSettled([traces.shutdown(), meters.shutdown()]))
