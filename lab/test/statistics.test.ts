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

test('the interval of many values is close to the exact one of order statistics', () => {
  const values = Array.from({ length: 101 }, (_, index) => (index * 37) % 101)
  const { low, high } = interval(values)
  // Binomial(101, 0.5): 40 to 60 holds 95 % of the positions of the true median.
  assert.ok(low >= 37 && low <= 43, String(low))
  assert.ok(high >= 57 && high <= 63, String(high))
})

test('the interval is the same on every run', () => {
  const values = [1.31, 1.27, 1.4, 1.22, 1.36, 1.29, 1.33]
  assert.deepEqual(interval(values), interval(values))
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
