import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Baseline, baselineOf, changes, missing, parseBaseline } from '../src/comparison.ts'
import { type MetricName, metricOf, metrics, written } from '../src/metrics.ts'
import { inventedRun } from './invented-run.ts'

function baseline(metric: MetricName, value: number, noise = 0): Baseline {
  const estimate = { median: value, low: value, high: value }
  return {
    format: 1,
    run: 'of a test',
    commit: null,
    machine: 'none',
    rows: [{ scenario: 'hello', variant: 'default', entry: 'fast', metric, estimate, noise }],
  }
}

function verdict(metric: MetricName, before: number, now: number, noise = 0): string | undefined {
  return changes(baseline(metric, before), baseline(metric, now, noise), 0.1)[0]?.verdict
}

test('every metric has a title, a declared direction and a number of digits', () => {
  for (const [name, { title, direction, digits }] of Object.entries(metrics)) {
    assert.ok(title.length > 0, name)
    assert.ok(['lower', 'higher', 'none'].includes(direction), name)
    assert.ok(Number.isInteger(digits) && digits >= 0 && digits <= 3, name)
  }
  assert.throws(() => metricOf('toString', 'here'), {
    message: /^here: unknown metric toString; /,
    exitCode: 2,
  })
  assert.equal(written('rate', 1234567.8), '1,234,568')
  assert.equal(written('cpu', 12.345), '12.35 µs')
})

test('a change is judged in the direction of its metric', () => {
  for (const [name, { direction }] of Object.entries(metrics) as [MetricName, { direction: string }][]) {
    const [more, less] = direction === 'higher' ? ['better', 'worse'] : ['worse', 'better']
    assert.equal(verdict(name, 100, 150), more, name)
    assert.equal(verdict(name, 100, 60), less, name)
    assert.equal(verdict(name, 100, 105), 'same', name)
  }
  // A faster p99 is better, and more requests/s are.
  assert.equal(verdict('p99', 10, 5), 'better')
  assert.equal(verdict('rate', 10, 5), 'worse')
})

test('it counts beyond the threshold or the noise floor of either run, whichever is larger', () => {
  assert.equal(verdict('cpu', 100, 120), 'worse')
  assert.equal(verdict('cpu', 100, 120, 0.25), 'same')
  assert.equal(changes(baseline('cpu', 100, 0.3), baseline('cpu', 120), 0.1)[0]?.verdict, 'same')
  assert.equal(changes(baseline('cpu', 100, 0.02), baseline('cpu', 120), 0.1)[0]?.allowed, 0.1)
})

test('a value of 0 before is no division by it', () => {
  assert.equal(verdict('errors', 0, 3), 'worse')
  assert.equal(verdict('errors', 0, 0), 'same')
})

test('rows that are no longer there are missing, those of another metric too', () => {
  const before = baseline('cpu', 1)
  assert.deepEqual(missing(before, before), [])
  assert.deepEqual(missing(before, baseline('p99', 1)), before.rows)
  assert.deepEqual(changes(before, baseline('p99', 1), 0.1), [])
})

test('a baseline has what was judged of every entry with figures, and goes through a file unchanged', () => {
  const of = baselineOf(inventedRun())
  const entries = new Set(of.rows.map(({ entry }) => entry))
  assert.ok(entries.has('native') && !entries.has('wrong') && !entries.has('native#2'), [...entries].join())
  assert.ok(of.rows.every(({ metric }) => metrics[metric].direction !== 'none'))
  // A slope near 0 is judged by the most memory.
  const soak = of.rows.filter(({ scenario, entry }) => scenario === 'soak' && entry === 'native')
  assert.deepEqual(soak.map(({ metric }) => metric).toSorted(), ['cpu', 'mostRss'])
  const read = parseBaseline(JSON.stringify(of), 'file')
  assert.deepEqual(read, of)
  assert.ok(changes(of, read, 0.1).every((change) => change.verdict === 'same'))
})
