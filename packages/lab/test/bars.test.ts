import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barServers, bars, judge } from '../src/bars.ts'
import type { Lane, Sample } from '../src/pair.ts'

function samples(lane: Lane, server: string, costs: number[]): Sample[] {
  return costs.map((cost, round) => ({
    round,
    lane,
    server,
    cpuMicrosecondsPerRequest: cost,
    cpuSeconds: 1,
    busy: 1,
    waited: 0,
    requests: 1,
    seconds: 1,
    requestsPerSecond: 1,
    p50Microseconds: 1,
    p99Microseconds: 1,
    memoryBytes: 1,
    non2xx: 0,
    socketErrors: 0,
    replyBytes: 1,
  }))
}

test('a bar is met when the upper end of the interval is within it', () => {
  const limit = samples('plain', 'limit', [5, 5, 5, 5, 5])
  const native = samples('plain', 'native', [5.7, 5.8, 5.9, 5.8, 5.9])
  const verdicts = judge([...limit, ...native])
  assert.deepEqual(
    verdicts.map(({ bar, met }) => [bar.kind, bar.ratio, met]),
    [
      ['must', 1.2, true],
      ['goal', 1.12, false],
    ],
  )
})

test('a median within the bar is not enough', () => {
  const limit = samples('plain', 'limit', [5, 5, 5, 5, 5])
  const native = samples('plain', 'native', [5.7, 5.8, 5.8, 5.8, 6.1])
  const [must] = judge([...limit, ...native])
  assert.ok(must && must.measured.median <= 1.2 && must.measured.high > 1.2)
  assert.equal(must.met, false)
})

test('rounds are paired by number, whatever order they were run in', () => {
  const limit = samples('plain', 'limit', [1, 2, 4, 8, 16])
  const native = samples('plain', 'native', [1.1, 2.2, 4.4, 8.8, 17.6]).toReversed()
  const [must] = judge([...native, ...limit])
  assert.ok(must && Math.abs(must.measured.high - 1.1) < 1e-9)
})

test('lanes are apart, and fewer than five rounds judge nothing', () => {
  const five = [1, 1, 1, 1, 1]
  assert.deepEqual(judge([...samples('plain', 'limit', five), ...samples('pipelined', 'native', five)]), [])
  const four = five.slice(1)
  assert.deepEqual(judge([...samples('plain', 'limit', four), ...samples('plain', 'native', four)]), [])
})

test('--bars runs every server a promise needs', () => {
  for (const { server, base, kind } of bars) {
    if (kind === 'must') assert.ok(barServers.includes(server) && barServers.includes(base))
  }
})
