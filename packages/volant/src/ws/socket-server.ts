/** The server of `ws`, for libraries that bring a protocol of their own: their connections are those of `app.ws`. */
import { EventEmitter } from 'node:events'
import type { WebSocket, WebSocketServer } from 'ws'
import { refusal } from '../errors/errors.ts'
import type { Context } from '../types/context.ts'
import type { ServerWebSocket } from '../types/web-socket.ts'
import { BridgedSocket } from './bridged-socket.ts'
import { UpgradeRequest } from './upgrade-request.ts'

/** What `ws.data` is on a route with the hooks of a `SocketServer`. */
export interface Bridged<Data = unknown> {
  /** What was given to `upgrade`. */
  readonly data: Data
  /** The request that asked for the WebSocket. */
  readonly request: UpgradeRequest
}

/** These hooks of `app.ws` pass its WebSockets to a `SocketServer`. */
export interface SocketServerHooks<Data> {
  /** Makes the data of a connection without any of its own. */
  upgrade(ctx: Context): Bridged<Data>
  /** Emits `connection`. */
  open(ws: ServerWebSocket<Bridged, string | Uint8Array>): void
  /** Emits `message` of the connection. */
  message(ws: ServerWebSocket<Bridged, string | Uint8Array>, message: string | Buffer): void
  /** Calls back those whose message had to wait. */
  drain(ws: ServerWebSocket<Bridged, string | Uint8Array>): void
  /** Emits `close` of the connection. */
  close(ws: ServerWebSocket<Bridged, string | Uint8Array>, code: number, reason: string): void
}

/**
 * What libraries use of a `WebSocketServer` of `ws`: `on('connection', (socket, request) => …)`, `clients`,
 * `options`, `close`. It listens at no port: WebSockets come from the routes that have its `hooks`.
 */
export interface SocketServer<Data = undefined> extends WebSocketServer {
  /** The hooks that a route takes: `app.ws('/graphql', { ...sockets.hooks, protocols: ['graphql-transport-ws'] })`. */
  readonly hooks: SocketServerHooks<Data>
  /** What the hook `upgrade` of a route returns to give `data` to the connection: `sockets.upgrade(ctx, { user })`. */
  upgrade(ctx: Context, data: Data): Bridged<Data>
  /** Gives the data of a connection, as in a library's function that makes its context. */
  dataOf(socket: WebSocket): Data
}

/**
 * Makes a server for a library that was written for `ws`, such as graphql-ws and tRPC: it gets the WebSockets of the routes
 * of `app.ws` that have its `hooks`, on every adapter. Middleware, `origins`, limits and `idleTimeout` are those of the
 * route. The package `ws` is needed on the adapter node-http alone, its types (`@types/ws`) for TypeScript.
 */
export function createSocketServer<Data = undefined>(): SocketServer<Data> {
  return new BridgedServer<Data>() as unknown as SocketServer<Data>
}

class BridgedServer<Data> extends EventEmitter {
  readonly clients = new Set<BridgedSocket>()
  /** Libraries set `handleProtocols` here, which is not called: the route has `protocols`. */
  readonly options: Record<string, unknown> = { noServer: true, clientTracking: true }
  readonly hooks: SocketServerHooks<Data>
  readonly #data = new WeakMap<object, Data>()
  readonly #sockets = new WeakMap<object, BridgedSocket>()
  #closed = false

  constructor() {
    super()
    this.hooks = {
      upgrade: (ctx) => this.upgrade(ctx, undefined as Data),
      open: (ws) => this.#open(ws),
      message: (ws, message) => this.#sockets.get(ws)?.received(message),
      drain: (ws) => this.#sockets.get(ws)?.drained(),
      close: (ws, code, reason) => this.#close(ws, code, reason),
    }
  }

  upgrade(ctx: Context, data: Data): Bridged<Data> {
    if (this.#closed) throw refusal('E_SERVER_CLOSING')
    return { data, request: new UpgradeRequest(ctx) }
  }

  dataOf(socket: object): Data {
    return this.#data.get(socket) as Data
  }

  #open(ws: ServerWebSocket<Bridged, string | Uint8Array>): void {
    const socket = new BridgedSocket(ws)
    this.#sockets.set(ws, socket)
    this.#data.set(socket, ws.data.data as Data)
    this.clients.add(socket)
    this.emit('connection', socket, ws.data.request)
  }

  #close(ws: object, code: number, reason: string): void {
    const socket = this.#sockets.get(ws)
    if (socket === undefined) return
    this.clients.delete(socket)
    try {
      socket.closed(code, reason)
    } finally {
      if (this.#closed && this.clients.size === 0) this.emit('close')
    }
  }

  /** Refuses connections from now on with 503. `done` is called once the clients have gone, which are not closed by this. */
  close(done?: (error?: Error) => void): void {
    if (done !== undefined) this.once('close', done)
    if (this.#closed) return
    this.#closed = true
    if (this.clients.size === 0) process.nextTick(() => this.emit('close'))
  }

  address(): null {
    return null
  }
}
