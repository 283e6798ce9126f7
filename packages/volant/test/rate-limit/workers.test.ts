import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type CountTable, createTable, sharedTable } from '@volant/engine'
import type { App } from 'volant'
import { type RateLimiter, rateLimit, type RateLimitOptions, type RateLimitStore } from 'volant/rate-limit'
import { clock } from '../../src/rate-limit/counters.ts'
import { planOf } from '../../src/rate-limit/options.ts'
import { SharedCounts } from '../../src/rate-limit/shared-counts.ts'
import type { Level } from '../../src/rate-limit/store.ts'
import type { RequestApp } from '../../src/types/request.ts'
import { eventually, Kit, stderrLines } from '../kit.ts'
import { superviseWith, unsupervise } from './supervision.ts'

const kit = new Kit()

const fd = createTable(1 << 22)
const withoutTable = fd === null && 'the engine does not load here'
const passed = (list: readonly number[]) => list.filter((status) => status === 200).length

/** Each test has numbers of its own, so that it has limits of its own. */
let unique = 3_600_000

const window = () => unique++

describe('limits in a worker', { skip: withoutTable }, () => {
  after(unsupervise)

  test('limits of one groupId count together, whichever app, and with other numbers apart', async () => {
    superviseWith(fd)
    const timeWindow = window()
    const group = { max: 5, timeWindow, groupId: 'api' }
    const [one, other] = [limited(group), limited(group)]
    assert.equal(passed(await statuses(one, 3)), 3)
    assert.equal(passed(await statuses(other, 9)), 2)
    // Code that is rolled out has a higher limit.
    assert.equal(passed(await statuses(limited({ ...group, max: 6 }), 9)), 6)
    assert.equal(passed(await statuses(limited({ ...group, groupId: 'web' }), 9)), 5)
    assert.equal(passed(await statuses(one, 1)), 0)
  })

  test('limits without groupId count apart', async () => {
    superviseWith(fd)
    const options = { max: 2, timeWindow: window() }
    for (let each = 0; each < 3; each++) assert.equal(passed(await statuses(limited(options), 4)), 2)
  })

  test('two limits of a group with other numbers in one app are refused', async () => {
    superviseWith(fd)
    const timeWindow = window()
    const app = limited({ max: 5, timeWindow, groupId: 'g' })
    app.get('/two', rateLimit({ max: 6, timeWindow, groupId: 'g' }), () => 'x')
    assert.equal((await app.inject('/two')).status, 500)
    assert.match(String(kit.reports.pop()), /two limits have the groupId "g" and other numbers/)
  })

  test('fields, refusals, figures', async () => {
    superviseWith(fd)
    const app = limited({ max: 2, timeWindow: 7_200_000 })
    for (const [status, left] of [
      [200, 1],
      [200, 0],
      [429, 0],
    ]) {
      const reply = await app.inject('/')
      assert.equal(reply.status, status)
      assert.equal(reply.headers['ratelimit-policy'], '"default";q=2;w=7200')
      const [, units, seconds = ''] =
        /^"default";r=(\d);t=(\d+)$/.exec(String(reply.headers['ratelimit'])) ?? []
      assert.equal(Number(units), left)
      // A unit comes back in an hour; a minute is for a machine that stands still.
      assert.ok(Number(seconds) > 3_540 && Number(seconds) <= 3_600, seconds)
      assert.equal(reply.headers['retry-after'], status === 429 ? seconds : undefined)
    }
    const { allowed, refused, keys, evicted } = app.limiter.stats()
    assert.deepEqual([allowed, refused, keys, evicted], [2, 1, 1, 0])
    await app.limiter.reset('127.0.0.1')
    assert.equal(app.limiter.stats().keys, 0)
    assert.equal(passed(await statuses(app, 3)), 2)
  })

  test('several policies are charged together or not at all, and give units back', async () => {
    superviseWith(fd)
    const timeWindow = window()
    const app = limited({
      timeWindow,
      policies: {
        all: { max: 10, algorithm: 'sliding' },
        each: { max: 3, algorithm: 'fixed', keyGenerator: (ctx) => ctx.headers['x-name'] },
      },
      cost: (ctx) => Number(ctx.headers['x-cost'] ?? 1),
      refund: (ctx) => ctx.headers['x-refund'] !== undefined,
    })
    assert.equal(passed(await statuses(app, 5, 'a')), 3)
    assert.equal(passed(await statuses(app, 5, 'b')), 3)
    const headers = { 'x-name': 'c' }
    const costly = { ...headers, 'x-cost': '3', 'x-refund': '1' }
    for (let each = 0; each < 3; each++) {
      assert.equal((await app.inject({ url: '/', headers: costly })).status, 200, 'what it took came back')
    }
    const reply = await app.inject({ url: '/', headers })
    assert.match(String(reply.headers['ratelimit']), /^"all";r=3;t=\d+, "each";r=2;t=\d+$/)
  })

  test('units come back with time', async () => {
    superviseWith(fd)
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      assert.deepEqual(
        await statuses(limited({ max: 2, timeWindow: window(), algorithm }), 3),
        [200, 200, 429],
      )
      const app = limited({ max: 2, timeWindow: 20, algorithm })
      assert.equal(passed(await statuses(app, 2)), 2)
      await eventually(async () => (await statuses(app, 1))[0] === 200, 'a unit that came back')
    }
  })

  test('time passes as fast as in JavaScript', () => {
    superviseWith(fd)
    for (const algorithm of ['gcra', 'fixed'] as const) {
      const plan = planOf({ max: 2, timeWindow: window(), algorithm })
      const counts = new SharedCounts(plan, sharedTable(fd as number) as CountTable)
      /** The microseconds until all units are back, between the times before and after they were read. */
      const read = (cost: number) => {
        const before = clock()
        const [level] = counts.take({} as RequestApp, ['=k'], cost)
        return { before, left: (level as Level).reset * 1_000, after: clock() }
      }
      read(1)
      const first = read(0)
      for (let reads = 0; reads < 1_000; reads++) read(0)
      const second = read(0)
      const passes = first.left - second.left
      // However slow the machine is, the time that passes in the table is between these; each is rounded down.
      assert.ok(passes >= second.before - first.after - 2, `${algorithm}: ${passes}`)
      assert.ok(passes <= second.after - first.before + 2, `${algorithm}: ${passes}`)
    }
  })

  test('a limit whose store is down counts with the other workers, and workers are machines then', async () => {
    superviseWith(fd)
    const down = () => Promise.reject(new Error('down'))
    const store: RateLimitStore = { take: down, refund: down, reset: down }
    const options = { max: 9, timeWindow: window(), groupId: 'stored', store, workers: 3 }
    const [one, other] = [limited(options), limited(options)]
    await stderrLines(async () => {
      assert.equal(passed(await statuses(one, 2)), 2)
      assert.equal(passed(await statuses(other, 5)), 1)
    })
  })

  test('without a table each worker counts by itself, and the first one says so', async () => {
    superviseWith(null, { worker: 1 })
    const options = { max: 2, timeWindow: window(), groupId: 'alone' }
    const lines = await stderrLines(async () => {
      assert.equal(passed(await statuses(limited(options), 4)), 2)
      superviseWith(null)
      assert.equal(passed(await statuses(limited(options), 4)), 2)
      assert.equal(passed(await statuses(limited(options), 4)), 2)
    })
    assert.equal(lines.filter((line) => line.includes('counts in each worker by itself')).length, 1)
  })

  test('a flood of keys in a lax limit forgets its own, which is told once, and none of a strict one', async () => {
    superviseWith(createTable(1 << 14))
    // 31 buckets of 15 keys, and keys that expire long before those of the flood.
    const strict = limited({ max: 5, timeWindow: '15 minutes', algorithm: 'fixed' })
    const lax = limited({ max: 5, timeWindow: '1 day', keyGenerator: (ctx) => ctx.headers['x-name'] })
    const lines = await stderrLines(async () => {
      assert.equal(passed(await statuses(strict, 5)), 5)
      assert.equal(lax.limiter.stats().evicted, 0)
      for (let each = 0; each < 2_100; each++) await statuses(lax, 1, `name ${each}`)
      assert.equal(passed(await statuses(strict, 1)), 0)
      assert.ok(lax.limiter.stats().evicted > 1_000)
    })
    const told = lines.filter((line) => line.includes('still counted'))
    assert.equal(told.length, 1, lines.join('\n'))
    // It is told while they come, and not only when the figures are asked for.
    const [, count] = /forgot (\d+) keys that/.exec(told[0] as string) ?? []
    assert.ok(Number(count) > 0 && Number(count) <= 1_024, String(told))
  })
})

type Limited = App & { limiter: RateLimiter }

function limited(options: RateLimitOptions): Limited {
  const app = kit.app()
  const limiter = rateLimit(options)
  app.use(limiter)
  app.get('/', () => 'x')
  return Object.assign(app, { limiter })
}

async function statuses(app: App, count: number, name = 'k'): Promise<number[]> {
  const list: number[] = []
  for (let each = 0; each < count; each++) {
    list.push((await app.inject({ url: '/', headers: { 'x-name': name } })).status)
  }
  return list
}
