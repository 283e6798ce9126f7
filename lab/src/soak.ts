/** `npm run lab -- soak`: a million requests with pipelining and rude clients, and what the server keeps of them. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Failure } from './failure.ts'
import { standardNode } from './runtimes.ts'
import { type Traffic, visit } from './soak-client.ts'
import type { SoakFigures } from './soak-figures.ts'

export interface SoakMethod {
  readonly requests: number
  readonly connections: number
  readonly adapter: 'native' | 'node-http'
}

/** When the first figures are taken: by then every cache and free list has its size. */
const settledAfter = 200_000
/** The most by which RSS may grow from then to the end, in bytes. */
const growthBar = 5 * 1024 * 1024
/**
 * The young generation has a fixed size. Left to itself it grows from 4 to 32 MB, often after the first figures, and
 * would be read as a leak of 19 MB; with the largest size from the start (16) its untouched pages still count for 5.
 */
const serverFlags = ['--expose-gc', '--min-semi-space-size=4', '--max-semi-space-size=4']
/** Without an answer for this time a run has failed, in ms. */
const patience = 20_000

/** Runs it and prints the verdicts; true when all of them are met. Throws a `Failure` for a wrong or missing reply. */
export async function soak({ requests, connections, adapter }: SoakMethod): Promise<boolean> {
  const server = new SoakServer(adapter)
  const port = await server.next<number>()
  const traffic: Traffic = { port, target: 1_000, sent: 0, answered: 0, aborts: 0 }
  await load(traffic, connections)
  const before = await server.figures()
  const settled = Math.min(settledAfter, Math.floor(requests / 2))

  traffic.target = settled
  await load(traffic, connections)
  const middle = await server.figures()
  const paused = performance.now()
  traffic.target = requests
  await load(traffic, connections)
  const seconds = (performance.now() - paused) / 1_000
  const rate = (traffic.sent - settled) / seconds
  const end = await server.figures()
  await server.stop()

  const growth = end.residentBytes - middle.residentBytes
  const rows: [string, string, boolean][] = [
    [
      'in flight',
      `${end.inFlight} requests on ${end.connections} connections`,
      end.inFlight + end.connections === 0,
    ],
    ['open files', `${before.openFiles} before, ${end.openFiles} after`, end.openFiles <= before.openFiles],
    [
      'memory',
      `${megabytes(middle.residentBytes)} MB at ${count(settled)}, ${megabytes(end.residentBytes)} MB at the end: ` +
        `${growth < 0 ? '' : '+'}${megabytes(growth)} MB of at most +${megabytes(growthBar)}`,
      growth <= growthBar,
    ],
    ['panics', String(end.panics), end.panics === 0],
  ]
  console.log(
    `${adapter}: ${count(traffic.sent)} requests, ${count(traffic.answered)} answered and checked, ` +
      `${count(traffic.aborts)} connections left early; ${count(Math.round(rate))} requests/s`,
  )
  for (const [name, what, met] of rows)
    console.log(`  ${name.padEnd(12)}${what.padEnd(72)}${met ? 'met' : 'MISSED'}`)
  return rows.every(([, , met]) => met)
}

/** Runs clients until the target is reached and all of them have left. */
async function load(traffic: Traffic, connections: number): Promise<void> {
  let last = traffic.answered
  let shown = performance.now()
  let stalled!: (error: Error) => void
  const stall = new Promise<never>((_, reject) => {
    stalled = reject
  })
  const watch = setInterval(() => {
    if (traffic.answered === last) stalled(new Failure(`no reply for ${patience / 4_000} s`))
    const now = performance.now()
    const rate = ((traffic.answered - last) / (now - shown)) * 1_000
    console.error(`${count(traffic.sent)} requests, ${count(Math.round(rate))}/s`)
    last = traffic.answered
    shown = now
  }, patience / 4)
  try {
    const clients = Array.from({ length: connections }, () => visit(traffic))
    await Promise.race([Promise.all(clients), stall])
  } finally {
    clearInterval(watch)
  }
}

class SoakServer {
  readonly #child: ChildProcess
  readonly #kill: () => void

  constructor(adapter: string) {
    const file = fileURLToPath(new URL('./soak-server.js', import.meta.url))
    this.#child = fork(file, [adapter], {
      execPath: standardNode().path,
      execArgv: serverFlags,
      stdio: ['ignore', 2, 2, 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    })
    this.#kill = () => this.#child.kill('SIGKILL')
    process.once('exit', this.#kill)
  }

  /** The next thing the server says. */
  next<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (what: string) => reject(new Failure(`the server ${what}`))
      const timer = setTimeout(() => fail(`was silent for ${patience / 1_000} s`), patience)
      const ended = (code: number | null, signal: string | null) => fail(`ended: ${signal ?? code}`)
      this.#child.once('exit', ended)
      this.#child.once('message', (message) => {
        clearTimeout(timer)
        this.#child.off('exit', ended)
        resolve(message as T)
      })
    })
  }

  figures(): Promise<SoakFigures> {
    const answer = this.next<SoakFigures>()
    this.#child.send('figures')
    return answer
  }

  async stop(): Promise<void> {
    const exited = new Promise<number | string>((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(signal ?? code ?? 0))
    })
    this.#child.send('stop')
    const timer = setTimeout(this.#kill, patience)
    const how = await exited
    clearTimeout(timer)
    process.off('exit', this.#kill)
    if (how !== 0) throw new Failure(`the server did not end as it should: ${how}`)
  }
}

export function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}
