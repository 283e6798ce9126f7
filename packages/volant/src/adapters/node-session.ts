/** The connections of HTTP/2 of the node:http adapter. */
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

/** The window of a connection: what its streams may send together ahead of what is read. One of 64 KiB would be used up by one stream. */
const connectionWindow = 1_048_576
/** RFC 9113 §5.1.1. */
const lastStream = 2 ** 31 - 1
/** How long the answer to the ping of a drain may take, in ms. */
const roundTrip = 1_000
/** How long a client that is cut off may take to read why, in ms. */
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
    // Sessions have listeners of their own; this one is for those that fail before.
    this.#http2.on('sessionError', () => {})
    this.#http2.on('error', () => {})
    this.#http2.on('stream', (stream: ServerHttp2Stream, _headers, flags: number, ...more: unknown[]) => {
      const own = this.#own.get(stream.session as ServerHttp2Session)
      // Without a listener its error would end the process.
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
    // The end of input means that the client has left: no client of HTTP/2 closes only its sending side.
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
        // Where not even the reset of a stream leaves, nothing of the connection does.
        if (exchange.cancelledFor(now) > drainTimeout) reset(own.socket)
      }
      // What the kernel has taken is still sent.
      if (own.endingFor(now) > drainTimeout) own.socket.destroy()
      const isOld = maxConnectionAge > 0 && now - own.born > maxConnectionAge
      if (isOld || (http2IdleTimeout > 0 && own.idleFor(now) > http2IdleTimeout)) own.drain()
    }
  }

  /** Tells clients to open no more streams, and serves those that are on their way. */
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
  /** The time the connection opened, by the server's clock. */
  readonly born: number
  readonly streams = new Set<NodeStream>()
  #idleSince: number
  /** The time since when it waits for the client to take what is left or to end the connection, and what was sent by then. */
  #endingSince: number
  #endingBytes = 0
  /** The resets that count, and when they were counted. */
  #resets = 0
  #resetsSince = 0
  #draining = false
  /** True where `dropReset` is about to look. */
  #looks = false
  /** True once nothing more is taken from the client. */
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

  /** Ends the connection of a client that resets its streams: each costs more here than there (CVE-2023-44487). */
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
   * Ends the streams that were reset with NO_ERROR: node:http2 keeps them until the rest of their replies is sent, which never
   * is. It tells of what was sent some time later, so this looks a turn of the event loop later, when nothing waits.
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

  /** Gives the milliseconds for which nothing is left but an end that node:http2 leaves to the client; 0 before. */
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
   * Closes the connection when its streams have ended. RFC 9113 §6.8: a first GOAWAY names no stream, so that requests which
   * cross it are served; the second comes a round trip later.
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

  /** Ends the connection, whose time is over. */
  abort(): void {
    for (const exchange of this.streams) exchange.abort('shutdown')
    this.session.destroy()
    this.socket.destroy()
  }
}

function settingsOf(limits: Limits): NonNullable<Parameters<typeof createServer>[0]> {
  const { maxStreams, maxHeaders, maxHeaderSize } = limits
  return {
    // Beyond these node:http2 resets the stream. A head that is somewhat too large gets the reply 431.
    maxHeaderListPairs: Math.max(128, maxHeaders * 2),
    settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderSize * 2 + maxHeaders * 64 },
  }
}
