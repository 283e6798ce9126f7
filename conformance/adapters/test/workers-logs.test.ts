/** Several workers write to one standard output: each line arrives whole, and once. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { createApp } from 'volant'
import { request, Started } from './workers/started.ts'

const skip = createApp({ signals: false }).adapterName !== 'native' && 'the native engine is not there'
const folder = mkdtempSync(join(tmpdir(), 'volant-workers-logs-'))
after(() => rmSync(folder, { recursive: true }))

const workers = 4
const lines = 2_500

/** Has all workers write at the same time, and looks at each line. */
async function checkLines(started: Started, output: NodeJS.ReadableStream): Promise<void> {
  const numbers = new Map<number, number[]>()
  const lastOnes: number[] = []
  const broken: string[] = []
  const take = (text: string): void => {
    try {
      const { worker, n, last } = JSON.parse(text) as { worker: number; n: number; last?: number }
      if (last !== undefined) return void lastOnes.push(last)
      const known = numbers.get(worker)
      if (known === undefined) numbers.set(worker, [n])
      else known.push(n)
    } catch {
      broken.push(text.slice(0, 200))
    }
  }
  try {
    const url = await started.url(output, take)
    // Connections that stay open are spread over the workers, though not evenly while these are new.
    const byWorker = new Map<number, Agent>()
    const agents: Agent[] = []
    while (byWorker.size < workers) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const { text } = await request(`${url}/log?lines=0`, agent)
      byWorker.set((JSON.parse(text) as { pid: number }).pid, agent)
      assert.ok(agents.push(agent) < 100, 'each worker gets a connection of 100')
    }
    await Promise.all([...byWorker.values()].map((agent) => request(`${url}/log?lines=${lines}`, agent)))
    const arrived = (): number => [...numbers.values()].reduce((sum, each) => sum + each.length, 0)
    await eventually(() => broken.length > 0 || arrived() >= workers * lines, 'all lines')
    assert.deepEqual(broken, [])
    assert.deepEqual([...numbers.keys()].toSorted(), [0, 1, 2, 3])
    const wanted = Array.from({ length: lines }, (_, n) => n)
    for (const [worker, given] of numbers) assert.deepEqual(given, wanted, `worker ${worker}`)
    // A worker that exits while others write has its lines arrive, too.
    const [one, ...rest] = byWorker.values()
    const writing = rest.map((agent) => request(`${url}/log?lines=${lines}`, agent))
    await assert.rejects(request(`${url}/exit?lines=300`, one))
    await Promise.all(writing)
    await eventually(() => broken.length > 0 || lastOnes.length >= 300, 'the last lines of a worker')
    assert.deepEqual(broken, [])
    assert.deepEqual(
      lastOnes.toSorted((a, b) => a - b),
      Array.from({ length: 300 }, (_, last) => last),
    )
    for (const agent of agents) agent.destroy()
  } finally {
    await started.stop()
  }
}

test('lines of four workers in one pipe', { skip }, async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  const started = new Started('logging', workers, writer)
  closeSync(writer)
  const output = new Socket({ fd: reader, readable: true, writable: false })
  await checkLines(started, output)
  output.destroy()
})

test('lines of four workers in one socket, as journald passes it', { skip }, async () => {
  const started = new Started('logging', workers)
  await checkLines(started, started.child.stdout as NodeJS.ReadableStream)
})
