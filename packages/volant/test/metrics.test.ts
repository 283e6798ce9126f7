import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopLag, watchEventLoop } from '../src/plugins/event-loop.ts'
import { Latency } from '../src/plugins/latency.ts'
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
  const samples = watchEventLoop()
  await eventually(() => samples.count > 0, 'a first sample')
  const until = performance.now() + 150
  while (performance.now() < until);
  await eventually(() => eventLoopLag().max > 100, 'a sample that was late')
  const { p50, p99, max } = eventLoopLag()
  assert.ok(p50 <= p99 && p99 <= max)
})
