import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { reference } from '../../src/profiles/reference.ts'
import { serving } from './kit.ts'

const { folder, get } = serving()

test('GET /json', async () => {
  const reply = await get('/json')
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(await reply.text(), '{"message":"Hello World"}')
})

test('GET /big-json has 200 records', async () => {
  const records = (await (await get('/big-json')).json()) as unknown[]
  assert.equal(records.length, 200)
  assert.deepEqual(records[199], { id: 199, title: 'Software engineer', employer: 'acme corp' })
})

test('GET /health, /ready and /api/health', async () => {
  assert.deepEqual(await (await get('/health')).json(), { status: 'ok' })
  const ready = await get('/ready')
  assert.equal(ready.status, 200)
  assert.deepEqual(await ready.json(), { status: 'ready', checks: { database: 'ok' } })
  const details = (await (await get('/api/health')).json()) as {
    uptime: number
    memory: NodeJS.MemoryUsage
    eventLoopLag: Record<string, number>
  }
  assert.ok(details.uptime > 0 && details.memory.rss > 0)
  assert.deepEqual(Object.keys(details.eventLoopLag), ['p50', 'p99', 'max'])
})

test('a database that cannot be read is not ready', async () => {
  const reports: unknown[] = []
  const file = join(folder, 'closed.db')
  const broken = reference({ report: (error) => void reports.push(error) }, { database: file, token: 't' })
  await broken.close({ drainIdle: 0 })
  assert.equal(broken.closing, true)
  const reply = await broken.inject('/ready')
  assert.equal(reply.status, 503)
})

test('GET /metrics and /metrics.json count what was asked', async () => {
  for (let count = 0; count < 3; count++) await (await get('/json')).text()
  const reply = await get('/metrics')
  assert.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const text = await reply.text()
  assert.match(
    text,
    /^http_request_duration_seconds_count\{method="GET",route="\/json",status="2xx"\} [3-9]$/m,
  )
  const figures = (await (await get('/metrics.json')).json()) as {
    server: { requests: number }
    recent: { p50: number; p99: number }
    memory: { rss: number }
  }
  assert.ok(figures.server.requests > 3 && figures.recent.p99 >= figures.recent.p50 && figures.memory.rss > 0)
})

test('GET /debug/memory', async () => {
  const memory = (await (await get('/debug/memory')).json()) as NodeJS.MemoryUsage
  for (const key of ['rss', 'heapTotal', 'heapUsed', 'external', 'arrayBuffers'] as const)
    assert.ok(memory[key] > 0, key)
})
