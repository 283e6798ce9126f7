/**
 * Writes interim replies on node:http. Its own `writeEarlyHints` takes fewer Link values than RFC 8288 has, joins
 * repeated fields and writes ASCII.
 */
import type { ServerResponse } from 'node:http'
import { phrases } from '../errors/phrases.ts'

/** The most bytes that may wait, for the client to read or for earlier replies. Hints lose their worth with time. */
const mostWaiting = 16_384

interface Queue {
  readonly heads: Buffer[]
  bytes: number
}

/** The queues of responses that wait for earlier ones on their connection. */
const queues = new WeakMap<ServerResponse, Queue>()

/** Writes an interim reply before `response`, now or when its turn comes. Drops it when too much waits already. */
export function writeInterim(response: ServerResponse, status: number, headers: readonly string[]): void {
  const bytes = head(status, headers)
  const { socket } = response
  if (socket !== null) {
    if (socket.writable && socket.writableLength + bytes.length <= mostWaiting) socket.write(bytes)
    return
  }
  const queue = queues.get(response) ?? queueFor(response)
  if (queue.bytes + bytes.length > mostWaiting) return
  queue.bytes += bytes.length
  queue.heads.push(bytes)
}

function queueFor(response: ServerResponse): Queue {
  const queue: Queue = { heads: [], bytes: 0 }
  queues.set(response, queue)
  // It is this response's turn, and nothing of the reply is written yet.
  response.once('socket', (socket) => {
    queues.delete(response)
    for (const bytes of queue.heads) socket.write(bytes)
  })
  return queue
}

function head(status: number, headers: readonly string[]): Buffer {
  let text = `HTTP/1.1 ${status} ${phrases[status] ?? ''}\r\n`
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
  return Buffer.from(`${text}\r\n`, 'latin1')
}
