/**
 * The five routes of the Nessen document. `/health` is outside the stack, as its first measurement says; the others
 * have a request id, a line of JSON in the log for each request, security headers, a rate limit by address and
 * compression.
 *
 * The document's limit of 100 requests a minute answered most of its own benchmark with 429. Here each request is
 * counted as well, but the limit is a million requests a second, unless the setting `rateLimit` says otherwise.
 */
import { type AppOptions, createApp, logger, metrics, requestId, securityHeaders } from 'volant'
import { compress } from 'volant/compress'
import { rateLimit } from 'volant/rate-limit'
import { badge } from '../badge.ts'
import { escape } from '../markup.ts'

export function nessen(
  options: AppOptions,
  { rateLimit: max = 60_000_000 }: { readonly rateLimit?: number | undefined } = {},
) {
  const app = createApp(options)
  const meter = metrics()
  app.use(meter)

  app.get('/health', () => 'OK')

  const stack = app
    .with(requestId())
    .with(logger())
    .with(securityHeaders())
    .with(rateLimit({ max, timeWindow: '1 minute' }))
    .with(compress())

  stack.get('/', (ctx) => {
    ctx.html(
      home({ id: ctx.id, method: ctx.method, path: ctx.path, state: app.closing ? 'DRAINING' : 'READY' }),
    )
  })

  stack.get('/ready', (ctx) => {
    if (app.closing) ctx.text('Not ready: DRAINING', 503)
    else ctx.text('Ready')
  })

  stack.get('/api/health', (ctx) => {
    const { uptime, requests, server, latency, memory, eventLoopLag } = meter.snapshot(ctx)
    return {
      ok: !app.closing,
      uptimeMs: uptime * 1_000,
      mem: memory.rss / 2 ** 20,
      eventLoopLagMs: eventLoopLag.p50,
      requests: {
        total: requests,
        active: server.inFlight,
        p50Ms: latency.p50,
        p95Ms: latency.p95,
        p99Ms: latency.p99,
      },
    }
  })

  stack.get('/badge/:label/:value.svg', (ctx) => {
    ctx.header('content-type', 'image/svg+xml; charset=utf-8').header('cache-control', 'public, max-age=3600')
    return badge(ctx.params.label, ctx.params.value)
  })

  return app
}

function home(request: Record<string, string>): string {
  const rows = Object.entries(request).map(([name, value]) => `<dt>${name}<dd>${escape(value)}`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Nessen profile</title>
<h1>Nessen profile</h1>
<dl>${rows.join('')}</dl>
<ul>
<li><a href="/health">/health</a>
<li><a href="/ready">/ready</a>
<li><a href="/api/health">/api/health</a>
<li><a href="/badge/status/ok.svg">/badge/status/ok.svg</a>
</ul>
</html>
`
}
