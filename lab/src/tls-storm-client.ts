/**
 * A child of `lab tls-storm`: sends 500 requests a second on 50 connections over TLS, and measures from the time when
 * each was due.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type TLSSocket, connect } from 'node:tls'
import { takeReply } from './reply-text.ts'
import { hello } from './scenarios/hello.ts'
import type { HealthyReport } from './tls-storm.ts'

const [port, seconds] = process.argv.slice(2).map(Number) as [number, number]
const connections = 50
const rate = 500
/** The longest time in ms for which replies are awaited after the window. */
const patience = 10_000

/** The times of correct replies, in ms. */
const fromDue: number[] = []
const fromWrite: number[] = []
/** How much later than it was due each request was written, in ms. This process woke late then. */
const late: number[] = []
let wrong = 0
/** The number of replies without a request. */
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
  /** The requests without a reply yet, each with the time when it was due and the time when it was written. */
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
  // A socket that is closed later has requests without a reply, which are counted.
  socket.on('error', () => undefined)
  return { socket, waiting }
}

/** Gives a percentile. It is NaN without values, so that no bar is met. */
function percentile(values: number[], share: number): number {
  values.sort((a, b) => a - b)
  return values[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN
}
