/** `npm run lab -- idle`: what connections cost that are kept open and say nothing. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Entry, entryOf } from './entry.ts'
import { Failure } from './failure.ts'
import { entriesFolder } from './folders.ts'
import { installEntry } from './install.ts'
import { ask } from './proof.ts'
import { cpuBetween, readCpu, readOwnMemory } from './readings.ts'
import { type RunningServer, startServer } from './server.ts'
import { count, megabytes } from './soak.ts'
import { median, pairedDifference } from './statistics.ts'

export interface IdleMethod {
  readonly connections: number
  readonly server: string
  /** True also measures TLS. */
  readonly encrypted: boolean
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
/**
 * The number of requests before memory is read for the first time. Memory of code that runs once, and of buffers that
 * stay, does not belong to connections.
 */
const firstRequests = 100
/** The number of garbage collections before memory is read. */
const collections = 3
/** For how long CPU time is watched while nobody says anything, in ms. */
const watched = 5_000
/** The kind of memory that `memoryOf` reads. */
const memoryMeant = 'resident memory without the pages of files: RssAnon and RssShmem of /proc/PID/status'
/** The bar for the engine's own server, in bytes a connection. */
const bar = 1_200
/** The most that TLS may add to that, in bytes a connection. */
const tlsBar = 3_072

/** The number of rounds, whose medians are judged. */
const rounds = 3
/** The servers of this list that speak HTTP/2 over TLS. */
const http2Servers = ['native', 'node-http']

type IdleTransport = 'http' | 'https' | 'h2'

/**
 * Runs the measurement and prints the figures. Gives false when a connection was dropped, or a bar of the engine is
 * missed.
 */
export async function idle({ connections, server: name, encrypted }: IdleMethod): Promise<boolean> {
  const transports: IdleTransport[] = ['http']
  if (encrypted) transports.push('https')
  if (encrypted && http2Servers.includes(name)) transports.push('h2')
  const found: Record<IdleTransport, number[]> = { http: [], https: [], h2: [] }
  let isWhole = true
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, so that a slow change of the machine favours none of them.
    for (const transport of round % 2 === 0 ? transports : transports.toReversed()) {
      const { each, held } = await hold(name, connections, transport)
      found[transport].push(each)
      isWhole &&= held === connections
    }
  }
  const isJudged = name === 'native'
  const most = (limit: number, value: number) =>
    isJudged ? `, at most ${count(limit)}: ${value <= limit ? 'met' : 'MISSED'}` : ''
  const plain = median(found.http)
  console.log(`${name}: bytes a connection (${memoryMeant}), medians of ${rounds} rounds`)
  console.log(`  without TLS        ${count(Math.round(plain))}${most(bar, plain)}`)
  if (!encrypted) return isWhole && (!isJudged || plain <= bar)
  const more = pairedDifference(found.https, found.http).median
  console.log(`  TLS adds           ${count(Math.round(more))}${most(tlsBar, more)}`)
  if (found.h2.length > 0)
    console.log(`  HTTP/2 over TLS    ${count(Math.round(median(found.h2)))}, not judged`)
  return isWhole && (!isJudged || (plain <= bar && more <= tlsBar))
}

/**
 * Opens the connections to a fresh server and prints their cost. Gives the bytes of each, and the number that stayed
 * open.
 */
async function hold(
  name: string,
  connections: number,
  transport: IdleTransport,
): Promise<{ each: number; held: number }> {
  const entry = idleEntry(name)
  process.env['CONNECTIONS'] = String(connections)
  await installEntry(entry)
  const environment = { COLLECT: '1' }
  const server = await startServer({ entry, program: 'hello', core: null, port: 0, transport, environment })
  const collects = settings[name] !== undefined
  const clients: ChildProcess[] = []
  const end = () => clients.forEach((client) => client.kill('SIGKILL'))
  process.once('exit', end)
  try {
    for (let asked = 0; asked < firstRequests; asked += 1) await answered(server.port, transport)
    await sleep(500)
    const before = await memoryOf(server, collects)
    const began = performance.now()
    await Promise.all(
      shares(connections).map(async (share, index) => {
        const client = openClient(server.port, share, `127.0.0.${index + 2}`, transport)
        clients.push(client)
        const said = await message(client)
        if (said !== 'ready') throw new Failure(`a client ${String(said)}`)
      }),
    )
    const opened = (performance.now() - began) / 1_000
    // uWebSockets.js closes idle connections after 10 s whatever it is told: no time to lose.
    await sleep(200)
    const during = await memoryOf(server, collects)
    const cpu = readCpu(server.pid)
    await sleep(watched)
    const busy = cpuBetween(cpu, readCpu(server.pid)).running / 1e6
    const took = await answered(server.port, transport)
    const held = (await Promise.all(clients.map(heldBy))).reduce((sum, each) => sum + each, 0)

    const added = during - before
    const each = added / connections
    const over = { http: '', https: ' over TLS', h2: ' by HTTP/2 over TLS' }[transport]
    console.log(
      `${name}${over}: ${count(connections)} connections, opened in ${opened.toFixed(1)} s, one request on each`,
    )
    console.log(
      `  memory      +${megabytes(added)} MB (${megabytes(before)} before): ${count(Math.round(each))} bytes a connection`,
    )
    console.log(`  CPU         ${busy.toFixed(1)} ms in ${watched / 1_000} s without traffic`)
    console.log(`  one more    answered in ${took.toFixed(1)} ms`)
    console.log(`  still open  ${count(held)}`)
    return { each, held }
  } finally {
    end()
    process.off('exit', end)
    await server.stop()
  }
}

/**
 * Reads the memory after a garbage collection, if the server can do one. The limit and uWebSockets.js have next to no
 * garbage.
 */
async function memoryOf(server: RunningServer, collects: boolean): Promise<number> {
  for (let done = 0; collects && done < collections; done += 1) await server.ran()
  return readOwnMemory(server.pid)
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

function openClient(port: number, share: number, address: string, transport: string): ChildProcess {
  const file = fileURLToPath(new URL('./idle-client.js', import.meta.url))
  return fork(file, [String(port), String(share), address, transport], { stdio: ['ignore', 2, 2, 'ipc'] })
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
async function answered(port: number, transport: IdleTransport): Promise<number> {
  const start = performance.now()
  const reply = await ask(port, { path: '/json', status: 200 }, false, transport)
  if (typeof reply === 'string') throw new Failure(reply)
  if (reply.status !== 200 || !reply.body.includes('Hello'))
    throw new Failure(`a new connection got ${reply.status}`)
  return performance.now() - start
}
