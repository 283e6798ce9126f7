import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barGroups, bars, judge, startServers, type Verdict } from '../src/bars.ts'
import type { Lane, Sample } from '../src/pair.ts'
import type { StartSample } from '../src/startup.ts'

function samples(lane: Lane, server: string, costs: number[], scenario = 'json'): Sample[] {
  return costs.map((cost, round) => ({
    round,
    lane,
    scenario,
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

function judged(samples: readonly Sample[], starts: readonly StartSample[] = []): Verdict[] {
  return judge({ samples, starts })
}

test('a bar is met when the upper end of the interval is within it', () => {
  const limit = samples('plain', 'limit', [5, 5, 5, 5, 5])
  const native = samples('plain', 'native', [5.7, 5.8, 5.9, 5.8, 5.9])
  const verdicts = judged([...limit, ...native])
  assert.deepEqual(
    verdicts.map(({ bar, met }) => [bar.kind, bar.most, met]),
    [
      ['must', 1.2, true],
      ['goal', 1.12, false],
    ],
  )
})

test('a median within the bar is not enough', () => {
  const limit = samples('plain', 'limit', [5, 5, 5, 5, 5])
  const native = samples('plain', 'native', [5.7, 5.8, 5.8, 5.8, 6.1])
  const [must] = judged([...limit, ...native])
  assert.ok(must && must.measured.median <= 1.2 && must.measured.high > 1.2)
  assert.equal(must.met, false)
})

test('rounds are paired by number, whatever order they were run in', () => {
  const limit = samples('plain', 'limit', [1, 2, 4, 8, 16])
  const native = samples('plain', 'native', [1.1, 2.2, 4.4, 8.8, 17.6]).toReversed()
  const [must] = judged([...native, ...limit])
  assert.ok(must && Math.abs(must.measured.high - 1.1) < 1e-9)
})

test('lanes are apart, and fewer than five rounds judge nothing', () => {
  const five = [1, 1, 1, 1, 1]
  assert.deepEqual(judged([...samples('plain', 'limit', five), ...samples('pipelined', 'native', five)]), [])
  const four = five.slice(1)
  assert.deepEqual(judged([...samples('plain', 'limit', four), ...samples('plain', 'native', four)]), [])
})

test('a difference is paired by round, in µs', () => {
  const base = samples('plain', 'native', [5, 6, 5, 7, 5], 'static')
  const param = samples('plain', 'native', [5.2, 6.2, 5.2, 7.2, 5.2], 'param')
  const verdicts = judged([...base, ...param])
  assert.deepEqual(
    verdicts.map(({ bar, met }) => [bar.kind, bar.most, met]),
    [
      ['must', 0.25, true],
      ['goal', 0.1, false],
    ],
  )
  assert.ok(Math.abs((verdicts[0] as Verdict).measured.median - 0.2) < 1e-9)
})

test('a scenario is judged by its own measurements only', () => {
  const five = [1, 1, 1, 1, 1]
  const users = [...samples('plain', 'native', five, 'users'), ...samples('plain', 'fastify', five)]
  assert.deepEqual(judged(users), [])
})

test('replies that were not 2xx keep no promise', () => {
  const limit = samples('plain', 'limit', [5, 5, 5, 5, 5])
  const native = samples('plain', 'native', [5, 5, 5, 5, 5])
  const refused = native.map((sample) => ({ ...sample, non2xx: sample.round === 4 ? 1 : 0 }))
  assert.ok(judged([...limit, ...native]).every(({ met }) => met))
  assert.ok(judged([...limit, ...refused]).every(({ met }) => !met))
})

test('start and idle memory are judged from ten processes on, in ms and MB', () => {
  const starts = (server: string, ms: number, bytes: number, processes: number): StartSample[] =>
    Array.from({ length: processes }, (_, round) => ({
      round,
      server,
      startMilliseconds: ms + round,
      idleBytes: bytes + round,
    }))
  const run = (processes: number) =>
    judged([], [...starts('node', 70, 45e6, processes), ...starts('native', 90, 44e6, processes)])
  assert.deepEqual(run(9), [])
  assert.deepEqual(
    run(10).map(({ bar, measured, met }) => [bar.quantity, bar.kind, Math.round(measured.high), met]),
    [
      ['start', 'must', 20, true],
      ['start', 'goal', 20, false],
      ['memory', 'must', -1, true],
      ['memory', 'goal', -1, true],
    ],
  )
})

test('--bars measures both sides of every bar', () => {
  const measured = barGroups([]).flatMap(({ lane, sides }) =>
    sides.map(({ label, scenario }) => `${lane} ${label} ${scenario.name}`),
  )
  assert.equal(new Set(measured).size, measured.length)
  for (const { quantity, lane, server, scenario, base, baseScenario } of bars) {
    if (quantity === 'cpu') {
      assert.ok(measured.includes(`${lane} ${server} ${scenario}`))
      assert.ok(measured.includes(`${lane} ${base} ${baseScenario}`))
    } else assert.ok(startServers.includes(server) && startServers[0] === base)
  }
})
