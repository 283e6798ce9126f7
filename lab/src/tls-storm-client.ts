/** A child of `lab tls-storm`: 50 connections over TLS, 500 requests a second on all of them, timed from when they were due. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type TLSSocket, connect } from 'node:tls'
import { takeReply } from './reply-text.ts'
import { hello } from './scenarios/hello.ts'
import type { HealthyReport } from './tls-storm.ts'

const [port, seconds] = process.argv.slice(2).map(Number) as [number, number]
const connections = 50
const rate = 500
/** How long a reply may come after its window, ms. */
const patience = 10_000

/** Of replies that are right, ms. */
const fromDue: number[] = []
const fromWrite: number[] = []
/** How much later than it was due each request was written: this process woke late. */
const late: number[] = []
let wrong = 0
/** Replies that nobody had asked for. */
let unasked = 0

const clients = await Promise.all(Array.from({ length: connections }, open))
const began = performance.now()
const wanted = rate * seconds
for (let sent = 0; sent < wanted; await sleep(1)) {
  for (; sent < wanted; sent += 1) {
    const due = began + (sent / rate) * 1_000
    const now = performance.now()
    if (due > now) break
    const client = clients[sent % connections] as Client
    late.push(now - due)
    client.waiting.push({ due, written: now })
    client.socket.write('GET /hello.json HTTP/1.1\r\nHost: localhost\r\n\r\n')
  }
}
const last = performance.now() + patience
while (fromDue.length + wrong < wanted && performance.now() < last) await sleep(10)
const report: HealthyReport = {
  fromDue: percentile(fromDue, 0.99),
  fromWrite: percentile(fromWrite, 0.99),
  late: percentile(late, 0.99),
  worst: percentile(fromDue, 1),
  failed: wanted - fromDue.length + unasked,
}
process.send?.(report)

interface Client {
  readonly socket: TLSSocket
  /** The requests that have no reply yet, with when they were due and when they were written. */
  readonly waiting: { readonly due: number; readonly written: number }[]
}

async function open(): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const waiting: Client['waiting'] = []
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (part: string) => {
    const now = performance.now()
    text += part
    for (let reply = takeReply(text, hello); reply !== null; reply = takeReply(text, hello)) {
      text = reply.rest
      const asked = waiting.shift()
      if (asked === undefined) unasked += 1
      else if (!reply.isRight) wrong += 1
      else {
        fromDue.push(now - asked.due)
        fromWrite.push(now - asked.written)
      }
    }
  })
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  // One that is closed later has requests without a reply, which are counted.
  socket.on('error', () => undefined)
  return { socket, waiting }
}

/** NaN, which is below no bar, of nothing. */
function percentile(values: number[], share: number): number {
  values.sort((a, b) => a - b)
  return values[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN
}
