/** `npm run lab -- slow-readers`: what a client waits while others read streams slowly. */
import { type ChildProcess, fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Failure } from './failure.ts'
import { count } from './soak.ts'
import { median } from './statistics.ts'
import { standardNode } from './runtimes.ts'

export interface SlowReadersMethod {
  readonly readers: number
  /** The length of each window, without and with readers. */
  readonly seconds: number
  readonly rounds: number
  readonly adapter: 'native' | 'node-http'
}

/** The client that is measured: so many connections, so many requests in a second on all of them. */
const connections = 50
const rate = 500
/** From the first byte of the streams to the window, in ms: the system's buffers take megabytes of each at first. */
const settling = 2_500
/** How long a reply may come after its window, in ms. */
const patience = 10_000
/** The most by which the readers may multiply the p99. */
const bar = 2

/** Runs it and prints the figures; false when the bar is missed. */
export async function slowReaders({
  readers,
  seconds,
  rounds,
  adapter,
}: SlowReadersMethod): Promise<boolean> {
  const without: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round++) {
    // A fresh process: what the last round left in the system's buffers and in the heap is not this one's.
    const server = child('./slow-readers-server.js', adapter)
    const port = (await said(server)) as number
    await windowOf(port, 1)
    without.push(await windowOf(port, seconds))
    const clients = child('./slow-readers-client.js', String(port), String(readers))
    await said(clients)
    await sleep(settling)
    beside.push(await windowOf(port, seconds))
    clients.disconnect()
    server.disconnect()
    console.log(
      `  round ${round + 1}: p99 ${shown(without[round])} without, ${shown(beside[round])} beside ${count(readers)} slow readers`,
    )
  }
  const ratio = median(beside) / median(without)
  console.log(
    `${adapter}: p99 ${shown(median(without))} without, ${shown(median(beside))} with ${count(readers)} slow readers: ` +
      `${ratio.toFixed(1)} times, of at most ${bar}: ${ratio <= bar ? 'met' : 'MISSED'}`,
  )
  return ratio <= bar
}

function shown(milliseconds: number | undefined): string {
  return `${(milliseconds ?? Number.NaN).toFixed(2)} ms`
}

function child(file: string, ...args: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execPath: standardNode().path,
    stdio: ['ignore', 2, 2, 'ipc'],
  })
}

function said(from: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    from.once('message', resolve)
    from.once('exit', (code, signal) => reject(new Failure(`a child ended: ${signal ?? code}`)))
  })
}

/** Requests at a fixed rate; gives the p99 of what their replies took, in ms from when they were due. */
async function windowOf(port: number, seconds: number): Promise<number> {
  const took: number[] = []
  const clients = await Promise.all(Array.from({ length: connections }, () => open(port, took)))
  const began = performance.now()
  const wanted = rate * seconds
  for (let sent = 0; sent < wanted; await sleep(1)) {
    const now = performance.now()
    for (; sent < wanted && began + (sent / rate) * 1_000 <= now; sent++) {
      const client = clients[sent % connections] as Client
      client.due.push(began + (sent / rate) * 1_000)
      client.socket.write('GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n')
    }
  }
  const last = performance.now() + patience
  while (took.length < wanted && performance.now() < last) await sleep(10)
  for (const { socket } of clients) socket.destroy()
  if (took.length < wanted) throw new Failure(`${wanted - took.length} of ${wanted} requests had no reply`)
  took.sort((a, b) => a - b)
  return took[Math.ceil(wanted * 0.99) - 1] as number
}

interface Client {
  readonly socket: Socket
  /** When the requests were due that have no reply yet. */
  readonly due: number[]
}

async function open(port: number, took: number[]): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const due: number[] = []
  let rest = ''
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    const replies = (rest + text).split('}')
    rest = replies.pop() as string
    for (let left = replies.length; left > 0; left--) took.push(performance.now() - (due.shift() as number))
  })
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return { socket, due }
}
