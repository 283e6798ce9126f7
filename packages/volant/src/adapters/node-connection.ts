/** A connection of the node:http adapter decides which of its requests run and which wait. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '../errors/errors.ts'
import type { NodeExchange } from './node-exchange.ts'
import type { NodeSocket } from './node-socket.ts'
import type { NodeServer } from './node-http.ts'
import { reset } from './node-reset.ts'
import { bytesSent } from './node-secure.ts'
import { refusalBytes } from './refuse.ts'

export class NodeConnection {
  readonly server: NodeServer
  readonly socket: Socket
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** The time the connection opened, by the server's clock. */
  readonly born: number
  /** True once replies say `Connection: close`. */
  closing = false
  /** True once a reply said that the connection closes: requests that come behind it are not served. */
  saidClose = false
  /** False once a request asked for the connection to be closed. */
  keepsAlive = true
  /** True once nothing more can be read from the connection. */
  broken = false
  /** A reply that was sent but is not ended until the rest of its request was discarded. */
  lingering: ServerResponse | null = null
  /**
   * The last reply, if other requests were running when its request arrived. Other replies are not kept: keeping one
   * finished reply for each connection more than doubled the cost of the garbage collector's scavenges.
   */
  lastResponse: ServerResponse | null = null
  /** The bytes that were sent by the last sweep, and the time since which their number has not changed. */
  #stalledBytes = -1
  #stalledSince = 0
  /** The bytes received at the last sweep, and the time since when the connection is idle with that many. */
  #seenBytes = -1
  #idleSince = 0
  /** The WebSocket that it has become; null for HTTP. */
  webSocket: NodeSocket | null = null
  /** How many of its requests libraries have taken, and 1 for good once one has taken the connection. */
  #lent = 0
  /** True once a request came. */
  #served = false
  readonly #active: NodeExchange[] = []
  #unsafe = false
  #ending = false
  #waiting: NodeExchange[] = []

  constructor(server: NodeServer, socket: Socket) {
    this.server = server
    this.born = server.clock
    this.socket = socket
    this.remoteAddress = socket.remoteAddress ?? ''
    this.encrypted = 'encrypted' in socket
    socket.on('end', () => {
      // A destroyed connection has not just ended its sending side. Its exchanges end in the `close` event below.
      if (socket.destroyed) return
      for (const exchange of [...this.#active, ...this.#waiting]) exchange.hangUp()
    })
    socket.on('close', () => {
      server.connections.delete(this)
      for (const exchange of [...this.#active, ...this.#waiting]) exchange.abort('client')
      this.#waiting = []
      this.#active.length = 0
    })
  }

  /** Gives the milliseconds for which bytes have waited and none was sent. */
  stalledFor(now: number): number {
    const sent = bytesSent(this.socket)
    if (this.socket.writableLength === 0 || sent !== this.#stalledBytes) {
      this.#stalledBytes = sent
      this.#stalledSince = now
    }
    return now - this.#stalledSince
  }

  /**
   * Gives the milliseconds since a sweep found the connection idle after a reply, if nothing was received meanwhile;
   * else 0.
   */
  idleFor(now: number): number {
    const received = this.socket.bytesRead
    // The time before the first request is limited by `headersTimeout`, which node:http watches.
    if (!this.idle || received === 0 || received !== this.#seenBytes) {
      this.#seenBytes = received
      this.#idleSince = now
    }
    return now - this.#idleSince
  }

  get idle(): boolean {
    const answered = this.#active.length === 0 && this.#waiting.length === 0
    return answered && this.webSocket === null && this.#lent === 0
  }

  /** Runs the exchange now, or once those before it allow that (RFC 9112 §9.3.2). */
  offer(exchange: NodeExchange): void {
    this.#served = true
    this.lastResponse = this.idle ? null : exchange.response
    this.keepsAlive = exchange.response.shouldKeepAlive
    // While the server closes, the requests that were read together are known before the first of them is answered.
    const isOpen = this.server.phase === 'open'
    if (isOpen && this.#waiting.length === 0 && exchange.ready && this.#admits(exchange)) {
      this.#run(exchange)
      return
    }
    this.#waiting.push(exchange)
    if (!isOpen) setImmediate(pump, this)
    // Further requests stay in the kernel's buffer. Only those that were read together with these wait here.
    if (this.#waiting.length + this.#active.length > this.server.host.limits.maxPipelined) this.socket.pause()
  }

  /** Is called when a library has taken a request, or with null the connection. */
  lend(response: ServerResponse | null): void {
    this.#lent++
    response?.once('close', () => {
      this.#lent--
      if (this.server.phase === 'closing' && this.idle) this.endAfterReplies()
    })
  }

  /** Runs the waiting requests that may run now. */
  pump(): void {
    // Whoever is told that its connection closes connects again, and would wait in the queue of a socket that closes.
    if (this.server.phase === 'accepting') return
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

  /** `isLast`: the server closes, and the head of the reply left before that was known. */
  finished(exchange: NodeExchange, isLast: boolean): void {
    const active = this.#active
    if (active.length === 1 && active[0] === exchange) active.pop()
    else {
      const at = active.indexOf(exchange)
      if (at >= 0) active.splice(at, 1)
    }
    if (active.length === 0) this.#unsafe = false
    // A reply that began earlier could not say that its connection closes.
    const ends = isLast || this.server.phase === 'closing'
    if (ends && this.idle && exchange.request.complete) this.endAfterReplies()
    // The next request runs outside of the stack of the handler that replied.
    if (this.#waiting.length > 0) setImmediate(pump, this)
  }

  /** True when the reply of `exchange`, which is being written, says that the connection closes. */
  mustClose(exchange: NodeExchange): boolean {
    const { maxConnectionAge } = this.server.host.limits
    const leaves =
      this.server.phase !== 'open' ||
      (maxConnectionAge > 0 && this.server.clock - this.born > maxConnectionAge)
    // Requests behind this one are served, and the reply to the last of them says it.
    const closes = this.closing || (leaves && this.#waiting.length === 0 && this.#active.at(-1) === exchange)
    this.saidClose ||= closes
    return closes
  }

  /**
   * Closes an idle connection. If it lingers, a request that crosses the end of our side is thrown away, and its client
   * sees the end, not a reset.
   */
  leave(lingers: boolean): void {
    const { socket } = this
    if (!lingers) return void socket.destroy()
    this.closing = true
    socket.end()
    setTimeout(() => socket.destroy(), this.server.host.limits.drainTimeout).unref()
  }

  /**
   * Refuses the bytes after the last request, which are not a request: sends the refusal after the replies that are
   * due, and closes.
   */
  reject(code: ErrorCode): void {
    // node:http reports the error again for whatever the client sends afterwards.
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
    // No reply may follow one that said close.
    if (this.closing || !this.keepsAlive) return this.endAfterReplies()
    this.#afterReplies(() => this.socket.end(refusalBytes(code), () => this.socket.destroySoon()))
  }

  /** Closes the connection once the replies that are due were sent. */
  endAfterReplies(): void {
    if (this.#ending) return
    this.#ending = true
    this.lingering?.end()
    this.#afterReplies(() => this.socket.destroySoon())
  }

  /** Sends a response that node:http did not make, after the replies that are due, and closes the connection. */
  sendLast(response: ServerResponse): void {
    response.on('finish', () => this.socket.destroySoon())
    this.socket.on('drain', () => response.emit('drain'))
    this.#afterReplies(() => response.assignSocket(this.socket))
  }

  /** Calls `then` once the replies to earlier requests were sent: at once for the first request. */
  whenAnswered(then: () => void): void {
    if (this.#served) this.#afterReplies(then)
    else then()
  }

  #afterReplies(then: () => void): void {
    const last = this.#last
    if (last === null) this.#whenFlushed(then)
    else last.once('finish', () => this.#whenFlushed(then))
  }

  /** node:http passes a pipelined reply to the socket a tick after the one before it was sent, so this checks twice. */
  #whenFlushed(then: () => void, quiet = false): void {
    setImmediate(() => {
      if (this.socket.destroyed) return
      if (this.socket.writableLength > 0) setTimeout(() => this.#whenFlushed(then), 5)
      else if (quiet) then()
      else this.#whenFlushed(then, true)
    })
  }

  /** Gives the last of the replies that are due. */
  get #last(): ServerResponse | null {
    const kept = this.lastResponse
    if (kept !== null && !kept.writableFinished) return kept
    return this.#waiting.at(-1)?.response ?? this.#active.at(-1)?.response ?? null
  }

  /** Ends the connection, whose time is over: with a reset, unless it is idle. */
  abortAll(): void {
    if (this.idle && this.socket.writableLength === 0) return void this.socket.destroy()
    for (const exchange of [...this.#active, ...this.#waiting]) exchange.abort('shutdown')
    reset(this.socket)
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

/** True for methods whose order among themselves does not matter (RFC 9110 §9.2.1). */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

function pump(connection: NodeConnection): void {
  connection.pump()
}
