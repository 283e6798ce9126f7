import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Verdict, barScenarios, bars, judge } from '../src/bars.ts'
import type { Cell } from '../src/cell.ts'
import { readEntries } from '../src/entry.ts'
import { secondsOfAll } from '../src/progress.ts'
import { schedule } from '../src/schedule.ts'
import { shortMethod } from './broken-entry.ts'
import { inventedRun } from './invented-run.ts'

const [some] = inventedRun().cells as [Cell]

function cells(entry: string, costs: readonly number[], scenario = 'ramapi-json', variant = 'plain'): Cell[] {
  return costs.map((cpu, round) => ({ ...some, scenario, variant, entry, round, metrics: { cpu } }))
}

const five = [5, 5, 5, 5, 5]

test('a bar is met when the median and the upper end of the interval are within it', () => {
  const verdicts = judge([...cells('limit', five), ...cells('native', [5.7, 5.8, 5.9, 5.8, 5.9])])
  assert.deepEqual(
    verdicts.map(({ bar, met }) => [bar.kind, bar.most, met]),
    [
      ['must', 1.2, true],
      ['goal', 1.12, false],
    ],
  )
  const [wide] = judge([...cells('limit', five), ...cells('native', [5.7, 5.8, 5.8, 5.8, 6.1])]) as [Verdict]
  assert.ok(wide.measured.median <= 1.2 && wide.measured.high > 1.2)
  assert.equal(wide.met, false)
})

test('rounds are paired by number, whatever order they were run in', () => {
  const native = cells('native', [1.1, 2.2, 4.4, 8.8, 17.6]).toReversed()
  const [must] = judge([...native, ...cells('limit', [1, 2, 4, 8, 16])]) as [Verdict]
  assert.ok(Math.abs(must.measured.high - 1.1) < 1e-9)
})

test('lanes and scenarios are apart, and fewer than five rounds judge nothing', () => {
  const pipelined = cells('native', five, 'ramapi-json', 'pipelined')
  assert.deepEqual(judge([...cells('limit', five), ...pipelined]), [])
  assert.deepEqual(judge([...cells('fastify', five), ...cells('native', five, 'ramapi-user', 'default')]), [])
  const four = five.slice(1)
  assert.deepEqual(judge([...cells('limit', four), ...cells('native', four)]), [])
})

test('a difference is paired by round, in µs', () => {
  const verdicts = judge([
    ...cells('native', [5, 6, 5, 7, 5], 'param', 'static'),
    ...cells('native', [5.2, 6.2, 5.2, 7.2, 5.2], 'param', 'param'),
  ])
  assert.deepEqual(
    verdicts.map(({ bar, met }) => [bar.kind, bar.most, met]),
    [
      ['must', 0.25, true],
      ['goal', 0.1, false],
    ],
  )
})

test('what two variants add to a third is paired by round, as a ratio', () => {
  const verdicts = (hs256: readonly number[]) =>
    judge([
      ...cells('native', [5, 6, 5, 7, 5], 'jwt', 'none'),
      ...cells('native', [15, 16, 15, 17, 15], 'jwt', 'crypto'),
      ...cells('native', hs256, 'jwt', 'hs256'),
    ])
  const [met] = verdicts([16, 17, 17, 18, 16]) as [Verdict]
  assert.deepEqual([met.bar.most, met.measured.median, met.measured.high, met.met], [1.2, 1.1, 1.2, true])
  const [missed] = verdicts([16, 17, 18, 18, 16]) as [Verdict]
  assert.deepEqual([missed.measured.high, missed.met], [1.3, false])
  assert.deepEqual(judge(cells('native', five, 'jwt', 'hs256')), [])
})

test('a server that was disqualified in one round keeps no promise', () => {
  const wrong = cells('native', [...five, 5]).map((cell): Cell =>
    cell.round === 5 ? { ...cell, status: 'disqualified', metrics: {} } : cell,
  )
  assert.deepEqual(judge([...cells('limit', [...five, 5]), ...wrong]), [])
})

