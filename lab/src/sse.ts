/** `npm run lab -- sse`: what a server-sent event costs a server that has many streams open. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chooseCores, stepAside } from './cores.ts'
import { type Entry, entryOf } from './entry.ts'
import { Failure } from './failure.ts'
import { entriesFolder } from './folders.ts'
import { installEntry } from './install.ts'
import { cpuBetween, readCpu, readMemory } from './readings.ts'
import { startServer } from './server.ts'
import { count, megabytes } from './soak.ts'
import { pairedRatio, summarize } from './statistics.ts'

/** `broadcast`: one timer of the server, each event to all streams. `own`: each stream has a timer of its own. */
export const shapes = ['broadcast', 'own'] as const

export interface SseMethod {
  readonly streams: number
  /** The length of a window. */
  readonly seconds: number
  readonly rounds: number
  readonly shapes: readonly (typeof shapes)[number][]
  readonly servers: readonly string[]
}

interface Server {
  readonly file: string
  /** The entry that says what it runs on. */
  readonly entry: string
  readonly title: string
  readonly environment?: Readonly<Record<string, string>>
  /** Where it is another program in some shapes alone. Default: all. */
  readonly shapes?: readonly string[]
}

const servers: Readonly<Record<string, Server>> = {
  native: { file: '../volant/sse.mjs', entry: 'native', title: 'Volant, native: ctx.sse' },
  'node-http': { file: '../volant/sse.mjs', entry: 'node-http', title: 'Volant, node-http: ctx.sse' },
  'native-generator': {
    file: '../volant/sse.mjs',
    entry: 'native',
    title: 'Volant, native: ctx.sse of a generator',
    environment: { GENERATOR: '1' },
    shapes: ['own'],
  },
  node: { file: 'node.mjs', entry: 'node', title: 'node:http by hand' },
  fastify: { file: 'fastify.mjs', entry: 'fastify', title: 'Fastify 5.12.8, @fastify/sse 0.6.0' },
  'fastify-raw': { file: 'fastify-raw.mjs', entry: 'fastify', title: 'Fastify 5.12.8, reply.raw by hand' },
  hono: { file: 'hono.mjs', entry: 'hono', title: 'Hono 4.13.19, streamSSE, @hono/node-server 2.1.8' },
}
export const sseServers: readonly string[] = Object.keys(servers)

/** From the last stream's first event to the window, in ms. */
const settling = 1_000

interface Cell {
  /** CPU time of the server for each event, in µs. */
  readonly cpu: number
  /** Events that arrived in a second, of all streams. */
  readonly rate: number
  /** Resident memory in bytes: with all streams open, and what of it is for each of them. */
  readonly memory: number
  readonly perStream: number
}

/** Runs it and prints the figures. Throws a `Failure` for a stream that missed an event. */
export async function sse(method: SseMethod): Promise<void> {
  const cores = chooseCores()
  console.log(
    `${count(method.streams)} streams, an event each 100 ms to each; windows of ${method.seconds} s; ${cores.label}`,
  )
  stepAside(cores)
  const cells = new Map<string, Cell[]>()
  for (let round = 0; round < method.rounds; round++) {
    for (const shape of method.shapes) {
      // The order changes, so that what drifts on the machine is nobody's advantage.
      const turn = serversIn(shape, method.servers).map(
        (_, at, all) => all[(at + round) % all.length] as string,
      )
      for (const name of turn) {
        const cell = await measure(name, shape, method, cores)
        const key = `${shape} ${name}`
        cells.set(key, [...(cells.get(key) ?? []), cell])
        console.log(
          `  round ${round + 1}, ${key}: ${cell.cpu.toFixed(2)} µs an event, ${count(Math.round(cell.rate))} events/s`,
        )
      }
    }
  }
  for (const shape of method.shapes) print(shape, serversIn(shape, method.servers), cells)
}

