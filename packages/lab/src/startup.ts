/** Start to first reply, and the memory of a server that has nothing to do. */
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cores } from './cores.ts'
import { Failure } from './failure.ts'
import { readMemory } from './readings.ts'
import type { Entry } from './roster.ts'
import { json } from './scenarios/json.ts'
import { launch } from './server.ts'

/** One fresh process. */
export interface StartSample {
  readonly round: number
  readonly server: string
  /** From before the process is spawned to the first whole reply to GET /json, tried every ms. */
  readonly startMilliseconds: number
  /** Resident memory when nothing was asked for a second, and two readings 100 ms apart agreed. */
  readonly idleBytes: number
}

/** Bars on these two want this many processes of each server at least. */
export const leastStarts = 10

const startLimit = 10_000
const idleTime = 1_000
const settleStep = 100
const settleSteps = 10
/** Readings that differ by less agree, in bytes. */
const settled = 65_536

/** Every second round runs backwards, as with load. */
export async function startRound(
  round: number,
  entries: readonly Entry[],
  cores: Cores,
  progress: (entry: Entry) => void,
): Promise<StartSample[]> {
  const samples: StartSample[] = []
  for (const entry of round % 2 ? entries.toReversed() : entries) {
    progress(entry)
    samples.push(await startOnce(entry, round, cores))
  }
  return samples
}

async function startOnce(entry: Entry, round: number, cores: Cores): Promise<StartSample> {
  const port = await freePort()
  const began = performance.now()
  const server = launch(entry, 'json', cores.server, port)
  const giveUp = new AbortController()
  const replied = firstReply(port, began + startLimit, giveUp.signal)
  // A server that ends before it listens ends the wait too.
  const died = server.ready.then(() => replied)
  try {
    await Promise.race([replied, died])
  } catch (error) {
    await server.stop().catch(() => undefined)
    throw error
  } finally {
    giveUp.abort()
  }
  const startMilliseconds = performance.now() - began
  await sleep(idleTime)
  const idleBytes = await settledMemory(server.pid)
  await server.stop()
  return { round, server: entry.name, startMilliseconds, idleBytes }
}

async function firstReply(port: number, deadline: number, signal: AbortSignal): Promise<void> {
  while (!(await tryOnce(port))) {
    if (signal.aborted || performance.now() > deadline) {
      throw new Failure(`no reply to GET ${json.exchange.path} within ${startLimit / 1_000} s`)
    }
    await sleep(1)
  }
}

/** False when nobody listens yet, or the server cannot answer yet. */
function tryOnce(port: number): Promise<boolean> {
  const { path, body } = json.exchange
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    const finish = (answered: boolean): void => {
      socket.destroy()
      resolve(answered)
    }
    socket.setTimeout(1_000, () => finish(false))
    socket.setEncoding('latin1')
    socket.on('error', () => finish(false)).on('end', () => finish(false))
    socket.on('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`))
    socket.on('data', (text: string) => {
      received += text
      if (received.includes('\r\n') && !received.startsWith('HTTP/1.1 200 ')) finish(false)
      else if (received.includes(body)) finish(true)
    })
  })
}

async function settledMemory(pid: number): Promise<number> {
  let bytes = readMemory(pid)
  for (let step = 0; step < settleSteps; step += 1) {
    await sleep(settleStep)
    const before = bytes
    bytes = readMemory(pid)
    if (Math.abs(bytes - before) < settled) break
  }
  return bytes
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