test('messages, deliveries and the memory of sockets have units of their own', () => {
  const of = (entry: string, values: readonly number[], scenario: string, variant: string, name: string) =>
    cells(entry, values, scenario, variant).map((cell, index) => ({
      ...cell,
      metrics: { [name]: values[index] },
    }))
  const judged = (verdicts: readonly Verdict[]) =>
    verdicts.map(({ bar, measured, met }) => [bar.quantity, bar.base, bar.most, measured.median, met])
  const echo = ['ws-echo', '128 B', 'messageCpu'] as const
  assert.deepEqual(
    judged(
      judge([
        ...of('native', [5, 5, 5, 5, 5], ...echo),
        ...of('uws', [5, 5, 5, 5, 4], ...echo),
        ...of('ws', [10, 10, 10, 10, 10], ...echo),
      ]),
    ),
    [
      ['messageCpu', 'uws', 1, 1, false],
      ['messageCpu', 'ws', 0.55, 0.5, true],
    ],
  )
  const publish = ['ws-publish', '10000 subscribers', 'deliveryCpu'] as const
  assert.deepEqual(judged(judge([...of('native', five, ...publish), ...of('uws', five, ...publish)])), [
    ['deliveryCpu', 'uws', 1, 1, true],
  ])
  // No rival: the value itself is judged.
  const held = (values: readonly number[]) =>
    judged(judge(of('native', values, 'ws-idle', 'default', 'socketMemory')))
  assert.deepEqual(held([1_400, 1_500, 1_450, 1_500, 1_300]), [
    ['socketMemory', 'native', 1_500, 1_450, true],
  ])
  assert.deepEqual(held([1_400, 1_501, 1_450, 1_500, 1_300]), [
    ['socketMemory', 'native', 1_500, 1_450, false],
  ])
  // CPU time of a request is none of a message.
  assert.deepEqual(judge([...cells('native', five, 'ws-echo', '128 B'), ...of('uws', five, ...echo)]), [])
})

test('start and idle memory are judged from ten processes on', () => {
  const starts = (processes: number) =>
    judge(
      (['node', 'native'] as const).flatMap((entry) =>
        cells(entry, Array(processes).fill(0) as number[], 'veloze-startup', 'default').map((cell) => ({
          ...cell,
          metrics: entry === 'node' ? { start: 70, idleRss: 45 } : { start: 90, idleRss: 44 },
        })),
      ),
    )
  assert.deepEqual(starts(9), [])
  assert.deepEqual(
    starts(10).map(({ bar, measured, met }) => [bar.quantity, bar.kind, measured.median, met]),
    [
      ['start', 'must', 20, true],
      ['start', 'goal', 20, false],
      ['idleRss', 'must', -1, true],
      ['idleRss', 'goal', -1, true],
    ],
  )
})

test('--bars measures both sides of every bar, once each', () => {
  const chosen = barScenarios(readEntries(), [])
  const tasks = schedule(chosen, 7, 1)
  const measured = tasks
    .filter(({ round }) => round === 0)
    .map(({ scenario, variant, label }) => `${scenario.name} ${variant.name} ${label}`)
  assert.equal(new Set(measured).size, measured.length)
  for (const { scenario, variant, server, base, baseVariant, over } of bars) {
    const sides = [`${variant} ${server}`, `${baseVariant} ${base}`]
    if (over !== undefined) sides.push(`${over} ${server}`, `${over} ${base}`)
    for (const side of sides) assert.ok(measured.includes(`${scenario} ${side}`), `${scenario} ${side}`)
  }
  // Seven rounds are enough for everything but what is read once for each process.
  const rounds = (name: string) =>
    new Set(tasks.filter((task) => task.scenario.name === name).map((task) => task.round)).size
  assert.deepEqual([rounds('ramapi-json'), rounds('veloze-startup')], [7, 10])
  const seconds = secondsOfAll(tasks, { ...shortMethod, warmup: 0.8, window: 1 })
  assert.ok(seconds < 20 * 60, `${seconds} s`)
})