function serversIn(shape: string, names: readonly string[]): readonly string[] {
  return names.filter((name) => servers[name]?.shapes?.includes(shape) ?? true)
}

function print(shape: string, names: readonly string[], cells: ReadonlyMap<string, readonly Cell[]>): void {
  const base = names[0] as string
  const of = (name: string) => cells.get(`${shape} ${name}`) as readonly Cell[]
  const cpu = (name: string) => of(name).map((cell) => cell.cpu)
  console.log(
    `\n${shape}\n| server | CPU per event, µs | 95 % | / ${base} | events/s | RSS, MB | KB a stream |\n|:---|---:|---:|---:|---:|---:|---:|`,
  )
  for (const name of names) {
    const { median, low, high } = summarize(cpu(name))
    const ratio = pairedRatio(cpu(name), cpu(base)).median
    const middle = (pick: (cell: Cell) => number) => summarize(of(name).map(pick)).median
    console.log(
      `| ${servers[name]?.title} | ${median.toFixed(2)} | ${low.toFixed(2)} to ${high.toFixed(2)} | ${ratio.toFixed(2)} | ${count(Math.round(middle((cell) => cell.rate)))} | ${megabytes(middle((cell) => cell.memory))} | ${(middle((cell) => cell.perStream) / 1_024).toFixed(1)} |`,
    )
  }
}

async function measure(
  name: string,
  shape: string,
  { streams, seconds }: SseMethod,
  cores: ReturnType<typeof chooseCores>,
): Promise<Cell> {
  const entry = entryFor(name)
  await installEntry(entry)
  const server = await startServer({ entry, program: 'hello', core: cores.server, port: 0 })
  const client = fork(
    fileURLToPath(new URL('./sse-client.js', import.meta.url)),
    [String(server.port), String(streams), `/${shape}`],
    { stdio: ['ignore', 2, 2, 'ipc'] },
  )
  const end = () => client.kill('SIGKILL')
  process.once('exit', end)
  try {
    await sleep(500)
    const before = readMemory(server.pid)
    await asked(client, 'open')
    await sleep(settling)
    const [cpu, first, began] = [readCpu(server.pid), await asked(client, 'count'), performance.now()]
    await sleep(seconds * 1_000)
    const [used, last, took] = [
      cpuBetween(cpu, readCpu(server.pid)).running / 1_000,
      await asked(client, 'count'),
      (performance.now() - began) / 1_000,
    ]
    const memory = readMemory(server.pid)
    const events = last.events - first.events
    // Each stream has a number of events of its own; none may have missed one, nor be far behind.
    if (last.fault !== null) throw new Failure(`${name}: ${last.fault}`)
    if (last.least - first.least < took * 2)
      throw new Failure(`${name}: a stream got ${last.least - first.least} events in ${took.toFixed(1)} s`)
    return {
      cpu: used / events,
      rate: events / took,
      memory,
      perStream: Math.max(0, memory - before) / streams,
    }
  } finally {
    end()
    process.off('exit', end)
    await server.stop()
  }
}

function entryFor(name: string): Entry {
  const server = servers[name]
  if (server === undefined) throw new Failure(`sse knows ${sseServers.join(' ')}`, 2)
  const folder = join(entriesFolder, 'sse')
  const entry = entryOf(server.entry)
  const environment = { ...entry.environment, ...server.environment }
  return { ...entry, environment, name: `sse/${name}`, folder, server: join(folder, server.file) }
}

/** What the client says of all streams. */
export interface Counts {
  readonly events: number
  /** Of the stream that got the fewest. */
  readonly least: number
  /** What the first wrong event was; null without one. */
  readonly fault: string | null
}

function asked(client: ChildProcess, what: 'open' | 'count'): Promise<Counts> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Failure('the client of the streams ended'))
    client.once('message', (answer) => {
      client.off('exit', gone)
      resolve(answer as Counts)
    })
    client.once('exit', gone)
    client.send(what)
  })
}
