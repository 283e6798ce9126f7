/**
 * Accepts the connections of a server on node:http that has TLS or HTTP/2. It reads their first bytes, starts the TLS
 * handshake, and passes each connection to the server of its protocol.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Limits, TlsConfig } from '@volant/engine'
import { PeerCounts } from './node-addresses.ts'
import { reset } from './node-reset.ts'
import { isCut, rawOf } from './node-secure.ts'
import { NodeTls } from './node-tls.ts'
import { refusalBytes } from './refuse.ts'

/** The servers to which the front passes connections. */
export interface Behind {
  http1(socket: Socket): void
  http2(socket: Socket): void
  /** Is called for each connection. */
  accepted(): void
  refused(): void
}

/** The connection preface (RFC 9113 §3.4). */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
/** The content type of a TLS record with a handshake message (RFC 8446 §5.1). */
const handshakeRecord = 0x16

export class NodeFront {
  readonly server: Server
  readonly #limits: Limits
  readonly #behind: Behind
  readonly #tls: NodeTls | null
  /** The connections that are not passed on yet, the oldest first, each with the timer of its time limit. */
  readonly #waiting = new Map<Socket, NodeJS.Timeout | null>()
  readonly #peers: PeerCounts

  constructor(limits: Limits, behind: Behind, tls: TlsConfig | undefined) {
    this.#limits = limits
    this.#behind = behind
    this.#peers = new PeerCounts(limits.maxConnectionsPerAddress)
    this.#tls = tls === undefined ? null : new NodeTls(tls, (socket) => this.#onSecure(socket))
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#onConnection(socket))
    if (limits.maxConnections > 0) this.server.maxConnections = limits.maxConnections
  }

  setTls(config: TlsConfig): void {
    this.#tls?.replace(config)
  }

  /** The number of connections that are not passed on yet. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Closes the connections that have sent nothing, or with `all` every connection that is not passed on. */
  closeWaiting(all: boolean): void {
    for (const socket of this.#waiting.keys()) if (all || socket.bytesRead === 0) socket.destroy()
  }

  #onConnection(socket: Socket): void {
    this.#behind.accepted()
    // Without a listener an error of a socket would end the process.
    socket.on('error', () => socket.destroy())
    if (!this.#peers.admits(socket)) return
    const { tlsHandshakeTimeout, headersTimeout, maxHandshakes } = this.#limits
    const time = this.#tls === null ? headersTimeout : tlsHandshakeTimeout
    this.#waiting.set(socket, time === 0 ? null : setTimeout(() => reset(socket), time))
    socket.once('close', () => this.#forget(socket))
    const [oldest = socket] = this.#waiting.keys()
    if (this.#tls !== null && maxHandshakes > 0 && this.#waiting.size > maxHandshakes) {
      // The `close` event comes a turn later, and other connections may come before it.
      this.#forget(oldest)
      reset(oldest)
    }
    this.#readStart(socket)
  }

  #readStart(socket: Socket): void {
    let start: Buffer = Buffer.alloc(0)
    const onData = (bytes: Buffer) => {
      start = start.length === 0 ? bytes : Buffer.concat([start, bytes])
      if (this.#tls === null && isPartOfPreface(start)) return
      take()
    }
    const onEnd = () => {
      if (start.length === 0) socket.destroy()
      else take()
    }
    const take = () => {
      socket.off('data', onData)
      socket.off('end', onEnd)
      this.#pass(socket, start)
    }
    socket.on('data', onData)
    socket.on('end', onEnd)
  }

  #pass(socket: Socket, start: Buffer): void {
    if (this.#tls === null && !start.subarray(0, preface.length).equals(preface)) {
      this.#forget(socket)
      // The socket is not paused: node:http of Node.js 20 does not hold back the body of a socket that was paused and
      // resumed.
      socket.unshift(start)
      return this.#behind.http1(socket)
    }
    socket.pause()
    if (this.#tls === null) {
      this.#forget(socket)
      socket.unshift(start)
      this.#behind.http2(socket)
    } else if (start[0] === handshakeRecord) {
      socket.unshift(start)
      // A client that ends its side during the handshake has left. TLS takes this setting from the socket that it is
      // given.
      socket.allowHalfOpen = false
      this.#tls.handshake(socket)
    } else this.#refusePlain(socket, start)
  }

  /** Answers plain HTTP with a sentence that says to use `https:`. Closes a connection that speaks neither. */
  #refusePlain(socket: Socket, start: Buffer): void {
    this.#behind.refused()
    if (!/^[A-Za-z]/.test(start.toString('latin1', 0, 1))) return reset(socket)
    // Further bytes of the client are read and dropped. Otherwise a reset would overtake the reply.
    socket.resume()
    socket.end(refusalBytes('E_TLS_REQUIRED', 'This port speaks TLS. Use https:// in place of http://.'))
    setTimeout(() => socket.destroy(), this.#limits.drainTimeout).unref()
    socket.once('end', () => socket.destroy())
  }

  #onSecure(secure: TLSSocket): void {
    const raw = rawOf(secure)
    if (raw !== null) this.#forget(raw)
    secure.allowHalfOpen = true
    // Without this listener an error would end the process once node:http or node:http2 has removed its own
    // (CVE-2025-59465).
    secure.on('error', () => secure.destroy())
    // If TLS itself wrote last, for example tickets, node:tls does not report that a reset failed that write. It
    // reports an end of the client, and writes nothing any more.
    secure.on('end', () => {
      if (isCut(raw)) secure.destroy()
    })
    secure.resetAndDestroy = () => {
      if (raw !== null) reset(raw)
      return secure.destroy()
    }
    if (secure.alpnProtocol === 'h2') this.#behind.http2(secure)
    else this.#behind.http1(secure)
  }

  #forget(socket: Socket): void {
    const timer = this.#waiting.get(socket)
    if (timer !== null && timer !== undefined) clearTimeout(timer)
    this.#waiting.delete(socket)
  }
}

function isPartOfPreface(start: Buffer): boolean {
  return start.length < preface.length && start.equals(preface.subarray(0, start.length))
}
