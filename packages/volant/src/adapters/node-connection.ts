/** One connection of the node:http adapter: which of its requests run, and which wait. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '../errors/errors.ts'
import type { NodeExchange } from './node-exchange.ts'
import type { NodeServer } from './node-http.ts'
import { refusalBytes } from './refuse.ts'

export class NodeConnection {
  readonly server: NodeServer
  readonly socket: Socket
  readonly remoteAddress: string
  /** By the server's clock. */
  readonly born: number
  /** Says `Connection: close` from now on. */
  closing = false
  /** False once a request asked for the connection to be closed. */
  keepsAlive = true
  /** Nothing more can be read from it. */
  broken = false
  /** A reply that was sent and waits to be ended, while the rest of its request is discarded. */
  lingering: ServerResponse | null = null
  /**
   * The reply that comes last, if it was not alone when its request arrived. Not kept for requests that were:
   * holding on to one finished reply a connection more than doubled the cost of the garbage collector's scavenges.
   */
  lastResponse: ServerResponse | null = null
  /** For the sweep: bytes that waited to be sent when last looked at, and since when they are that many. */
  #stalledBytes = -1
  #stalledSince = 0
  /** For the sweep: bytes received when last looked at, and since when it is idle and they are that many. */
  #seenBytes = -1
  #idleSince = 0
  readonly #active: NodeExchange[] = []
  #unsafe = false
  #ending = false
  #waiting: NodeExchange[] = []

  constructor(server: NodeServer, socket: Socket) {
    this.server = server
    this.born = server.clock
    this.socket = socket
    this.remoteAddress = socket.remoteAddress ?? ''
    socket.on('end', () => {
      for (const exchange of [...this.#active, ...this.#waiting]) exchange.hangUp()
    })
    socket.on('close', () => {
      server.connections.delete(this)
      for (const exchange of [...this.#active, ...this.#waiting]) exchange.abort('client')
      this.#waiting = []
      this.#active.length = 0
    })
  }

  /** Milliseconds for which as many bytes have waited to be sent; 0 when none wait. */
  stalledFor(now: number): number {
    const waiting = this.socket.writableLength
    if (waiting === 0 || waiting !== this.#stalledBytes) {
      this.#stalledBytes = waiting
      this.#stalledSince = now
    }
    return now - this.#stalledSince
  }

  /** Milliseconds since a sweep found it idle after a reply, with nothing received meanwhile; 0 when it is not. */
  idleFor(now: number): number {
    const received = this.socket.bytesRead
    // Before its first request it has `headersTimeout`, which node:http watches.
    if (!this.idle || received === 0 || received !== this.#seenBytes) {
      this.#seenBytes = received
      this.#idleSince = now
    }
    return now - this.#idleSince
  }

  get idle(): boolean {
    return this.#active.length === 0 && this.#waiting.length === 0
  }

  /** Runs the exchange now, or when those before it allow (RFC 9112 §9.3.2). */
  offer(exchange: NodeExchange): void {
    this.lastResponse = this.idle ? null : exchange.response
    this.keepsAlive = exchange.response.shouldKeepAlive
    if (this.#waiting.length === 0 && exchange.ready && this.#admits(exchange)) {
      this.#run(exchange)
      return
    }
    this.#waiting.push(exchange)
    // Requests beyond those in hand stay in the kernel's buffer; only what was read with them waits here.
    if (this.#waiting.length + this.#active.length > this.server.host.limits.maxPipelined) this.socket.pause()
  }

  /** Runs those that waited and may run now. */
  pump(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next.aborted || next.replied) {
        this.#waiting.shift()
        continue
      }
      if (!next.ready || !this.#admits(next)) break
      this.#waiting.shift()
      this.#run(next)
    }
    if (this.#waiting.length === 0 && this.socket.isPaused()) this.socket.resume()
  }

  finished(exchange: NodeExchange): void {
    const active = this.#active
    if (active.length === 1 && active[0] === exchange) active.pop()
    else {
      const at = active.indexOf(exchange)
      if (at >= 0) active.splice(at, 1)
    }
    if (active.length === 0) this.#unsafe = false
    // A reply that began before could not say that its connection closes.
    if (this.server.closing && this.idle && exchange.request.complete) this.endAfterReplies()
    // Not in the stack of the handler that replied.
    if (this.#waiting.length > 0) setImmediate(pump, this)
  }

  /** Whether the reply being written says that the connection closes. */
  mustClose(): boolean {
    const { maxConnectionAge } = this.server.host.limits
    return (
      this.closing ||
      this.server.closing ||
      (maxConnectionAge > 0 && this.server.clock - this.born > maxConnectionAge)
    )
  }

  /** The bytes after the last request are no request: says so after the replies that are due, and closes. */
  reject(code: ErrorCode): void {
    // node:http says it again for whatever the client sends after.
    if (this.broken) return
    this.broken = true
    const reading = [...this.#active, ...this.#waiting].find(
      (exchange) => exchange.upload !== null && !exchange.request.complete,
    )
    if (reading !== undefined) {
      this.closing = true
      if (reading.replied) this.socket.destroy()
      else if (reading.ready) reading.upload?.breakOff()
      else reading.refuse(code)
      return
    }
    this.server.refused++
    // A reply that said close is the last one.
    if (this.closing || !this.keepsAlive) return this.endAfterReplies()
    this.#afterReplies(() => this.socket.end(refusalBytes(code), () => this.socket.destroySoon()))
  }

  /** Closes once the replies that are due were sent. */
  endAfterReplies(): void {
    if (this.#ending) return
    this.#ending = true
    this.lingering?.end()
    this.#afterReplies(() => this.socket.destroySoon())
  }

  /** A response that node:http did not make: it is sent after the replies that are due, and the connection closed. */
  sendLast(response: ServerResponse): void {
    response.on('finish', () => this.socket.destroySoon())
    this.socket.on('drain', () => response.emit('drain'))
    this.#afterReplies(() => response.assignSocket(this.socket))
  }

  #afterReplies(then: () => void): void {
    const last = this.#last
    if (last === null) this.#whenFlushed(then)
    else last.once('finish', () => this.#whenFlushed(then))
  }

  /** node:http hands a pipelined reply to the socket a tick after the one before it was sent; so ask twice. */
  #whenFlushed(then: () => void, quiet = false): void {
    setImmediate(() => {
      if (this.socket.destroyed) return
      if (this.socket.writableLength > 0) setTimeout(() => this.#whenFlushed(then), 5)
      else if (quiet) then()
      else this.#whenFlushed(then, true)
    })
  }

  /** The reply to be sent last of those that are due. */
  get #last(): ServerResponse | null {
    const kept = this.lastResponse
    if (kept !== null && !kept.writableFinished) return kept
    return this.#waiting.at(-1)?.response ?? this.#active.at(-1)?.response ?? null
  }

  abortAll(): void {
    for (const exchange of [...this.#active, ...this.#waiting]) exchange.abort('shutdown')
    this.socket.resetAndDestroy()
  }

  #admits(exchange: NodeExchange): boolean {
    const active = this.#active.length
    if (active === 0) return true
    return !this.#unsafe && isSafe(exchange.method) && active < this.server.host.limits.maxPipelined
  }

  #run(exchange: NodeExchange): void {
    this.#active.push(exchange)
    if (!isSafe(exchange.method)) this.#unsafe = true
    exchange.dispatch()
  }
}

/** Methods whose order among themselves does not matter (RFC 9110 §9.2.1). */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

function pump(connection: NodeConnection): void {
  connection.pump()
}
