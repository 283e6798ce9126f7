/** Each request has a span and is measured. Spans made while it runs are its children, and calls pass its trace on. */
import { context, propagation, trace } from '@opentelemetry/api'
import { createApp, HTTPError, logger } from 'volant'
import { otel } from 'volant/otel'

const tracer = trace.getTracer('shop')
const stock = process.env.STOCK_URL ?? 'http://localhost:3001'

export const app = createApp()
app.use(otel({ ignore: ['/health'], trustParent: true })) // callers are our own services
app.use(logger()) // its lines have trace_id and span_id
app.get('/health', () => ({ ok: true }))

app.get('/orders/:id', async (ctx) => {
  const { id } = ctx.params
  ctx.log.info({ order: id }, 'looking for an order')
  trace.getActiveSpan()?.setAttribute('shop.order', id)
  const cents = await tracer.startActiveSpan('price of an order', async (span) => {
    try {
      const headers: Record<string, string> = {}
      propagation.inject(context.active(), headers) // traceparent, and tracestate and baggage
      const reply = await fetch(`${stock}/prices/${id}`, { headers })
      if (!reply.ok) throw new HTTPError(502, 'the stock does not answer')
      return Number(await reply.text())
    } finally {
      span.end()
    }
  })
  return { id, cents }
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
