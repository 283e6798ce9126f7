import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagsOf, handlersFault, littleFault, slopeOf, windowFault } from '../src/guards.ts'

/** 100 connections for 10 s. */
const zap = { requests: 1_642_000, seconds: 10, worst: null }

test("Little's law: 164,200 requests/s and 530.38 ms are not of 100 connections", () => {
  const { share, fault } = littleFault({ ...zap, mean: 530.38 }, 100)
  assert.ok(share !== null && Math.abs(share - 870.9) < 0.1, String(share))
  assert.match(
    String(fault),
    /requests\/s times mean latency is 87088\.4 requests in flight, and there were 100$/,
  )
})

test("Little's law: what was meant as µs is off too, and the right latency is not", () => {
  assert.notEqual(littleFault({ ...zap, mean: 0.53038 }, 100).fault, null)
  assert.equal(littleFault({ ...zap, mean: 0.609 }, 100).fault, null)
})

test("Little's law: 5 % are allowed, and what the longest latency explains at the edges", () => {
  const many = { requests: 1e6, seconds: 10, worst: 0 }
  assert.equal(littleFault({ ...many, mean: 0.952 }, 100).fault, null)
  assert.notEqual(littleFault({ ...many, mean: 0.94 }, 100).fault, null)
  // One of 0.5 s in 10 s: a twentieth more.
  assert.equal(littleFault({ ...many, mean: 0.91, worst: 500 }, 100).fault, null)
  assert.notEqual(littleFault({ ...many, mean: 0.89, worst: 500 }, 100).fault, null)
  // However long the longest is, a tenth is the most.
  assert.equal(littleFault({ ...many, mean: 0.86, worst: 60_000 }, 100).fault, null)
  assert.notEqual(littleFault({ ...many, mean: 0.84, worst: 60_000 }, 100).fault, null)
})

test("Little's law: without a longest latency, two edges of what is in flight", () => {
  const few = { requests: 1_000, seconds: 1, worst: null }
  assert.equal(littleFault({ ...few, mean: 86 }, 100).fault, null)
  assert.notEqual(littleFault({ ...few, mean: 84 }, 100).fault, null)
})

test("Little's law: what was not measured is not judged", () => {
  assert.deepEqual(littleFault({ ...zap, mean: null }, 100), { share: null, fault: null })
  assert.deepEqual(littleFault({ requests: 0, seconds: 1, mean: 1, worst: 1 }, 100), {
    share: null,
    fault: null,
  })
})

test('a core under 95 % busy is generator-bound, unless it was taken by others', () => {
  assert.deepEqual(flagsOf({ busy: 0.95, waited: 0 }), [])
  assert.deepEqual(flagsOf({ busy: 0.949, waited: 0.049 }), ['generator-bound'])
  assert.deepEqual(flagsOf({ busy: 0.9, waited: 0.08 }), ['disturbed'])
  assert.deepEqual(flagsOf({ busy: 0.5, waited: 0.05 }), ['disturbed', 'generator-bound'])
  assert.deepEqual(flagsOf({ busy: 1, waited: 0.3 }), ['disturbed'])
})

test('CPU time of another span than the window is not that of its requests', () => {
  assert.equal(windowFault(1.049, 1), null)
  assert.equal(windowFault(0.951, 1), null)
  assert.equal(windowFault(1.06, 1), 'CPU time is that of 1.06 s, and the window was 1 s')
  assert.equal(windowFault(1.4, 1.5), 'CPU time is that of 1.40 s, and the window was 1.5 s')
})

test('handlers run as often as replies came, with those in flight at the end', () => {
  const missing = 'its handlers ran 99 times for 100 replies: it answers without them'
  assert.equal(handlersFault(99, { replies: 100 }), missing)
  assert.equal(handlersFault(99, { replies: 1, handled: 100 }), missing)
  assert.equal(handlersFault(1_000, { replies: 100 }), null)
  assert.equal(handlersFault(150, { replies: 100, handledAtMost: 150 }), null)
  assert.equal(
    handlersFault(151, { replies: 100, handledAtMost: 150 }),
    'its handlers ran 151 times, and what came has the bytes of 100 replies: they are too short',
  )
})

test('the slope is that of the line of least squares', () => {
  assert.equal(
    slopeOf([
      [0, 0],
      [1, 1],
    ]),
    null,
  )
  assert.equal(
    slopeOf([
      [1, 0],
      [1, 1],
      [1, 2],
    ]),
    null,
  )
  assert.equal(
    slopeOf([
      [0, 5],
      [1, 7],
      [2, 9],
    ]),
    2,
  )
  assert.equal(
    slopeOf([
      [0, 5],
      [1, 5],
      [2, 5],
    ]),
    0,
  )
  const uneven = slopeOf([
    [0, 0],
    [1, 3],
    [2, 3],
    [3, 6],
  ])
  assert.ok(uneven !== null && Math.abs(uneven - 1.8) < 1e-9)
})
