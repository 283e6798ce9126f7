/** Start to first reply, and the memory of a server that has nothing to do. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { readMemory } from '../readings.ts'
import { type RunningServer, launch } from '../server.ts'
import type { Assignment, Finding } from './measurement.ts'

const startLimit = 10_000
const idleTime = 1_000
const settleStep = 100
const settleSteps = 10
/** Readings that differ by less agree, in bytes. */
const settled = 65_536

/**
 * From before the process is spawned to the first whole right reply, tried every ms; resident memory when nothing was
 * asked for a second, and two readings 100 ms apart agreed.
 */
export async function measureStartup({ entry, scenario, variant, method }: Assignment): Promise<Finding> {
  const { path, expect } = variant.measure.load.requests[0] as (typeof variant.measure.load.requests)[0]
  const wanted = expect.body ?? expect.contains ?? ''
  const port = method.port || (await freePort())
  const began = performance.now()
  const server = await launch({
    entry,
    program: scenario.program,
    core: method.cores.server,
    port,
    ...(variant.environment && { environment: variant.environment }),
  })
  const commands = [server.command]
  const giveUp = new AbortController()
  const replied = firstReply(port, path, wanted, began + startLimit, giveUp.signal)
  // A server that ends before it listens ends the wait too.
  const died = server.ready.then(() => replied)
  died.catch(() => undefined)
  let answered: boolean
  try {
    answered = await Promise.race([replied, died])
  } catch (error) {
    await server.stop().catch(() => undefined)
    return failed((error as Error).message, commands)
  } finally {
    giveUp.abort()
  }
  const start = performance.now() - began
  if (!answered) {
    await server.stop().catch(() => undefined)
    return failed(`no right reply to GET ${path} within ${startLimit / 1_000} s`, commands)
  }
  await sleep(method.quick ? idleTime / 4 : idleTime)
  const idleRss = (await settledMemory(server)) / 1e6
  await server.stop()
  return { status: 'measured', metrics: { start, idleRss }, flags: [], commands }
}

/** Asks again and again, every ms; false when no right reply came in time. */
export async function firstReply(
  port: number,
  path: string,
  wanted: string,
  deadline: number,
  signal: AbortSignal,
): Promise<boolean> {
  while (!(await tryOnce(port, path, wanted))) {
    if (signal.aborted || performance.now() > deadline) return false
    await sleep(1)
  }
  return true
}

/** False when nobody listens yet, or the server cannot answer yet. */
function tryOnce(port: number, path: string, wanted: string): Promise<boolean> {
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
      if (!received.includes('\r\n\r\n')) return
      if (!received.startsWith('HTTP/1.1 200 ')) finish(false)
      else if (received.includes(wanted)) finish(true)
    })
  })
}

async function settledMemory({ pid, mark }: Pick<RunningServer, 'pid' | 'mark'>): Promise<number> {
  let bytes = readMemory(pid, mark)
  for (let step = 0; step < settleSteps; step += 1) {
    await sleep(settleStep)
    const before = bytes
    bytes = readMemory(pid, mark)
    if (Math.abs(bytes - before) < settled) break
  }
  return bytes
}

function failed(reason: string, commands: readonly string[]): Finding {
  return { status: 'failed', reason, metrics: {}, flags: [], commands }
}
