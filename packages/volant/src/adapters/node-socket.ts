/** Offers a WebSocket of the library ws as the adapter node:http has it. */
import type { AsyncResource } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { ServerSocket, SocketEvents, SocketRoute } from '@volant/engine'
import { reset } from './node-reset.ts'
import { bytesPassing } from './node-secure.ts'
import type { NodeSockets } from './node-sockets.ts'
import type { WsSocket } from './ws-load.ts'

/** Past so many bytes that wait `send` gives false. */
const highWater = 65_536
const open = 1

export class NodeSocket implements ServerSocket {
  readonly #all: NodeSockets
  readonly #ws: WsSocket
  readonly #socket: Socket
  /** The async context that the events run in. */
  readonly #scope: AsyncResource
  readonly #events: SocketEvents
  readonly #route: SocketRoute
  readonly #sent = () => this.#onSent()
  #topics: Set<string> | null = null
  #closing = false
  /** The code and the reason that this side closed with, before the other one did. */
  #code = 0
  #reason = ''
  /** True once `send` gave false, until `drain` is called. */
  #isSlow = false
  #dropped = 0
  /** How many bytes had come by the last sweep, since when there were that many, and whether a ping was sent since. */
  #seenBytes = -1
  #idleSince = 0
  #pinged = false

  constructor(
    all: NodeSockets,
    parts: { ws: WsSocket; socket: Socket; scope: AsyncResource; events: SocketEvents; route: SocketRoute },
  ) {
    this.#all = all
    this.#ws = parts.ws
    this.#socket = parts.socket
    this.#scope = parts.scope
    this.#events = parts.events
    this.#route = parts.route
    parts.ws
      .on('message', (data, isBinary) => this.#onMessage(isBinary ? data : data.toString()))
      .on('ping', () => this.#throttle())
      .on('close', (code, reason) => this.#onClose(code, reason.toString()))
      // What is wrong with a frame is told to the client in the close frame, and to the app by its code.
      .on('error', () => {})
    parts.socket.on('drain', () => this.#resume())
    // It is the server that closes the connection (RFC 6455 §7.1.1), also where the client keeps its side open. After a
    // fault the client may still be sending, and a reset would overtake the close frame.
    parts.socket.once('finish', () => {
      if (this.#ws.fault === 0) parts.socket.destroy()
    })
  }

  get closing(): boolean {
    return this.#closing || this.#ws.readyState !== open
  }

  get bufferedAmount(): number {
    return this.#ws.bufferedAmount - bytesPassing(this.#socket)
  }

  send(data: string | Uint8Array): boolean {
    if (typeof data === 'string') return this.sendAs(data, false)
    // The caller may reuse its bytes, and ws may send them later.
    return this.sendAs(Buffer.from(data), true)
  }

  /** Sends text, or bytes that are the text of a message or a binary one. They may be read later. */
  sendAs(data: string | Uint8Array, binary: boolean): boolean {
    if (this.closing) return false
    const bytes = typeof data === 'string' ? Buffer.byteLength(data) : data.length
    const waiting = this.bufferedAmount
    // Where nothing waits, a message of any length may be sent.
    if (waiting > 0 && waiting + bytes > this.#route.maxBuffered) return this.#refuse()
    this.#ws.send(data, { binary }, this.#sent)
    if (this.bufferedAmount <= highWater) return true
    this.#isSlow = true
    return false
  }

  close(code = 1005, reason = ''): void {
    if (this.closing) return
    this.#closing = true
    this.#code = code
    this.#reason = reason
    // The client's close frame may be in what waits to be received.
    this.#ws.resume()
    if (code === 1005) this.#ws.close()
    else this.#ws.close(code, reason)
  }

  terminate(): void {
    if (this.#ws.readyState === 3) return
    this.#closing = true
    this.#code = 0
    reset(this.#socket)
  }

  subscribe(topic: string): void {
    if (this.closing) return
    ;(this.#topics ??= new Set()).add(topic)
    this.#all.subscribe(topic, this)
  }

  unsubscribe(topic: string): void {
    if (this.#topics?.delete(topic)) this.#all.unsubscribe(topic, this)
  }

  publish(topic: string, data: string | Uint8Array): void {
    if (!this.closing) this.#all.publish(topic, data, this)
  }

  /** Sends a ping after half of the idle time, and resets the connection after all of it. */
  sweep(now: number): void {
    const { idleTimeout } = this.#route
    const received = this.#socket.bytesRead
    if (received !== this.#seenBytes) {
      this.#seenBytes = received
      this.#idleSince = now
      this.#pinged = false
    } else if (idleTimeout > 0 && now - this.#idleSince >= idleTimeout) this.terminate()
    else if (idleTimeout > 0 && !this.#pinged && now - this.#idleSince >= idleTimeout / 2) {
      this.#pinged = true
      if (!this.closing) this.#ws.ping()
    }
  }

  #refuse(): false {
    if (this.#route.whenFull === 'close') this.close(1013, 'too much waits to be sent')
    else {
      this.#isSlow = true
      if (this.#dropped++ === 0) setImmediate(() => this.#tellDropped())
    }
    return false
  }

  #tellDropped(): void {
    const messages = this.#dropped
    this.#dropped = 0
    if (this.#ws.readyState === 3) return
    this.#scope.runInAsyncScope(this.#events.dropped, this.#events, messages)
    this.#onSent()
  }

  #onSent(): void {
    this.#resume()
    if (!this.#isSlow || this.#ws.bufferedAmount > 0 || this.closing) return
    this.#isSlow = false
    this.#scope.runInAsyncScope(this.#events.drain, this.#events)
  }

  #onMessage(data: string | Buffer): void {
    // After our close frame nothing is received any more.
    if (this.#closing) return
    this.#scope.runInAsyncScope(this.#events.message, this.#events, data)
    this.#throttle()
  }

  /** Has a client that sends and does not read wait, so that its echoes and pongs do not pile up. */
  #throttle(): void {
    if (this.closing || this.#ws.isPaused || this.bufferedAmount <= highWater) return
    this.#ws.pause()
  }

  #resume(): void {
    if (this.#ws.isPaused && this.bufferedAmount <= highWater) this.#ws.resume()
  }

  #onClose(given: number, reason: string): void {
    const { fault } = this.#ws
    const isOurs = fault > 0 || this.#code > 0
    const code = fault > 0 ? fault : this.#code > 0 ? this.#code : given
    this.#closing = true
    for (const topic of this.#topics ?? []) this.#all.unsubscribe(topic, this)
    this.#topics = null
    this.#all.gone(this)
    this.#scope.runInAsyncScope(this.#events.close, this.#events, code, isOurs ? this.#reason : reason)
    this.#all.told()
  }
}
