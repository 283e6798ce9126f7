/**
 * Starts and ends workers that have the engine loaded, and prints how many file descriptors that left open.
 *
 * `workers.js PROGRAM ENDING COUNT AT_ONCE`; the programs are worker and bare-worker.
 */
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { engineLimits, eventually } from '@volant/test-kit'
import { openFiles } from './native.ts'
import type { Ending, Order } from './worker.ts'

const [program, ending, count, atOnce] = process.argv.slice(2) as [string, Ending, string, string]
let replies = 0

// The first one opens what the process keeps: the image, pipes of the thread pool.
await one(ending)
const before = openFiles()
let left = Number(count) - 1
await Promise.all(
  Array.from({ length: Number(atOnce) }, async () => {
    while (left-- > 0) await one(ending)
  }),
)
// Closing sockets takes the loop a turn or two.
await eventually(() => openFiles() <= before, 'sockets are closed').catch(() => {})
console.log(JSON.stringify({ before, after: openFiles(), replies }))

async function one(how: Ending): Promise<void> {
  const order: Order = { ending: how, limits: engineLimits }
  const worker = new Worker(new URL(`./${program}.js`, import.meta.url), { workerData: order })
  const exited = new Promise<number>((resolve, reject) => {
    worker.once('exit', resolve)
    worker.once('error', reject)
  })
  const port = await message(worker)
  if (how === 'idle') {
    await worker.terminate()
    await exited
    return
  }
  const dispatched = message(worker)
  const client = ask(Number(port))
  await dispatched
  if (how === 'in-flight' || how === 'busy') await worker.terminate()
  await exited
  if ((await client).includes('\r\n\r\nbye')) replies++
}

function message(worker: Worker): Promise<unknown> {
  return new Promise((resolve) => worker.once('message', resolve))
}

/** Everything that was received until the connection ended, in whichever way. */
function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket: Socket = connect(port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
    })
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}
