/** The adapter on node:http, for machines and runtimes where the native engine does not load. */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import {
  type Adapter,
  type Address,
  type Host,
  type ListenOptions,
  type Server,
  type ServerStats,
  type TlsConfig,
} from '@volant/engine'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import { nodeHttp } from '../errors/node-http.ts'
import { afterDrain, type Phase, stopWhenAccepted } from './drain.ts'
import { namesUpgrade, namesWebSocket, pathIn, Routes } from './head.ts'
import { listenOn } from './node-listen.ts'
import { NodeConnection } from './node-connection.ts'
import { NodeExchange } from './node-exchange.ts'
import { NodeFront } from './node-front.ts'
import { PeerCounts } from './node-addresses.ts'
import type { NodeFace } from './node-face.ts'
import { reset } from './node-reset.ts'
import { NodeSessions } from './node-session.ts'
import { NodeSockets } from './node-sockets.ts'
import type { NodeStream, StreamRequest } from './node-stream.ts'
import { NodeUpgrade, requestsThatUpgrade } from './node-upgrade.ts'
import type { SocketExchange } from './socket-exchange.ts'
import { requestTimes, sweepEvery, sweepInterval, sweepUploads, uploadCap } from './upload.ts'

export const nodeHttpAdapter: Adapter = {
  name: 'node-http',
  // The parser of node:http has fixed limits in place of the first two and does not report what it read. The bytes that
  // wait to be sent are in its sockets, each of which knows only its own share.
  unenforced: ['maxChunkExtensions', 'maxChunkExtensionsTotal', 'maxBufferedReplies'],
  createServer: (host) => new NodeServer(host),
}

const connectionOf = Symbol('connection')
type TrackedSocket = Socket & { [connectionOf]?: NodeConnection }

export class NodeServer implements Server {
  readonly host: Host
  readonly connections = new Set<NodeConnection>()
  readonly uploads = new Set<SocketExchange>()
  /** The exchanges whose body is being discarded after the reply, with the time (ms) until which that goes on. */
  readonly drains = new Map<NodeExchange, number>()
  buffered = 0
  inFlight = 0
  requests = 0
  refused = 0
  phase: Phase = 'open'
  /** The connections that were accepted since the start. */
  accepted = 0
  /** The time of the last sweep in ms. It is good to a second, and saves asking for the time at every request. */
  clock = Date.now()
  /** Its WebSockets; null where no route has any. */
  readonly sockets: NodeSockets | null
  readonly #routes: Routes
  readonly #face: NodeFace | null
  readonly #server: HttpServer
  /** Accepts the connections instead of `#server`; null without TLS and HTTP/2. */
  #front: NodeFront | null = null
  /** The connections of HTTP/2; null if it is off. */
  #sessions: NodeSessions | null = null
  readonly #peers: PeerCounts
  /** True once the listening socket is closed. */
  #stopped = false
  #sweep: NodeJS.Timeout | null = null
  #closed: Promise<void> | null = null

