import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interval, median, pairedRatio, summarize } from '../src/statistics.ts'

test('the median is the middle value, or the mean of the middle two', () => {
  assert.equal(median([3]), 3)
  assert.equal(median([10, 1, 2]), 2)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([100, 9, 20]), 20, 'numbers are not ordered as text')
  assert.throws(() => median([]), RangeError)
})

test('the input keeps its order', () => {
  const values = [3, 1, 2]
  summarize(values)
  assert.deepEqual(values, [3, 1, 2])
})

test('the interval of five values is their range', () => {
  assert.deepEqual(interval([5, 1, 4, 2, 3]), { low: 1, high: 5 })
})

test('the interval of equal values is empty', () => {
  assert.deepEqual(interval([7, 7, 7, 7, 7, 7]), { low: 7, high: 7 })
})

test('up to eight values the interval is their range, then the ends are left out that 95 % do not need', () => {
  // Binomial(n, 0.5): the pair of order statistics that holds the true median in 95 % of runs or more.
  const cases: [number, number][] = [
    [1, 0],
    [2, 0],
    [7, 0],
    [8, 0],
    [9, 1],
    [11, 1],
    [12, 2],
    [15, 3],
    [20, 5],
    [101, 40],
  ]
  for (const [count, outside] of cases) {
    const values = Array.from({ length: count }, (_, index) => (index * 37) % count)
    const sorted = values.toSorted((a, b) => a - b)
    assert.deepEqual(
      interval(values),
      { low: sorted[outside], high: sorted[count - 1 - outside] },
      `${count} values`,
    )
  }
})

test('a paired ratio removes what a whole round had in common', () => {
  const base = [1, 2, 4, 8, 16]
  const twice = base.map((value) => value * 2)
  assert.deepEqual(pairedRatio(twice, base), { median: 2, low: 2, high: 2 })
  assert.throws(() => pairedRatio([1, 2], [1]), RangeError)
})

test('a paired ratio is the median of ratios, not the ratio of medians', () => {
  assert.equal(pairedRatio([1, 10, 3], [1, 2, 6]).median, 1)
})
