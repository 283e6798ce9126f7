import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createApp } from 'volant'

test('spans and metrics arrive at the collector, the last ones when the app closes', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const received: Record<string, Buffer[]> = { traces: [], metrics: [] }
  let passedOn: string | undefined
  const around = createApp({ signals: false })
  around.post('/v1/:kind', (ctx) => {
    received[ctx.params.kind]?.push(ctx.bodyBytes)
    ctx.header('content-type', 'application/x-protobuf').bytes(Buffer.alloc(0))
  })
  around.get('/prices/:id', (ctx) => {
    passedOn = ctx.headers.traceparent
    return '250'
  })
  const { url: aroundAt } = await around.listen({ port: 0, host: '127.0.0.1' })

  const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, ['--import', file('telemetry.js'), file('main.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: '0',
      STOCK_URL: aroundAt,
      OTEL_EXPORTER_OTLP_ENDPOINT: aroundAt,
      OTEL_SERVICE_NAME: 'orders',
    },
  })
  const lines: string[] = []
  const reader = createInterface(child.stdout).on('line', (line) => lines.push(line))
  await once(reader, 'line')
  const url = lines[0]?.split(' ').at(-1)
  const reply = await fetch(`${url}/orders/7`, { headers: { traceparent, connection: 'close' } })
  assert.deepEqual(await reply.json(), { id: '7', cents: 250 })
  await fetch(`${url}/health`, { headers: { connection: 'close' } })
  child.kill('SIGTERM')
  await once(child, 'close')
  await around.close()

  assert.equal(child.exitCode, 0)
  const [, traceId] = traceparent.split('-')
  assert.equal(passedOn?.split('-')[1], traceId)
  const traces = Buffer.concat(received['traces'] ?? [])
  // Texts are as they are in the protocol's encoding.
  for (const text of ['orders', 'GET /orders/:id', 'price of an order', 'shop.order'])
    assert.ok(traces.includes(text))
  assert.equal(traces.includes('/health'), false)
  assert.ok(Buffer.concat(received['metrics'] ?? []).includes('http.server.request.duration'))
  const logged = lines.slice(1).map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    logged.filter(({ trace_id }) => trace_id === traceId).map(({ msg }) => msg),
    ['looking for an order', 'request completed'],
  )
})
