import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type LoadResult } from '../src/generators/generator.ts'
import { runLoad } from '../src/generators/load.ts'
import { measure } from '../src/measures/index.ts'
import { isWithin } from '../src/measures/open-loop.ts'
import { scenarioOf } from '../src/scenario.ts'
import { startServer } from '../src/server.ts'
import { assignment, entryRunning, measured, skip } from './broken-entry.ts'

/** ms; once in each run. */
const stall = 200

async function loaded(rate: number | null): Promise<LoadResult> {
  const [variant] = scenarioOf('ramapi-json').variants
  const entry = entryRunning('stalled', { STALL: String(stall), AFTER: '400' })
  const server = await startServer({ entry, program: 'hello', core: null, port: 0 })
  try {
    return await runLoad({
      load: { ...variant!.measure.load, connections: 5, warmup: 0 },
      port: server.port,
      seconds: 1,
      rate,
      core: null,
    })
  } finally {
    await server.stop()
  }
}

let [open, closed]: (LoadResult | null)[] = [null, null]

before(async () => {
  if (skip) return
  open = await loaded(1_000)
  closed = await loaded(null)
})

test('an open loop shows a stall in the latency of all who were due meanwhile', { skip }, () => {
  const { p95, worst, fault, requests, unfinished } = open as LoadResult
  assert.equal(fault, null)
  // All that were due in the second, a busy machine or not: answered, or waiting at its end.
  assert.ok(requests + unfinished > 950, `${requests} and ${unfinished}`)
  // A fifth of the window's requests were due while nothing moved: 1 in 20 waited three quarters of it.
  assert.ok(Number(p95) >= stall / 2, `p95 ${p95} ms`)
  assert.ok(Number(worst) >= stall * 0.95, `longest ${worst} ms`)
})

test('a closed loop hides it: one request of each connection is late', { skip }, () => {
  const { histogram, worst, requests } = closed as LoadResult
  const late = (histogram ?? []).reduce((sum, [from, count]) => sum + (from >= stall * 900 ? count : 0), 0)
  assert.ok(Number(worst) >= stall * 0.95, `longest ${worst} ms`)
  assert.ok(late >= 1 && late * 10 < requests, `${late} of ${requests}`)
})

test('the curve has a point for each share, offered what it says', { skip }, async () => {
  const { status, reason, series, metrics } = await measured(entryRunning('honest'), 'curve', { warmup: 1 })
  // On a busy machine the generator gets its turn too late, says so, and the cell is discarded with its points.
  if (status !== 'discarded') assert.equal(status, 'measured', String(reason))
  else assert.match(String(reason), /^the generator sent \d+ of \d+ requests late/)
  const curve = series?.curve ?? []
  assert.deepEqual(
    curve.map(({ share, offered }) => [share, offered]),
    [0.5, 0.9].map((share) => [share, Math.round(Number(metrics.capacity) * share)]),
  )
  assert.ok(curve.every(({ p50, p99, p999 }) => p50 > 0 && p99 >= p50 && p999 >= p99))
  const [half] = curve
  // A short window may answer what was due before it, or on a busy machine only a part.
  assert.ok(half !== undefined && half.answered > 0 && half.answered < half.offered * 3, JSON.stringify(half))
})

test('the highest rate and goodput stay within what was offered', { skip }, async () => {
  const highest = await measured(entryRunning('honest'), 'highest', { warmup: 1 })
  assert.equal(highest.status, 'measured', String(highest.reason))
  const { highest: found, capacity } = highest.metrics
  // On a busy machine no rate may be within the limit, and in overload no reply: 0 is what they are then.
  assert.ok(Number(found) >= 0 && Number(found) <= Number(capacity), `${found} of ${capacity}`)
  const overload = await measured(entryRunning('honest'), 'overload', { warmup: 1 })
  assert.equal(overload.status, 'measured', String(overload.reason))
  const { goodput, goodputShare } = overload.metrics
  // Twice the capacity is offered; the window also answers what was left of the time before it.
  assert.ok(Number(goodput) >= 0 && Number(goodputShare) < 300, `${goodput}, ${goodputShare} %`)
})

test('an open loop at one rate tells what a request costs a server that is not full', { skip }, async () => {
  const given = { ...assignment(entryRunning('honest'), 'ramapi-json:open loop'), rate: 400 }
  const { status, reason, metrics } = await measure({ ...given, method: { ...given.method, window: 1 } })
  if (status !== 'discarded') assert.equal(status, 'measured', String(reason))
  assert.equal(metrics.offered, 400)
  assert.ok(Number(metrics.rate) > 0 && Number(metrics.rate) < 1_200, `${metrics.rate}`)
  assert.ok(Number(metrics.cpu) > 0 && Number(metrics.busy) < 95, JSON.stringify(metrics))
})

test('a rate is within a limit only when all are answered and the tail is', () => {
  const good = { requests: 1_000, p999: 9, errors: 0, unfinished: 60 } as LoadResult
  assert.equal(isWithin(good, 20_000, 10), true)
  assert.equal(isWithin({ ...good, p999: 11 }, 20_000, 10), false)
  assert.equal(isWithin({ ...good, errors: 1 }, 20_000, 10), false)
  assert.equal(isWithin({ ...good, unfinished: 201 }, 20_000, 10), false)
  assert.equal(isWithin({ ...good, unfinished: 1 }, 20, 10), true)
  assert.equal(isWithin({ ...good, requests: 0, p999: null }, 20_000, 10), false)
})
