// The program `traces`: the OpenTelemetry SDK as its documents start it, of the same versions for everybody. What it
// samples, where it exports to and how its batches are made is in the environment (OTEL_…).

/**
 * Registers the SDK. Gives what a handler does that makes a span of its request by itself: `bySdk(name, path, handle)`.
 * `bring` is the entry's own `import`.
 */
export async function startTracing(bring) {
  const { context, SpanKind, trace } = await bring('@opentelemetry/api')
  const { BatchSpanProcessor, NodeTracerProvider } = await bring('@opentelemetry/sdk-trace-node')
  const { OTLPTraceExporter } = await bring('@opentelemetry/exporter-trace-otlp-proto')
  const provider = new NodeTracerProvider({
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  const tracer = provider.getTracer('lab')
  return function bySdk(name, path, handle) {
    const attributes = { 'http.request.method': 'GET', 'url.path': path, 'http.route': path }
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes })
    try {
      return context.with(trace.setSpan(context.active(), span), handle)
    } finally {
      span.end()
    }
  }
}
