/** One connection after another: pipelined requests, replies checked byte by byte, and every rude way to leave. */
import { connect, type Socket } from 'node:net'
import { Failure } from './failure.ts'
import { largeBytes, streamParts } from './soak-figures.ts'

/** Shared by all clients of a run. */
export interface Traffic {
  readonly port: number
  /** Clients stop when this many requests were sent. */
  target: number
  sent: number
  /** Replies that were complete and right. */
  answered: number
  /** Connections a client left before it had its replies. */
  aborts: number
}

/** How a client leaves a connection; most batches end with `stay`. */
type Leaving =
  | 'stay'
  | 'destroy'
  | 'destroy-in-reply'
  | 'destroy-in-head'
  | 'destroy-in-body'
  | 'reset'
  | 'half-close'
const leavings: readonly Leaving[] = [
  'destroy',
  'destroy-in-reply',
  'destroy-in-head',
  'destroy-in-body',
  'reset',
  'half-close',
]
/** Share of batches after which the client leaves. */
const leavingShare = 0.04
const deepest = 16

/** Sends batches until the target is reached. Rejects when a reply is wrong or missing. */
export async function visit(traffic: Traffic): Promise<void> {
  while (traffic.sent < traffic.target) await new Visit(traffic).done
}

class Visit {
  readonly done: Promise<void>
  readonly #traffic: Traffic
  readonly #socket: Socket
  /** Bodies of the replies to come, oldest first. */
  #expected: Buffer[] = []
  #received: Buffer = Buffer.alloc(0)
  #leaving: Leaving = 'stay'
  #resolve!: () => void
  #reject!: (error: Error) => void

  constructor(traffic: Traffic) {
    this.#traffic = traffic
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const socket = connect({ port: traffic.port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    this.#socket = socket
    socket.on('connect', () => this.#batch())
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('end', () => socket.end())
    // A reset by the server shows in `close`, as a connection that ended too early.
    socket.on('error', () => {})
    socket.on('close', () => this.#closed())
  }

  #batch(): void {
    const traffic = this.#traffic
    if (traffic.sent >= traffic.target) {
      this.#leaving = 'half-close'
      this.#socket.end()
      return
    }
    let bytes = ''
    for (let depth = 1 + below(deepest); depth > 0; depth--) bytes += this.#request()
    if (Math.random() < leavingShare) this.#leaving = leavings[below(leavings.length)] as Leaving
    const leaving = this.#leaving
    if (leaving === 'destroy-in-head')
      bytes += `GET /now/1 HTTP/1.1\r\nHost: h\r\nX-Cut: ${'x'.repeat(below(200))}`
    if (leaving === 'destroy-in-body')
      bytes += `POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n${'x'.repeat(below(900))}`
    this.#socket.write(bytes, 'latin1')
    if (leaving === 'half-close') this.#socket.end()
    else if (leaving !== 'stay' && leaving !== 'destroy-in-reply') this.#leaveSoon()
  }

  /** The text of a request; what its reply must be is noted. */
  #request(): string {
    const nonce = String(++this.#traffic.sent)
    const kind = Math.random()
    if (kind < 0.7) return this.#get('now', nonce, nonce)
    if (kind < 0.84) return this.#get('later', nonce, nonce)
    if (kind < 0.88) return this.#get('large', nonce, Buffer.alloc(largeBytes, `${nonce} `))
    if (kind < 0.92) return this.#get('stream', nonce, nonce.repeat(streamParts))
    const body = `${nonce} `.repeat(1 + below(100))
    this.#expected.push(Buffer.from(body))
    return `POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }

  #get(route: string, nonce: string, expected: string | Buffer): string {
    this.#expected.push(typeof expected === 'string' ? Buffer.from(expected) : expected)
    return `GET /${route}/${nonce} HTTP/1.1\r\nHost: h\r\n\r\n`
  }

  /** At once, in this turn of the loop, or within a few ms. */
  #leaveSoon(): void {
    const leave = () => {
      if (this.#leaving === 'reset') this.#socket.resetAndDestroy()
      else this.#socket.destroy()
    }
    const when = below(3)
    if (when === 0) leave()
    else if (when === 1) setImmediate(leave)
    else setTimeout(leave, below(5))
  }

  #take(bytes: Buffer): void {
    let rest = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
    try {
      for (;;) {
        const next = this.#reply(rest)
        if (next === 0) break
        rest = rest.subarray(next)
      }
    } catch (error) {
      this.#reject(error as Error)
      this.#leaving = 'destroy'
      this.#socket.destroy()
      return
    }
    this.#received = rest
    if (this.#leaving === 'destroy-in-reply') this.#leaveSoon()
    else if (this.#leaving === 'stay' && this.#expected.length === 0) this.#batch()
  }

  /** Checks the reply at the start; gives its length, or 0 if it is not complete. */
  #reply(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end === -1) return 0
    const head = bytes.toString('latin1', 0, end + 2)
    const at = head.indexOf('\r\nContent-Length: ')
    const length = Number(head.slice(at + 18, head.indexOf('\r\n', at + 2)))
    const next = end + 4 + length
    const expected = this.#expected[0]
    if (!head.startsWith('HTTP/1.1 200 ') || at === -1 || expected === undefined) {
      // What the client cut short may still be refused before it has left.
      if (expected === undefined && this.#leaving !== 'stay') return 0
      throw new Failure(`an unexpected reply: ${bytes.toString('latin1', 0, 300)}`)
    }
    if (bytes.length < next) return 0
    if (!bytes.subarray(end + 4, next).equals(expected)) {
      throw new Failure(
        `the reply of another request: ${bytes.toString('latin1', end + 4, end + 40)} in place of ${expected.toString('latin1', 0, 40)}`,
      )
    }
    this.#expected.shift()
    this.#traffic.answered++
    return next
  }

  #closed(): void {
    const missing = this.#expected.length
    if (this.#leaving === 'stay' || (this.#leaving === 'half-close' && missing > 0)) {
      this.#reject(new Failure(`the server ended a connection with ${missing} replies to come`))
      return
    }
    if (this.#leaving !== 'half-close' || missing > 0) this.#traffic.aborts++
    this.#resolve()
  }
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit)
}