  /** `face` is what libraries have attached themselves to. */
  constructor(host: Host, face: NodeFace | null = null) {
    const foreign = host.router.methods.filter((method) => !nodeHttp.METHODS.includes(method))
    if (foreign.length > 0) {
      throw new VolantError(
        'E_ADAPTER',
        `router.methods: node:http of Node.js ${process.versions.node} cannot read the method ${foreign.join(' and ')}: ` +
          'leave it out, or use the adapter native or uwebsockets',
      )
    }
    this.host = host
    this.#routes = new Routes(host)
    this.#face = face
    const { limits } = host
    this.#peers = new PeerCounts(limits.maxConnectionsPerAddress)
    this.sockets = this.#routes.sockets === null ? null : new NodeSockets()
    this.#server = nodeHttp.createServer({
      maxHeaderSize: limits.maxHeaderSize,
      insecureHTTPParser: false,
      requireHostHeader: true,
      headersTimeout: limits.headersTimeout,
      // A body that keeps arriving may take longer than its time; the sweep below ends the others.
      requestTimeout: requestTimes(host).includes(0) ? 0 : Math.max(...requestTimes(host), uploadCap),
      // The sweep closes idle connections: a timer set and cleared for each request costs 3 % of a small one.
      keepAliveTimeout: 0,
      connectionsCheckingInterval: sweepInterval,
      ...((this.sockets !== null || face !== null) && {
        IncomingMessage: requestsThatUpgrade(
          (request) => asksForSocket(request, this.#routes) || this.#isLent(request),
        ),
      }),
    })
    const server = this.#server
    // This sets no limit. Past a limit older versions drop headers silently, and newer ones report that the head is too
    // large and count trailers too. Our own check comes after the head, which `maxHeaderSize` bounds.
    server.maxHeadersCount = 0
    if (limits.maxConnections > 0) server.maxConnections = limits.maxConnections
    // The types lack this option. With it clients that closed their sending side are served instead of dropped.
    Object.assign(server, { httpAllowHalfOpen: true })
    const onRequest = (request: IncomingMessage, response: ServerResponse) =>
      this.#onRequest(request, response)
    face?.passTo(onRequest)
    server.on(
      'request',
      face === null ? onRequest : (request, response) => this.#offer(face, request, response),
    )
    server.on('checkContinue', onRequest)
    server.on('checkExpectation', onRequest)
    server.on('connect', (request, socket) => this.#onConnect(request, socket as TrackedSocket))
    server.on('clientError', (error: ParseError, socket) =>
      this.#onParseError(error, socket as TrackedSocket),
    )
    if (this.sockets !== null || face !== null)
      server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket as TrackedSocket, head))
    server.on('connection', (socket: TrackedSocket) => {
      // It comes back from a WebSocket that was refused.
      if (socket[connectionOf] !== undefined) return
      if (this.#front === null) {
        this.accepted++
        if (!this.#peers.admits(socket)) return
      }
      const connection = new NodeConnection(this, socket)
      socket[connectionOf] = connection
      this.connections.add(connection)
    })
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = (request.socket as TrackedSocket)[connectionOf] as NodeConnection
    // After a refused request it is unknown where the next one begins (RFC 9112 §9.6), but node:http reads on.
    if (connection.closing || connection.saidClose) return
    this.#take(new NodeExchange(connection, request, response))
  }

  #offer(face: NodeFace, request: IncomingMessage, response: ServerResponse): void {
    const connection = (request.socket as TrackedSocket)[connectionOf] as NodeConnection
    if (connection.closing || connection.saidClose) return
    if (face.takes(request, response)) connection.lend(response)
  }

  /** True for a WebSocket that a library may take: no route has its path. */
  #isLent(request: IncomingMessage): boolean {
    return (
      this.#face?.wantsUpgrades === true &&
      namesWebSocket.test(request.headers.upgrade ?? '') &&
      !hasSocket(request, this.#routes)
    )
  }

  #take(exchange: NodeExchange): void {
    const { connection, request, response } = exchange
    this.requests++
    const refusal =
      request.httpVersionMajor === 1
        ? exchange.admit(request.url ?? '', this.host, this.#routes)
        : versionError(request)
    if (refusal !== null) {
      connection.lastResponse = response
      return exchange.refuse(refusal)
    }
    const { maxInFlight } = this.host.limits
    if (maxInFlight > 0 && this.inFlight >= maxInFlight) {
      connection.lastResponse = response
      return exchange.refuse('E_OVERLOADED')
    }
    this.inFlight++
    exchange.counted = true
    if (exchange.declaredLength !== 0) exchange.prepareBody()
    connection.offer(exchange)
  }

  #takeStream(exchange: NodeStream, request: StreamRequest): void {
    this.requests++
    const refusal = exchange.admitStream(request, this.#routes)
    if (refusal !== null) return exchange.refuse(refusal)
    const { maxInFlight } = this.host.limits
    if (maxInFlight > 0 && this.inFlight >= maxInFlight) return exchange.refuse('E_OVERLOADED')
    this.inFlight++
    exchange.counted = true
    exchange.begin()
  }

  /** node:http hands the connection over for a tunnel. The request is answered as any other, and is the last one. */
  #onConnect(request: IncomingMessage, socket: TrackedSocket): void {
    // Without this listener an error would be uncaught; without `resume`, bytes sent for the tunnel would stay unread.
    socket.on('error', () => socket.destroy())
    socket.resume()
    const connection = socket[connectionOf] as NodeConnection
    if (connection.closing) return
    const response = new nodeHttp.ServerResponse(request)
    response.shouldKeepAlive = false
    connection.sendLast(response)
    this.#onRequest(request, response)
  }

  /** node:http hands the connection over for a WebSocket. Until one is accepted, it is a request like others. */
  #onUpgrade(request: IncomingMessage, socket: TrackedSocket, head: Buffer): void {
    const connection = socket[connectionOf] as NodeConnection
    if (this.#isLent(request)) {
      connection.lend(null)
      this.#face?.emit('upgrade', request, socket, head)
      return
    }
    const upgrade = new NodeUpgrade(this.#server, socket, head)
    if (connection.closing || connection.saidClose) return
    const response = new nodeHttp.ServerResponse(request)
    response.shouldKeepAlive = !/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(request.headers.connection ?? '')
    connection.whenAnswered(() => {
      if (connection.closing || connection.saidClose || socket.destroyed) return
      upgrade.answerWith(response, () => response.shouldKeepAlive && !connection.saidClose)
      const exchange = new NodeExchange(connection, request, response)
      exchange.upgrade = upgrade
      this.#take(exchange)
    })
  }

  #onParseError(error: ParseError, socket: TrackedSocket): void {
    const connection = socket[connectionOf]
    if (connection === undefined || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    // The client ended in the middle of a request, so nobody would read a reply.
    if (error.code === 'HPE_INVALID_EOF_STATE') socket.destroy()
    // The bytes after a request that closes the connection are ignored (RFC 9112 §9.6).
    else if (error.code === 'HPE_CLOSED_CONNECTION') connection.endAfterReplies()
    else connection.reject(codeOf(error))
  }

  async listen(options: ListenOptions): Promise<Address> {
    if (options.tls !== undefined || options.http2 === true) this.#begin(options)
    const address = await listenOn(this.#listener, options)
    // At this event node:http begins to check the time limits of connections.
    if (this.#front !== null) this.#server.emit('listening')
    this.#face?.begin(address)
    const { keepAliveTimeout, sendTimeout } = this.host.limits
    const idle = this.host.routes.map(({ socket }) => (socket?.idleTimeout ?? 0) / 2)
    this.#sweep = sweepEvery([keepAliveTimeout, sendTimeout, ...requestTimes(this.host), ...idle], () =>
      this.#sweepAll(),
    )
    return address
  }

  /** Makes the front that accepts connections instead of node:http. */
  #begin({ tls, http2 }: ListenOptions): void {
    if (http2 === true) this.#sessions = new NodeSessions(this, (...parts) => this.#takeStream(...parts))
    this.#front = new NodeFront(
      this.host.limits,
      {
        http1: (socket) => this.#server.emit('connection', socket),
        http2: (socket) => this.#sessions?.take(socket),
        accepted: () => void this.accepted++,
        refused: () => void this.refused++,
      },
      tls,
    )
  }

  setTls(config: TlsConfig): void {
    this.#front?.setTls(config)
  }

  /** The server that listens. */
  get #listener(): NetServer {
    return this.#front?.server ?? this.#server
  }

  close(drainIdle = this.host.limits.drainIdle): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.phase = 'accepting'
      this.sockets?.close()
      this.#face?.emit('close')
      let drain: NodeJS.Timeout | undefined
      const gone = () => {
        clearTimeout(drain)
        clearTimeout(deadline)
        if (this.#sweep !== null) clearInterval(this.#sweep)
        // This ends the interval at which node:http checks connections.
        this.#server.close()
        this.#whenEmpty(() => {
          if (this.sockets === null) resolve()
          else this.sockets.whenEmpty(resolve)
        })
      }
      const deadline = setTimeout(() => {
        this.#stopListening(gone)
        this.#front?.closeWaiting(true)
        this.#sessions?.abortAll()
        for (const connection of this.connections) connection.abortAll()
      }, this.host.limits.shutdownTimeout)
      const stop = () => {
        this.#stopListening(gone)
        this.phase = 'draining'
        this.#sessions?.drain()
        for (const connection of this.connections) connection.pump()
        drain = afterDrain(drainIdle, () => {
          this.phase = 'closing'
          this.#closeIdle(drainIdle > 0)
        })
      }
      stopWhenAccepted(() => this.accepted, stop)
    })
    return this.#closed
  }

  /**
   * Calls `then` when no connection is counted, or after `turns` of the event loop. node:net ends a server some ticks
   * before the `close` events of its last sockets.
   */
  #whenEmpty(then: () => void, turns = 1_000): void {
    if (turns === 0 || this.stats().connections === 0) then()
    else setImmediate(() => this.#whenEmpty(then, turns - 1))
  }

  /** Closes the listening socket alone: `close` of node:http closes idle connections with it. */
  #stopListening(gone: () => void): void {
    if (this.#stopped) return
    this.#stopped = true
    // The server of Bun is no server of node:net.
    const listener = this.#listener
    if (listener instanceof NetServer) NetServer.prototype.close.call(listener, gone)
    else (this.#server as HttpServer).close(gone)
  }

  #closeIdle(lingers: boolean): void {
    this.#front?.closeWaiting(false)
    const idle = new Set<NodeConnection>()
    // node:http alone knows where half a head has arrived. It says which connections are idle by closing them, also
    // those whose reply is not sent yet; so it is kept from that.
    function note(this: TrackedSocket): TrackedSocket {
      idle.add(this[connectionOf] as NodeConnection)
      return this
    }
    for (const { socket } of this.connections) socket.destroy = note
    this.#server.closeIdleConnections()
    for (const connection of this.connections) {
      const { socket } = connection
      Reflect.deleteProperty(socket, 'destroy')
      // It does not count connections that never sent a request.
      const isIdle = idle.has(connection) || socket.bytesRead === 0
      if (isIdle && connection.idle && socket.writableLength === 0) connection.leave(lingers)
    }
  }

  stats(): ServerStats {
    const { inFlight, requests, refused } = this
    return {
      connections: this.connections.size + (this.#front?.waiting ?? 0) + (this.#sessions?.all.size ?? 0),
      inFlight,
      requests,
      refused,
      sockets: this.sockets?.open.size ?? 0,
    }
  }

  publish(topic: string, data: string | Uint8Array): void {
    this.sockets?.publish(topic, data)
  }

  ref(): void {
    this.#listener.ref()
  }

  unref(): void {
    this.#listener.unref()
  }

  #sweepAll(): void {
    const now = Date.now()
    this.clock = now
    const { sendTimeout, keepAliveTimeout } = this.host.limits
    if (this.phase === 'closing') this.#closeIdle(true)
    this.sockets?.sweep(now)
    this.#sessions?.sweep(now)
    sweepUploads(this.uploads, now)
    for (const [exchange, deadline] of this.drains) {
      const over = now > deadline
      if (over && !exchange.request.complete) exchange.connection.socket.destroy()
      if (over || exchange.request.complete || exchange.connection.socket.destroyed)
        this.drains.delete(exchange)
    }
    // Looking at all connections every second is cheaper than an account of the waiting ones at every reply.
    for (const connection of this.connections) {
      if (sendTimeout > 0 && connection.stalledFor(now) >= sendTimeout) reset(connection.socket)
      else if (keepAliveTimeout > 0 && connection.idleFor(now) > keepAliveTimeout) connection.socket.destroy()
    }
  }
}

