/** The HTTP/2 connections of the node:http adapter. */
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Limits } from '@volant/engine'
import type { NodeServer } from './node-http.ts'
import { forgottenResets } from '../options/limits.ts'
import { reset } from './node-reset.ts'
import { bytesSent, isFlushed } from './node-secure.ts'
import { NodeStream, requestOf } from './node-stream.ts'

/** The window of a connection, for all its streams together. One stream alone would use up the default of 64 KiB. */
const connectionWindow = 1_048_576
/** The largest stream id (RFC 9113 §5.1.1). */
const lastStream = 2 ** 31 - 1
/** The longest wait for the answer to the PING of a drain, in ms. */
const roundTrip = 1_000
/** The time for a client that is cut off to read the GOAWAY, in ms. */
const farewell = 100

export class NodeSessions {
  readonly all = new Set<NodeSession>()
  readonly #own = new WeakMap<ServerHttp2Session, NodeSession>()
  readonly #server: NodeServer
  readonly #http2: Http2Server
  #closing = false
  #taken: Socket | null = null

  constructor(
    server: NodeServer,
    take: (exchange: NodeStream, request: ReturnType<typeof requestOf>) => void,
  ) {
    this.#server = server
    this.#http2 = createServer(settingsOf(server.host.limits))
    this.#http2.on('session', (session) => this.#onSession(session))
    // Sessions have listeners of their own. This one is for sessions that fail before they have them.
    this.#http2.on('sessionError', () => {})
    this.#http2.on('error', () => {})
    this.#http2.on('stream', (stream: ServerHttp2Stream, _headers, flags: number, ...more: unknown[]) => {
      const own = this.#own.get(stream.session as ServerHttp2Session)
      // Without a listener an error of the stream would end the process.
      stream.on('error', () => {})
      if (own === undefined || own.cutOff) return stream.close(constants.NGHTTP2_REFUSED_STREAM)
      const request = requestOf(more[0] as string[], flags)
      const exchange = new NodeStream(own, stream, request)
      own.streams.add(exchange)
      if (own.streams.size > server.host.limits.maxStreams) own.dropReset()
      take(exchange, request)
    })
  }

  /** Takes a connection that speaks HTTP/2. */
  take(socket: Socket): void {
    // The end of input means that the client has left, because clients of HTTP/2 do not close only their sending side.
    socket.allowHalfOpen = false
    this.#taken = socket
    this.#http2.emit('connection', socket)
    this.#taken = null
  }

  #onSession(session: ServerHttp2Session): void {
    session.on('error', () => session.destroy())
    session.on('frameError', () => {})
    // `emit` makes the session at once, so `#taken` is its socket; `session.socket` is a proxy that hides most of it.
    if (this.#taken === null) return session.destroy()
    const own = new NodeSession(this.#server, session, this.#taken)
    this.all.add(own)
    this.#own.set(session, own)
    session.on('close', () => this.all.delete(own))
    session.setLocalWindowSize(connectionWindow)
    if (this.#closing) own.drain()
  }

  sweep(now: number): void {
    const { sendTimeout, http2IdleTimeout, maxConnectionAge, drainTimeout } = this.#server.host.limits
    for (const own of this.all) {
      own.dropReset()
      for (const exchange of own.streams) {
        if (sendTimeout > 0 && exchange.stalledFor(now) >= sendTimeout) exchange.cancel(now)
        // If not even the reset of a stream can be sent, nothing of the connection can.
        if (exchange.cancelledFor(now) > drainTimeout) reset(own.socket)
      }
      // The bytes that the kernel has taken are still sent.
      if (own.endingFor(now) > drainTimeout) own.socket.destroy()
      const isOld = maxConnectionAge > 0 && now - own.born > maxConnectionAge
      if (isOld || (http2IdleTimeout > 0 && own.idleFor(now) > http2IdleTimeout)) own.drain()
    }
  }

  /** Tells clients to open no more streams, and serves those that they have opened already. */
  drain(): void {
    this.#closing = true
    for (const own of this.all) own.drain()
  }

  abortAll(): void {
    for (const own of this.all) own.abort()
  }
}

export class NodeSession {
  readonly server: NodeServer
  readonly session: ServerHttp2Session
  readonly socket: Socket
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** The time at which the connection opened, by the server's clock. */
  readonly born: number
  readonly streams = new Set<NodeStream>()
  #idleSince: number
  /**
   * The time since which the connection waits for the client to take the rest or to close, and the bytes sent by then.
   */
  #endingSince: number
  #endingBytes = 0
  /** The number of resets that count, and the time at which they were counted. */
  #resets = 0
  #resetsSince = 0
  #draining = false
  /** True while a check of `dropReset` is scheduled. */
  #looks = false
  /** True once nothing more is accepted from the client. */
  cutOff = false

  constructor(server: NodeServer, session: ServerHttp2Session, socket: Socket) {
    this.server = server
    this.session = session
    this.socket = socket
    this.remoteAddress = socket.remoteAddress ?? ''
    this.encrypted = session.encrypted === true
    this.born = server.clock
    this.#idleSince = server.clock
    this.#endingSince = server.clock
  }

  /**
   * Counts a reset. Ends the connection above the limit, because a reset costs the server more than the client
   * (CVE-2023-44487).
   */
  countReset(): void {
    const now = Date.now()
    const { maxStreamResets } = this.server.host.limits
    this.#resets = Math.max(0, this.#resets - ((now - this.#resetsSince) / 1_000) * forgottenResets) + 1
    this.#resetsSince = now
    if (this.#resets <= maxStreamResets || this.cutOff || this.session.destroyed) return
    this.cutOff = true
    this.session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    // Destroying the socket now would send RST because of unread input, and the client could lose the GOAWAY.
    setTimeout(() => this.session.destroy(), farewell)
  }

  /**
   * Ends the streams that were reset with NO_ERROR. node:http2 keeps them until the rest of their replies is sent,
   * which never happens. It reports sent bytes later, so this checks in a later turn of the event loop, if nothing
   * waits.
   */
  dropReset(): void {
    if (this.#looks) return
    this.#looks = true
    const look = () => {
      this.#looks = false
      if (!isFlushed(this.socket)) return
      for (const { wasReset, stream } of this.streams) if (wasReset) stream.destroy()
    }
    setImmediate(() => setImmediate(look))
  }

  idleFor(now: number): number {
    if (this.streams.size > 0) this.#idleSince = now
    return now - this.#idleSince
  }

  /** Gives the milliseconds for which the connection has waited only for the client to end it; 0 before that. */
  endingFor(now: number): number {
    const { session } = this
    const isEnding = session.destroyed || (session.closed && this.streams.size === 0)
    const sent = bytesSent(this.socket)
    if (!isEnding || sent !== this.#endingBytes) {
      this.#endingBytes = sent
      this.#endingSince = now
    }
    return now - this.#endingSince
  }

  /**
   * Closes the connection when its streams have ended. A first GOAWAY refuses no stream, so that requests in transit
   * are served. The second one follows a round trip later (RFC 9113 §6.8).
   */
  drain(): void {
    const { session } = this
    if (this.#draining || session.destroyed || session.closed) return
    this.#draining = true
    session.goaway(constants.NGHTTP2_NO_ERROR, lastStream)
    let late: NodeJS.Timeout | null = null
    const close = () => {
      if (late !== null) clearTimeout(late)
      late = null
      if (!session.destroyed && !session.closed) session.close()
    }
    late = setTimeout(close, roundTrip)
    if (!session.ping(close)) close()
  }

  /** Ends the connection at once. */
  abort(): void {
    for (const exchange of this.streams) exchange.abort('shutdown')
    this.session.destroy()
    this.socket.destroy()
  }
}

function settingsOf(limits: Limits): NonNullable<Parameters<typeof createServer>[0]> {
  const { maxStreams, maxHeaders, maxHeaderSize } = limits
  return {
    // Above these limits node:http2 resets the stream. They are larger than ours, so that a head slightly above ours
    // gets the reply 431.
    maxHeaderListPairs: Math.max(128, maxHeaders * 2),
    settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderSize * 2 + maxHeaders * 64 },
  }
}
