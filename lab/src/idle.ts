/** `npm run lab -- idle`: what connections cost that are kept open and say nothing. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Entry, entryOf } from './entry.ts'
import { Failure } from './failure.ts'
import { entriesFolder } from './folders.ts'
import { installEntry } from './install.ts'
import { cpuBetween, readCpu, readMemory } from './readings.ts'
import { startServer } from './server.ts'
import { count, megabytes } from './soak.ts'

export interface IdleMethod {
  readonly connections: number
  readonly server: string
}

/** Servers that need other settings than in `pair`: no limit below what is opened, no idle timeout meanwhile. */
const settings: Record<string, string> = {
  native: 'volant.mjs',
  'node-http': 'volant.mjs',
  node: 'node.mjs',
  bun: 'bun.mjs',
}
export const idleServers: readonly string[] = [...Object.keys(settings), 'uws', 'limit']

/** Connections of one client process: below the usual limit of open files, and of ports of one address. */
const clientShare = 2_500
/** For how long CPU time is watched while nobody says anything, in ms. */
const watched = 5_000
/** The bar for the engine's own server, in bytes a connection. */
const bar = 1_200

/** Runs it and prints the figures; false when a connection was dropped or the engine's bar is missed. */
export async function idle({ connections, server: name }: IdleMethod): Promise<boolean> {
  const entry = idleEntry(name)
  process.env['CONNECTIONS'] = String(connections)
  await installEntry(entry)
  const server = await startServer({ entry, program: 'hello', core: null, port: 0 })
  const clients: ChildProcess[] = []
  const end = () => clients.forEach((client) => client.kill('SIGKILL'))
  process.once('exit', end)
  try {
    await answered(server.port)
    await sleep(500)
    const before = readMemory(server.pid)
    const began = performance.now()
    await Promise.all(
      shares(connections).map(async (share, index) => {
        const client = openClient(server.port, share, `127.0.0.${index + 2}`)
        clients.push(client)
        const said = await message(client)
        if (said !== 'ready') throw new Failure(`a client ${String(said)}`)
      }),
    )
    const opened = (performance.now() - began) / 1_000
    // uWebSockets.js closes idle connections after 10 s whatever it is told: no time to lose.
    await sleep(200)
    const during = readMemory(server.pid)
    const cpu = readCpu(server.pid)
    await sleep(watched)
    const busy = cpuBetween(cpu, readCpu(server.pid)).running / 1e6
    const took = await answered(server.port)
    const held = (await Promise.all(clients.map(heldBy))).reduce((sum, each) => sum + each, 0)

    const added = during - before
    const each = added / connections
    console.log(
      `${name}: ${count(connections)} connections, opened in ${opened.toFixed(1)} s, one request on each`,
    )
    console.log(
      `  memory      +${megabytes(added)} MB (${megabytes(before)} before): ${count(Math.round(each))} bytes a connection`,
    )
    console.log(`  CPU         ${busy.toFixed(1)} ms in ${watched / 1_000} s without traffic`)
    console.log(`  one more    answered in ${took.toFixed(1)} ms`)
    console.log(`  still open  ${count(held)}`)
    if (name !== 'native') return held === connections
    console.log(`  bar         at most ${count(bar)} bytes a connection: ${each <= bar ? 'met' : 'MISSED'}`)
    return held === connections && each <= bar
  } finally {
    end()
    process.off('exit', end)
    await server.stop()
  }
}

function idleEntry(name: string): Entry {
  const entry = entryOf(name)
  const special = settings[name]
  if (special === undefined) {
    if (idleServers.includes(name)) return entry
    throw new Failure(`idle knows ${idleServers.join(' ')}`, 2)
  }
  return { ...entry, server: join(entriesFolder, 'idle', special) }
}

function shares(connections: number): number[] {
  const clients = Math.ceil(connections / clientShare)
  return Array.from({ length: clients }, (_, index) =>
    Math.min(clientShare, connections - index * clientShare),
  )
}

function openClient(port: number, share: number, address: string): ChildProcess {
  const file = fileURLToPath(new URL('./idle-client.js', import.meta.url))
  return fork(file, [String(port), String(share), address], { stdio: ['ignore', 2, 2, 'ipc'] })
}

function message(client: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    client.once('message', resolve)
    client.once('exit', (code, signal) => reject(new Failure(`a client ended: ${signal ?? code}`)))
  })
}

async function heldBy(client: ChildProcess): Promise<number> {
  const answer = message(client)
  client.send('count')
  return (await answer) as number
}

/** A request on a connection of its own; gives the ms it took. */
async function answered(port: number): Promise<number> {
  const start = performance.now()
  const reply = await fetch(`http://127.0.0.1:${port}/json`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(5_000),
  })
  if (!reply.ok || !(await reply.text()).includes('Hello'))
    throw new Failure(`a new connection got ${reply.status}`)
  return performance.now() - start
}
