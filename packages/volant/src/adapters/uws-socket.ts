/** One WebSocket on uWebSockets.js, whose object throws when it is used after its close. */
import { AsyncResource } from 'node:async_hooks'
import type { ServerSocket, SocketEvents, SocketRoute } from '@volant/engine'
import type { UwsWebSocket } from './uws-load.ts'
import type { UwsSockets } from './uws-sockets.ts'

/** The number of bytes from which on `send` gives false. */
const highWater = 65_536
/** What uWebSockets.js returns where it has dropped nothing and nothing waits. */
const sent = 1

export class UwsSocket implements ServerSocket {
  readonly route: SocketRoute
  closing = false
  /** True where the client has sent a message, a ping or a pong since the last check. */
  heard = true
  readonly #sockets: UwsSockets
  /** The async context that the events run in: that of the request, which is not kept itself. */
  readonly #scope = new AsyncResource('VolantSocket', { requireManualDestroy: true })
  readonly #events: SocketEvents
  /** Null before uWebSockets.js has made it, and after its close. */
  #socket: UwsWebSocket | null = null
  /** True where `send` gave false and `drain` was not called since. */
  #waits = false
  /** True once it had a topic: uWebSockets.js publishes nothing for a socket that never had one. */
  #subscribed = false
  #dropped = 0
  /** The times in ms of the check that found `heard` set, and of the ping since then, or 0. */
  #heardAt = 0
  #pingedAt = 0
  /** The code to report in place of 1006, after a close that uWebSockets.js could not announce. */
  #code = 0

  constructor(sockets: UwsSockets, route: SocketRoute, events: SocketEvents) {
    this.#sockets = sockets
    this.route = route
    this.#events = events
  }

  get bufferedAmount(): number {
    return this.#socket?.getBufferedAmount() ?? 0
  }

  send(data: string | Uint8Array): boolean {
    const socket = this.#socket
    if (socket === null || this.closing) return false
    const { compressFrom, maxBuffered, whenFull } = this.route
    const length = typeof data === 'string' ? Buffer.byteLength(data) : data.length
    const waiting = socket.getBufferedAmount()
    // Where nothing waits, a message of any length may be sent.
    if (waiting > 0 && waiting + length > maxBuffered) {
      if (whenFull === 'drop') this.drops()
      else this.close(1013, 'too much waits to be sent')
      return false
    }
    const compress = compressFrom >= 0 && length >= compressFrom
    if (socket.send(encodable(data), typeof data !== 'string', compress) === sent) return true
    this.#waits ||= socket.getBufferedAmount() > highWater
    return !this.#waits
  }

  close(code = 1005, reason = ''): void {
    const socket = this.#socket
    if (socket === null || this.closing) return
    this.closing = true
    socket.end(code, wellFormed(reason))
  }

  terminate(): void {
    const socket = this.#socket
    if (socket === null) return
    this.closing = true
    socket.close()
  }

  subscribe(topic: string): void {
    if (this.#socket === null || this.closing) return
    this.#subscribed = true
    this.#socket.subscribe(topic)
  }

  unsubscribe(topic: string): void {
    if (!this.closing) this.#socket?.unsubscribe(topic)
  }

  publish(topic: string, data: string | Uint8Array): void {
    const socket = this.#socket
    if (socket === null || this.closing) return
    if (!this.#subscribed) return this.#sockets.publish(topic, data)
    socket.publish(topic, encodable(data), typeof data !== 'string', this.#sockets.compresses(data))
  }

  /** Is called now and then: the client may have been silent for too long. */
  check(now: number): void {
    const half = this.route.idleTimeout / 2
    if (this.heard) {
      this.heard = false
      this.#heardAt = now
      this.#pingedAt = 0
    } else if (half > 0 && this.#pingedAt > 0) {
      if (now - this.#pingedAt >= half) this.terminate()
    } else if (half > 0 && now - this.#heardAt >= half) {
      this.#pingedAt = now
      // More than that would be dropped, and reported as a message.
      if (this.bufferedAmount <= this.route.maxBuffered) this.#socket?.ping()
    }
  }

  /** Is called by uWebSockets.js inside `upgrade`. */
  opened(socket: UwsWebSocket): void {
    this.#socket = socket
  }

  received(bytes: ArrayBuffer, binary: boolean): void {
    this.heard = true
    if (this.closing) return
    // uWebSockets.js reuses the memory after this call.
    const data = binary ? Buffer.from(new Uint8Array(bytes)) : Buffer.from(bytes).toString('utf8')
    this.#scope.runInAsyncScope(this.#events.message, this.#events, data)
  }

  drained(): void {
    const socket = this.#socket
    if (!this.#waits || this.closing || socket === null || socket.getBufferedAmount() > 0) return
    this.#waits = false
    this.#scope.runInAsyncScope(this.#events.drain, this.#events)
  }

  /** Is called where a message to this socket was dropped, as it may be in the middle of a publish. */
  drops(): void {
    if (this.closing) return
    if (this.route.whenFull === 'close') return this.#giveUp()
    this.#waits = true
    if (this.#dropped++ > 0) return
    setImmediate(() => {
      const dropped = this.#dropped
      this.#dropped = 0
      if (this.closing) return
      this.#scope.runInAsyncScope(this.#events.dropped, this.#events, dropped)
      this.drained()
    })
  }

  /**
   * Resets the connection of a client that does not read. A close frame would be dropped, since uWebSockets.js counts it
   * against the limit too; and it must not be closed in the middle of a publish.
   */
  #giveUp(): void {
    this.closing = true
    this.#code = 1013
    setImmediate(() => this.#socket?.close())
  }

  /** Is called by uWebSockets.js inside `end` and `close` as well, where hooks must not run. */
  closed(code: number, reason: string): void {
    this.#socket = null
    this.closing = true
    this.#sockets.remove(this)
    const reported = this.#code === 0 ? code : this.#code
    setImmediate(() => {
      // Where nothing was closed by a frame, the reason is what uWebSockets.js says about it.
      const given = reported === 1006 ? '' : reason
      this.#scope.runInAsyncScope(this.#events.close, this.#events, reported, given)
    })
  }
}

/** Gives the same message without lone surrogates, which uWebSockets.js would send as no valid UTF-8. */
export function encodable(data: string | Uint8Array): string | Uint8Array {
  return typeof data === 'string' ? wellFormed(data) : data
}

function wellFormed(text: string): string {
  // The types of ES2023 lack the method, which Node.js 20 has.
  return (text as unknown as { toWellFormed(): string }).toWellFormed()
}
