import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barLines, barMarkdown, barText, unjudgedLines } from '../src/bar-table.ts'
import { type Verdict, allKept, barScenarios, bars, judge, unjudged } from '../src/bars.ts'
import type { Cell } from '../src/cell.ts'
import { readEntries } from '../src/entry.ts'
import { secondsOfAll } from '../src/progress.ts'
import { schedule } from '../src/schedule.ts'
import { shortMethod } from './broken-entry.ts'
import { styleFor } from '../src/style.ts'
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

test('a promise that was to be measured and has no verdict is not kept, and says why', () => {
  const chosen = barScenarios(readEntries(), []).filter(({ scenario }) => scenario.name === 'tls-json')
  const tls = (changed: (cell: Cell) => Cell, rivals = ['node', 'bun']): Cell[] =>
    [
      ...cells('native', [5, 5, 5, 5, 5], 'tls-json', 'plain'),
      ...cells('native', [6, 6, 6, 6, 6], 'tls-json', 'tls'),
      ...rivals.flatMap((entry) => cells(entry, [20, 20, 20, 20, 20], 'tls-json', 'tls')),
    ].map(changed)
  const said = (found: readonly Cell[]) => unjudgedLines(unjudged(found, chosen), styleFor(false))
  const whole = tls((cell) => cell)
  assert.deepEqual([allKept(whole, chosen), said(whole)], [true, []])

  const wrong = tls((cell): Cell =>
    cell.entry === 'bun' && cell.round === 2
      ? { ...cell, status: 'disqualified', reason: 'another body', metrics: {} }
      : cell,
  )
  assert.equal(allKept(wrong, chosen), false)
  assert.deepEqual(said(wrong), [
    'not judged  must  native ≤ 0.80 × bun, tls-json:tls, CPU per request: bun (tls) disqualified: another body',
  ])

  const short = tls((cell): Cell =>
    cell.entry === 'node' && cell.round > 2
      ? { ...cell, status: 'discarded', reason: 'a clock that stood', metrics: {} }
      : cell,
  )
  assert.equal(allKept(short, chosen), false)
  assert.deepEqual(said(short), [
    'not judged  must  native ≤ 0.60 × node, tls-json:tls, CPU per request: 3 of 5 rounds; node (tls) discarded: a clock that stood',
  ])

  const absent = tls((cell) => cell, ['node'])
  assert.equal(allKept(absent, chosen), false)
  assert.match(said(absent).join('\n'), /^not judged .* bun, .*: 0 of 5 rounds$/)
  // A server that was not to be measured is not required.
  const without = chosen.map((one) => ({ ...one, entries: one.entries.filter(({ name }) => name !== 'bun') }))
  assert.deepEqual([allKept(absent, without), unjudged(absent, without)], [true, []])
  assert.equal(allKept([], []), false)
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

test('a row says how busy both sides were, and marks a base that waited for the generator', () => {
  const of = (entry: string, busy: number, bound: readonly number[]): Cell[] =>
    cells(entry, [5, 5, 5, 5, 5], 'ramapi-user', 'default').map((cell): Cell => ({
      ...cell,
      metrics: { ...cell.metrics, busy },
      flags: bound.includes(cell.round) ? ['generator-bound'] : [],
    }))
  const lines = (found: readonly Cell[]) => barLines(found, 5, styleFor(false)).slice(1)
  const most = lines([...of('native', 99, [0]), ...of('fastify', 62, [0, 2, 4])])
  assert.match(most[0] as string, / core busy, %$/)
  assert.match(most[1] as string, /^missed .* ramapi-user, CPU per request .* 99 \/ \*62$/)
  assert.match(
    most[2] as string,
    /^\* generator-bound in most rounds: .* favours the bar where it is the base$/,
  )
  const few = lines([...of('native', 99, []), ...of('fastify', 97, [0, 2])])
  assert.match(few[1] as string, / 99 \/ 97$/)
  assert.equal(few.length, 2)
  // Published tables keep their columns, so they have no column for the busy share.
  assert.doesNotMatch(
    barMarkdown([...of('native', 99, []), ...of('fastify', 62, [0, 2, 4])]).join(),
    /62|busy/,
  )
})

test('every bar has a text of its own, with the variant unless it is the usual one', () => {
  const texts = bars.map((bar) => barText(bar).join(', '))
  assert.deepEqual(
    texts.filter((text, index) => texts.indexOf(text) !== index),
    [],
  )
  const told = (wanted: string, kind = 'must') =>
    bars
      .filter(({ scenario, base, kind: own }) => `${scenario} ${base}` === wanted && own === kind)
      .map((bar) => barText(bar))
  assert.deepEqual(told('http2-json nghttpd'), [
    ['native ≤ 1.00 × nghttpd', 'http2-json:h2c, 100 streams, CPU per request'],
    ['native ≤ 1.00 × nghttpd', 'http2-json:TLS, 100 streams, CPU per request'],
  ])
  assert.deepEqual(told('http2-json native').at(-1), [
    'TLS, 100 streams ≤ 2.00 × HTTP/1.1, 10 pipelined',
    'native, http2-json, CPU per request',
  ])
  assert.deepEqual(told('ramapi-json limit', 'goal'), [
    ['native ≤ 1.12 × limit', 'ramapi-json, CPU per request'],
    ['native ≤ 1.70 × limit', 'ramapi-json, pipelining 10'],
  ])
})

test('what is compared on one server goes first in every second round', () => {
  const tasks = schedule(barScenarios(readEntries(), []), 4, 1)
  for (const { scenario, variant, server, base, baseVariant } of bars) {
    if (server !== base || variant === baseVariant) continue
    const firsts = [0, 1, 2, 3].map(
      (round) =>
        tasks.find(
          (task) =>
            task.round === round &&
            task.scenario.name === scenario &&
            task.label === server &&
            [variant, baseVariant].includes(task.variant.name),
        )?.variant.name,
    )
    assert.equal(new Set(firsts).size, 2, `${scenario}: ${firsts.join()}`)
  }
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
  assert.ok(seconds < 25 * 60, `${seconds} s`)
})
