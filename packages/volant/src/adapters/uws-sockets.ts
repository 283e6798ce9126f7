/** The WebSockets of a server on uWebSockets.js, and the behaviours that their routes have there. */
import type { Host, ServerSocket, SocketEvents, SocketRoute } from '@volant/engine'
import { serverCloses } from '../reply/abort.ts'
import type { UwsExchange } from './uws-exchange.ts'
import type { Uws, UwsApp, UwsContext, UwsRequest, UwsResponse, UwsWebSocket } from './uws-load.ts'
import { encodable, UwsSocket } from './uws-socket.ts'
import type { UwsServer } from './uws.ts'

type OnRequest = (response: UwsResponse, request: UwsRequest) => void

export class UwsSockets {
  readonly open = new Set<UwsSocket>()
  readonly #uws: Uws
  readonly #app: UwsApp
  /** The routes by what uWebSockets.js has to know of them. */
  readonly #behaviours: string[] = []
  readonly #contexts: UwsContext[] = []
  /** The length from which on a published message is compressed for the clients that want that; −1 for none. */
  readonly #compressFrom: number
  readonly #server: UwsServer

  constructor(uws: Uws, app: UwsApp, server: UwsServer, onRequest: OnRequest) {
    this.#uws = uws
    this.#app = app
    this.#server = server
    const routes = server.host.routes.flatMap(({ socket }) => socket ?? [])
    for (const route of routes) {
      const behaviour = behaviourOf(route)
      if (this.#behaviours.includes(behaviour)) continue
      this.#behaviours.push(behaviour)
      this.#register(route, this.#behaviours.length - 1, onRequest)
    }
    const thresholds = routes.map(({ compressFrom }) => compressFrom).filter((from) => from >= 0)
    this.#compressFrom = thresholds.length === 0 ? -1 : Math.min(...thresholds)
  }

  /** The milliseconds after which the sockets of each route are looked at. */
  static times(host: Host): number[] {
    return host.routes.flatMap(({ socket }) => (socket === undefined ? [] : socket.idleTimeout / 2))
  }

  /**
   * Registers a behaviour. uWebSockets.js gives its context only with a request that matches a pattern, but routes are found
   * elsewhere; so the pattern matches all. The first request goes through all behaviours, and leaves their contexts.
   */
  #register(route: SocketRoute, index: number, onRequest: OnRequest): void {
    const { SHARED_COMPRESSOR, SHARED_DECOMPRESSOR, DISABLED } = this.#uws
    // uWebSockets.js takes all that begins with `*` for a wildcard, but does not take the same pattern twice.
    this.#app.ws(`/*${index}`, {
      maxPayloadLength: route.maxMessageSize,
      maxBackpressure: route.maxBuffered,
      // Its own has steps of 4 seconds, begins at 8 and ends at 960.
      idleTimeout: 0,
      sendPingsAutomatically: false,
      closeOnBackpressureLimit: false,
      compression: route.compressFrom >= 0 ? SHARED_COMPRESSOR | SHARED_DECOMPRESSOR : DISABLED,
      upgrade: (response, request, context) => {
        this.#contexts[index] = context
        if (this.#contexts.length < this.#behaviours.length) request.setYield(true)
        else onRequest(response, request)
      },
      open: (socket) => socketOf(socket).opened(socket),
      message: (socket, bytes, binary) => this.#server.guard(() => socketOf(socket).received(bytes, binary)),
      drain: (socket) => this.#server.guard(() => socketOf(socket).drained()),
      dropped: (socket) => socketOf(socket).drops(),
      ping: hear,
      pong: hear,
      close: (socket, code, reason) => socketOf(socket).closed(code, Buffer.from(reason).toString('utf8')),
    })
  }

  /**
   * Makes a WebSocket of the connection of `response`, in the async context of the request. `head` is the status
   * with the lines of the headers.
   */
  upgrade(
    exchange: UwsExchange,
    response: UwsResponse,
    route: SocketRoute,
    head: string | Uint8Array,
    events: SocketEvents,
  ): ServerSocket {
    const socket = new UwsSocket(this, route, events)
    const context = this.#contexts[this.#behaviours.indexOf(behaviourOf(route))] as UwsContext
    const key = exchange.header('sec-websocket-key') ?? ''
    const offers = supportedOffers(exchange.header('sec-websocket-extensions') ?? '')
    this.open.add(socket)
    exchange.inCork(() => {
      response.writeStatus(head)
      response.upgrade({ owner: socket }, key, '', offers, context)
    })
    if (this.#server.isClosing) setImmediate(() => socket.close(1001, serverCloses))
    return socket
  }

  /** Is called when a socket is closed. */
  remove(socket: UwsSocket): void {
    this.open.delete(socket)
    this.#server.lost()
  }

  publish(topic: string, data: string | Uint8Array): void {
    this.#app.publish(topic, encodable(data), typeof data !== 'string', this.compresses(data))
  }

  compresses(data: string | Uint8Array): boolean {
    return this.#compressFrom >= 0 && data.length >= this.#compressFrom
  }

  /** Closes all, as the server goes away (RFC 6455 §7.4.1). */
  closeAll(): void {
    for (const socket of this.open) socket.close(1001, serverCloses)
  }

  /**
   * Pings the sockets that were silent for half their time, and resets those that were silent for all of it. This waits
   * until what has arrived was read, since the process may have been busy.
   */
  sweep(): void {
    setImmediate(() => {
      const now = Date.now()
      for (const socket of this.open) socket.check(now)
    })
  }
}

function hear(socket: UwsWebSocket): void {
  socketOf(socket).heard = true
}

function socketOf(socket: UwsWebSocket): UwsSocket {
  return socket.getUserData().owner as UwsSocket
}

function behaviourOf({ maxMessageSize, maxBuffered, compressFrom }: SocketRoute): string {
  return `${maxMessageSize} ${maxBuffered} ${compressFrom >= 0}`
}

/**
 * Leaves out the offers that uWebSockets.js would accept and not keep: it cannot compress with a window smaller than
 * 32 KiB (RFC 7692 §7.1.2.1).
 */
function supportedOffers(extensions: string): string {
  return extensions
    .split(',')
    .filter((offer) => /^\s*permessage-deflate\s*(?:;|$)/i.test(offer) && !smallWindow.test(offer))
    .join(',')
}

const smallWindow = /;\s*server_max_window_bits\s*=\s*"?(?!15\b)/i
