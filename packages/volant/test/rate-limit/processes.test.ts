import assert from 'node:assert/strict'
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { processExists } from '@volant/test-kit'
import { createTable, sharedTable } from '@volant/engine'
import { eventually, within } from '../kit.ts'

const fd = createTable(1 << 22)
const withoutTable = fd === null && 'the engine does not load here'

describe('processes', { skip: withoutTable }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'volant-limits-'))
  const children = new Set<ChildProcess>()
  after(() => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  /** Starts a worker, and waits until it can count. */
  async function worker(kind: string, max: number, table: number, log: number): Promise<ChildProcess> {
    const child = fork(new URL('./worker.js', import.meta.url), [kind, String(max)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', table, log],
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    await within(once(child, 'message'), 'a worker that starts')
    return child
  }

  function begin(workers: readonly ChildProcess[]): void {
    for (const child of workers) child.send('begin')
  }

  /** Has each begin, and waits until a request of each has passed. */
  async function takePart(workers: readonly ChildProcess[]): Promise<void> {
    const wrote = workers.map((child) => once(child, 'message'))
    begin(workers)
    await within(Promise.all(wrote), 'a request that passes in each worker')
  }

  /** Has them take what is left of their keys, and waits for their end. */
  async function stop(workers: readonly ChildProcess[]): Promise<void> {
    const ends = workers.map((child) => once(child, 'exit'))
    for (const child of workers) child.send('stop')
    for (const end of ends) assert.deepEqual(await within(end, 'a worker that ends'), [0, null])
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
    await takePart(workers)
    await eventually(() => tally(file).length > 5, 'some keys of which nothing is left')
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
    const kills = 8
    const started = (kind: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => worker(kind, max, table, log)))
    const [workers, victims] = await Promise.all([started('app', 3), started('counts', kills)])
    begin([...workers, ...victims])
    for (const victim of victims) {
      const before = statSync(file).size
      await eventually(() => statSync(file).size > before + 1_000, 'requests that pass')
      victim.kill('SIGKILL')
      await within(once(victim, 'exit'), 'the end of a killed process')
    }
    // It opens a table that killed processes have left.
    const late = await started('counts', 1)
    await takePart(late)
    await stop([...workers, ...late])
    const counts = tally(file)
    const sum = counts.reduce((all, count) => all + count, 0)
    const { broken } = sharedTable(table)?.stats() ?? {}
    t.diagnostic(`${counts.length} keys of ${max}: ${sum} passed; ${broken} locks of killed processes`)
    assert.ok(counts.length > 0)
    for (const count of counts) assert.ok(count <= max, String(count))
    // A process may be killed when it was charged, and before it wrote that down.
    assert.ok(sum >= counts.length * max - kills, String(sum))
  })

  test('workers of volant start share a limit, also with those that replace them', async () => {
    const file = fileURLToPath(new URL('./served.js', import.meta.url))
    const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url))
    const supervisor = spawn(process.execPath, [bin, 'start', file, '--workers', '2'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(supervisor)
    const ended = once(supervisor, 'exit')
    const lines = createInterface({ input: supervisor.stdout })[Symbol.asyncIterator]()
    const { value } = await within(lines.next(), 'a supervisor that serves')
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
    await eventually(() => old.every((pid) => !processExists(Number(pid))), 'the end of the old workers')
    for (let each = 0; each < 4; each++) assert.equal(await ask(), 200)
    assert.ok(pids.size > 2, 'new ones have answered')
    for (let each = 0; each < 4; each++) assert.equal(await ask(), 429)
    supervisor.kill('SIGTERM')
    assert.deepEqual(await within(ended, 'the end of the supervisor'), [0, null])
    children.delete(supervisor)
  })
})
