import assert from 'node:assert/strict'
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTable, sharedTable } from '@volant/engine'
import type { App } from 'volant'
import { type RateLimiter, rateLimit, type RateLimitOptions, type RateLimitStore } from 'volant/rate-limit'
import { clock } from '../src/rate-limit/counters.ts'
import { eventually, Kit, stderrLines, within } from './kit.ts'
import { superviseWith } from './rate-limit-supervision.ts'

const kit = new Kit()
const fd = createTable(1 << 22)
const withoutTable = fd === null && 'the engine does not load here'

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

const passed = (list: readonly number[]) => list.filter((status) => status === 200).length

/** Each test has numbers of its own, so that it has limits of its own. */
let unique = 3_600_000
const window = () => unique++

describe('limits in a worker', { skip: withoutTable }, () => {
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
      const app = limited({ max: 2, timeWindow: 300, algorithm })
      const start = clock()
      assert.equal(passed(await statuses(app, 2)), 2)
      while ((await statuses(app, 1))[0] !== 200) await setTimeout(5)
      // A machine that is busy may need longer, and never less.
      assert.ok(clock() - start >= 150_000, algorithm)
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

describe('processes', { skip: withoutTable }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'volant-limits-'))
  const children = new Set<ChildProcess>()
  after(() => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  /** Starts a worker, and waits until it counts. */
  async function worker(kind: string, max: number, table: number, log: number): Promise<ChildProcess> {
    const child = fork(new URL('./rate-limit-worker.js', import.meta.url), [kind, String(max)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', table, log],
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    await within(once(child, 'message'), 60_000, 'a worker that starts')
    return child
  }

  /** Has them take what is left of their keys, and waits for their end. */
  async function stop(workers: readonly ChildProcess[]): Promise<void> {
    const ends = workers.map((child) => once(child, 'exit'))
    for (const child of workers) child.send('stop')
    for (const end of ends) assert.deepEqual(await within(end, 60_000, 'a worker that ends'), [0, null])
  }

  /** How many requests of each key passed. */
  function tally(file: string): number[] {
    const counts: number[] = []
    for (const line of readFileSync(file, 'latin1').split('\n')) {
      if (line !== '') counts[Number(line)] = (counts[Number(line)] ?? 0) + 1
    }
    return counts
  }

  test('four of them give each key exactly what there is', async (t) => {
    const max = 500
    const table = createTable(1 << 20) as number
    const file = join(folder, 'four')
    const log = openSync(file, 'a+')
    const started = ['app', 'app', 'app', 'counts'].map((kind) => worker(kind, max, table, log))
    const workers = await Promise.all(started)
    await setTimeout(500)
    await stop(workers)
    const counts = tally(file)
    t.diagnostic(`${counts.length} keys of ${max}`)
    assert.ok(counts.length > 0)
    assert.deepEqual(new Set(counts), new Set([max]))
  })

  test('one that is killed again and again takes no more, and stops nobody', async (t) => {
    const max = 500
    const table = createTable(1 << 20) as number
    const file = join(folder, 'killed')
    const log = openSync(file, 'a+')
    const workers = await Promise.all([1, 2, 3].map(() => worker('app', max, table, log)))
    const kills = 8
    for (let each = 0; each < kills; each++) {
      const victim = await worker('counts', max, table, log)
      await setTimeout(5 + each)
      victim.kill('SIGKILL')
      await within(once(victim, 'exit'), 60_000, 'the end of a killed process')
    }
    await stop(workers)
    const counts = tally(file)
    const sum = counts.reduce((all, count) => all + count, 0)
    const { broken } = sharedTable(table)?.stats() ?? {}
    t.diagnostic(`${counts.length} keys of ${max}: ${sum} passed; ${broken} locks of killed processes`)
    for (const count of counts) assert.ok(count <= max, String(count))
    // A process may be killed when it was charged, and before it wrote that down.
    assert.ok(sum >= counts.length * max - kills, String(sum))
  })

  test('workers of volant start share a limit, also with those that replace them', async () => {
    const file = fileURLToPath(new URL('./rate-limit-served.js', import.meta.url))
    const bin = fileURLToPath(new URL('../src/bin.js', import.meta.url))
    const supervisor = spawn(process.execPath, [bin, 'start', file, '--workers', '2'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(supervisor)
    const ended = once(supervisor, 'exit')
    const lines = createInterface({ input: supervisor.stdout })[Symbol.asyncIterator]()
    const { value } = await within(lines.next(), 60_000, 'a supervisor that serves')
    const [, url] = /^volant: listening on (\S+) \(2 workers\)$/.exec(String(value)) ?? []
    assert.ok(url, String(value))
    const pids = new Set<string>()
    const ask = async () => {
      // Connections are spread over the workers.
      const reply = await fetch(`${url}/`, { headers: { connection: 'close' } })
      const text = await reply.text()
      if (reply.status === 200) pids.add(text)
      return reply.status
    }
    for (let each = 0; each < 6; each++) assert.equal(await ask(), 200)
    assert.equal(pids.size, 2)
    const old = [...pids]
    supervisor.kill('SIGHUP')
    await eventually(() => old.every((pid) => !isRunning(Number(pid))), 'the end of the old workers')
    for (let each = 0; each < 4; each++) assert.equal(await ask(), 200)
    assert.ok(pids.size > 2, 'new ones have answered')
    for (let each = 0; each < 4; each++) assert.equal(await ask(), 429)
    supervisor.kill('SIGTERM')
    assert.deepEqual(await within(ended, 60_000, 'the end of the supervisor'), [0, null])
    children.delete(supervisor)
  })
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