/** True for a request that may become a WebSocket. Others that ask for one are refused while the connection is HTTP. */
function asksForSocket(request: IncomingMessage, routes: Routes): boolean {
  const { method, httpVersion, headers } = request
  if (method !== 'GET' || httpVersion !== '1.1' || headers['sec-websocket-version'] !== '13') return false
  if (headers['transfer-encoding'] !== undefined || !noBytes.test(headers['content-length'] ?? ''))
    return false
  if (!namesWebSocket.test(headers.upgrade ?? '') || !namesUpgrade.test(headers.connection ?? ''))
    return false
  return hasSocket(request, routes)
}

/** Matches a Content-Length of a request without a body. */
const noBytes = /^0*$/

function hasSocket({ url = '' }: IncomingMessage, routes: Routes): boolean {
  const mark = url.indexOf('?')
  const path = pathIn(mark === -1 ? url : url.slice(0, mark))
  return path !== null && (routes.sockets?.find('GET', path).id ?? -1) >= 0
}

interface ParseError extends Error {
  code?: string
  rawPacket?: Buffer
  /** The offset of the error in `rawPacket`. */
  bytesParsed?: number
}

function codeOf(error: ParseError): ErrorCode {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'E_HEAD_TOO_LARGE'
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'E_HEADERS_TIMEOUT'
    case 'HPE_INVALID_VERSION':
      return / HTTP\/\d\.\d\r$/.test(lineOf(error)) ? 'E_VERSION_UNKNOWN' : 'E_BAD_REQUEST'
    case 'HPE_INVALID_METHOD':
      // The line begins with a token, so the method is unknown to node:http. Any other line is not a request line.
      return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ /.test(lineOf(error)) ? 'E_METHOD_UNKNOWN' : 'E_BAD_REQUEST'
    default:
      return 'E_BAD_REQUEST'
  }
}

/** Gives the line that the parser refused, without its LF. */
function lineOf({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: ParseError): string {
  const start = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf(0x0a, bytesParsed - 1) + 1
  const end = rawPacket.indexOf(0x0a, Math.max(start, bytesParsed))
  return rawPacket.toString('latin1', start, end === -1 ? rawPacket.length : end)
}

/**
 * Gives the refusal for a version. HTTP/2.0 is a version that is not supported; node:http gives 0.9 for a request line
 * without one.
 */
function versionError(request: IncomingMessage): ErrorCode {
  return request.httpVersionMajor === 0 ? 'E_BAD_REQUEST' : 'E_VERSION_UNKNOWN'
}
