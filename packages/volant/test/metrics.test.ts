import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import type * as EventLoop from '../src/plugins/event-loop.ts'
import { Latency } from '../src/plugins/latency.ts'
import { exposition } from '../src/plugins/prometheus.ts'
import { eventually } from './kit.ts'

test('a quantile is never too low, and at most an eighth and a microsecond too high', () => {
  for (let duration = 0; duration < 2e6; duration = duration * 1.013 + 0.0005) {
    const latency = new Latency()
    latency.add(duration)
    const { p50, p95, p99 } = latency.quantiles()
    assert.ok(p50 !== null && p50 >= duration && p50 <= duration * 1.125 + 0.0011, `${duration}: ${p50}`)
    assert.deepEqual([p95, p99], [p50, p50])
  }
})

test('durations that cannot be are counted as the shortest and the longest', () => {
  const latency = new Latency()
  for (const duration of [0, 1e12, Infinity]) latency.add(duration)
  assert.equal(latency.total, 3)
  const { p50, p99 } = latency.quantiles()
  assert.deepEqual([p50, p99], [2 ** 31 / 1e3, 2 ** 31 / 1e3])
})

test('quantiles by rank', () => {
  const latency = new Latency()
  assert.deepEqual(latency.quantiles(), { p50: null, p95: null, p99: null })
  for (let count = 0; count < 90; count++) latency.add(1)
  for (let count = 0; count < 8; count++) latency.add(10)
  for (let count = 0; count < 2; count++) latency.add(100)
  const { p50, p95, p99 } = latency.quantiles() as { p50: number; p95: number; p99: number }
  assert.deepEqual([Math.floor(p50), Math.floor(p95 / 10), Math.floor(p99 / 100)], [1, 1, 1])
})

test('recent requests: the last two to four seconds for those who ask every second', () => {
  let now = 0
  const latency = new Latency(() => now)
  const rates: number[] = []
  // One request in the first second, two in the second, …
  for (let second = 1; second <= 6; second++) {
    for (let count = 0; count < second; count++) latency.add(second)
    now += 1_000
    const { seconds, requests, rate } = latency.recent()
    assert.ok(seconds <= 4)
    assert.equal(rate, requests / seconds)
    rates.push(requests)
  }
  assert.deepEqual(rates, [1, 3, 6, 7, 12, 11])
  now += 10_000
  assert.deepEqual(latency.recent(), { seconds: 10, requests: 0, rate: 0, p50: null, p95: null, p99: null })
})

test('a blocked event loop is late', async () => {
  // A module of its own has not been asked before, and its first figure is not one of five seconds ago.
  const url = new URL('../src/plugins/event-loop.js?own', import.meta.url)
  const { eventLoopLag, watchEventLoop } = (await import(url.href)) as typeof EventLoop
  const samples = watchEventLoop()
  await eventually(() => {
    spawnSync(process.execPath, ['--eval', ''])
    return samples.count > 0
  }, 'a timer of Node.js that is late')
  // The figure of Node.js includes the 20 ms that it meant to wait.
  const late = (ns: number) => Math.max(0, ns / 1e6 - 20)
  const expected = {
    p50: late(samples.percentile(50)),
    p99: late(samples.percentile(99)),
    max: late(samples.max),
  }
  const lag = eventLoopLag()
  samples.disable()
  assert.deepEqual(lag, expected)
  assert.ok(lag.p50 <= lag.p99 && lag.p99 <= lag.max && lag.max > 0)
})

test('the text without a supervisor has no label and no figure of workers', () => {
  const text = exposition(
    {
      uptime: 1,
      requests: 3,
      recent: { seconds: 2, requests: 1, rate: 0.5, p50: 1, p95: 1, p99: 1 },
      latency: { p50: 1, p95: 1, p99: 1 },
      server: { connections: 1, inFlight: 2, requests: 3, refused: 4, sockets: 5 },
      memory: { rss: 10, heapTotal: 20, heapUsed: 30, external: 40, arrayBuffers: 50 },
      cpu: { user: 1.5, system: 0.25 },
      eventLoopLag: { p50: 1, p99: 2, max: 3 },
      routes: [{ route: '/x', method: 'GET', status: '2xx', count: 3, seconds: 0.75, buckets: [1, 2] }],
    },
    [0.5],
  )
  const lines = text.split('\n').filter((line) => !line.startsWith('# HELP'))
  assert.deepEqual(
    lines.map((line) => line.replace(/^(process_start_time_seconds) [\d.]+$/, '$1 NOW')),
    [
      '# TYPE http_request_duration_seconds histogram',
      'http_request_duration_seconds_bucket{method="GET",route="/x",status="2xx",le="0.5"} 1',
      'http_request_duration_seconds_bucket{method="GET",route="/x",status="2xx",le="+Inf"} 3',
      'http_request_duration_seconds_sum{method="GET",route="/x",status="2xx"} 0.75',
      'http_request_duration_seconds_count{method="GET",route="/x",status="2xx"} 3',
      '# TYPE http_connections gauge',
      'http_connections 1',
      '# TYPE http_requests_in_flight gauge',
      'http_requests_in_flight 2',
      '# TYPE http_websockets gauge',
      'http_websockets 5',
      '# TYPE http_requests_total counter',
      'http_requests_total 3',
      '# TYPE http_requests_refused_total counter',
      'http_requests_refused_total 4',
      '# TYPE process_cpu_user_seconds_total counter',
      'process_cpu_user_seconds_total 1.5',
      '# TYPE process_cpu_system_seconds_total counter',
      'process_cpu_system_seconds_total 0.25',
      '# TYPE process_cpu_seconds_total counter',
      'process_cpu_seconds_total 1.75',
      '# TYPE process_start_time_seconds gauge',
      'process_start_time_seconds NOW',
      '# TYPE process_resident_memory_bytes gauge',
      'process_resident_memory_bytes 10',
      '# TYPE nodejs_heap_size_total_bytes gauge',
      'nodejs_heap_size_total_bytes 20',
      '# TYPE nodejs_heap_size_used_bytes gauge',
      'nodejs_heap_size_used_bytes 30',
      '# TYPE nodejs_external_memory_bytes gauge',
      'nodejs_external_memory_bytes 40',
      '# TYPE nodejs_eventloop_lag_p50_seconds gauge',
      'nodejs_eventloop_lag_p50_seconds 0.001',
      '# TYPE nodejs_eventloop_lag_p99_seconds gauge',
      'nodejs_eventloop_lag_p99_seconds 0.002',
      '# TYPE nodejs_eventloop_lag_max_seconds gauge',
      'nodejs_eventloop_lag_max_seconds 0.003',
      '# TYPE nodejs_version_info gauge',
      `nodejs_version_info{version="${process.version}"} 1`,
      '',
    ],
  )
})
