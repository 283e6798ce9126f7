import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Results, type Table, isTie, tables } from '../src/analysis.ts'
import type { Cell } from '../src/cell.ts'
import { inventedRun } from './invented-run.ts'

const { run, cells: invented } = inventedRun()

/** One scenario of a run, each entry with the CPU µs of its rounds. */
function tableOf(costs: Record<string, readonly number[]>, change = (cell: Cell): Cell => cell): Table {
  const cells = Object.entries(costs).flatMap(([entry, values]) =>
    values.map((cpu, round) =>
      change({
        ...(invented[0] as Cell),
        scenario: 'hello',
        variant: 'default',
        entry,
        round,
        metrics: { cpu },
      }),
    ),
  )
  const results: Results = { run: { ...run, scenarios: run.scenarios.slice(0, 1) }, cells }
  return tables(results)[0] as Table
}

const rowOf = (table: Table, label: string) => {
  const row = table.rows.find((one) => one.label === label)
  assert.ok(row, label)
  return row
}

test('ratios are paired by round: what disturbed a whole round cancels out', () => {
  const table = tableOf({
    native: [1, 2, 4, 8, 16],
    slow: [2, 4, 8, 16, 32],
    fast: [0.9, 1.8, 3.6, 7.2, 14.4],
  })
  assert.equal(table.base, 'native')
  assert.equal(rowOf(table, 'native').ratio, null)
  assert.deepEqual(rowOf(table, 'slow').ratio, { median: 2, low: 2, high: 2 })
  assert.ok(Math.abs(Number(rowOf(table, 'fast').ratio?.high) - 0.9) < 1e-9)
  assert.deepEqual(
    table.rows.map(({ label }) => label),
    ['fast', 'native', 'slow'],
  )
})

test('a round that one of the two lacks is no pair', () => {
  const table = tableOf({ native: [1, 1, 1], slow: [2, 2, 50] }, (cell) =>
    cell.entry === 'native' && cell.round === 2
      ? { ...cell, status: 'discarded', reason: "Little's law", metrics: { cpu: 1 } }
      : cell,
  )
  assert.deepEqual(rowOf(table, 'slow').ratio, { median: 2, low: 2, high: 2 })
  const native = rowOf(table, 'native')
  assert.deepEqual([native.rounds, native.discarded, native.problem], [2, 1, null])
})

test('the noise is how far an entry is from itself, and what is within it is a tie', () => {
  const table = tableOf({
    native: [10, 10, 10, 10, 10],
    'native#2': [10.4, 10.5, 9.8, 10.2, 10.1],
    fast: [9.6, 9.6, 9.6, 9.6, 9.6],
    slow: [12, 12, 12, 12, 12],
  })
  assert.ok(table.noise !== null && table.noise > 0.02 && table.noise <= 0.051, String(table.noise))
  assert.equal(rowOf(table, 'fast').tie, true)
  assert.equal(rowOf(table, 'slow').tie, false)
  assert.ok(!table.rows.some(({ label }) => label.endsWith('#2')), 'the second measurement has no row')
})

test('an interval that holds 1 is a tie without any noise', () => {
  assert.equal(isTie({ median: 1.2, low: 0.99, high: 1.4 }, null), true)
  assert.equal(isTie({ median: 1.2, low: 1.01, high: 1.4 }, null), false)
  assert.equal(isTie({ median: 1.2, low: 1.19, high: 1.21 }, 0.2), true)
  assert.equal(isTie({ median: 0.79, low: 0.78, high: 0.8 }, 0.2), false)
})

test('disqualified in one round: no figures in any, and the row says why', () => {
  const table = tableOf({ native: [1, 1, 1], fast: [0.5, 0.5, 0.5] }, (cell) =>
    cell.entry === 'fast' && cell.round === 1
      ? { ...cell, status: 'disqualified', reason: '7 replies with another status', metrics: {} }
      : cell,
  )
  const fast = rowOf(table, 'fast')
  assert.deepEqual(fast.estimates, {})
  assert.deepEqual([fast.ratio, fast.tie], [null, false])
  assert.equal(fast.problem, 'disqualified: 7 replies with another status')
  assert.equal(table.rows.at(-1), fast, 'it is last')
})

test('failed in one round: the figures of the others, and the row says why; discarded in all: none', () => {
  const table = tableOf({ native: [1, 1, 1], slow: [2, 2, 2], fast: [3, 3, 3] }, (cell) => {
    if (cell.entry === 'slow' && cell.round === 0)
      return { ...cell, status: 'failed', reason: 'it died', metrics: {} }
    return cell.entry === 'fast'
      ? { ...cell, status: 'discarded', reason: 'in flight', metrics: { cpu: 1 } }
      : cell
  })
  const slow = rowOf(table, 'slow')
  assert.deepEqual([slow.rounds, slow.problem, slow.estimates.cpu?.median], [2, 'failed: it died', 2])
  const fast = rowOf(table, 'fast')
  assert.deepEqual([fast.problem, fast.estimates], ['discarded: in flight', {}])
})

test('a flag is of the row when most of its cells have it', () => {
  const flagged = (rounds: number) =>
    rowOf(
      tableOf({ native: [1, 1, 1, 1] }, (cell) => ({
        ...cell,
        flags: cell.round < rounds ? ['generator-bound'] : [],
      })),
      'native',
    ).flags
  assert.deepEqual(flagged(2), [])
  assert.deepEqual(flagged(3), ['generator-bound'])
})

test('without native the first with figures is the base', () => {
  const table = tableOf({ wrong: [1], slow: [4], fast: [2] }, (cell) =>
    cell.entry === 'wrong' ? { ...cell, status: 'disqualified', metrics: {} } : cell,
  )
  assert.equal(table.base, 'slow')
  assert.equal(rowOf(table, 'fast').ratio?.median, 0.5)
})
