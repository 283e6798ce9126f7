/** The adapter on uWebSockets.js: an optional peer dependency, loaded only for apps that ask for it. */
import { unlinkSync } from 'node:fs'
import {
  type Adapter,
  type Address,
  type Host,
  type Limits,
  type ListenOptions,
  type Server,
  type ServerStats,
} from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { afterDrain, type Phase, stopWhenAccepted } from './drain.ts'
import { Routes } from './head.ts'
import { notAscii, type SocketExchange } from './socket-exchange.ts'
import { requestTimes, sweepEvery, sweepUploads } from './upload.ts'
import { PeerAddresses } from './uws-address.ts'
import { UwsExchange } from './uws-exchange.ts'
import type { UwsReply } from './uws-reply.ts'
import { listenUws } from './uws-listen.ts'
import { UwsSockets } from './uws-sockets.ts'
import {
  type ListenSocket,
  loadUws,
  type Uws,
  type UwsApp,
  type UwsRequest,
  type UwsResponse,
} from './uws-load.ts'

/** Gives the adapter for heads of `limits.maxHeaderSize`. Throws `E_ADAPTER` where uWebSockets.js cannot be used. */
export function uwsAdapter(limits: Limits): Adapter {
  const uws = loadUws(limits.maxHeaderSize)
  return {
    name: 'uwebsockets',
    // uWebSockets.js has fixed time limits. It does not report new connections, the connection of a request, or the
    // bytes that wait on all connections.
    unenforced: [
      'headersTimeout',
      'keepAliveTimeout',
      'maxConnectionAge',
      'maxConnectionsPerAddress',
      'maxPipelined',
      'maxBufferedReplies',
      'maxFragments',
      'closeTimeout',
    ],
    createServer: (host) => new UwsServer(uws, host),
  }
}

export class UwsServer implements Server {
  readonly host: Host
  /** The exchanges that were not complete when the callback of their request ended. */
  readonly live = new Set<UwsReply>()
  readonly uploads = new Set<SocketExchange>()
  readonly addresses = new PeerAddresses()
  readonly sockets: UwsSockets
  buffered = 0
  connections = 0
  inFlight = 0
  requests = 0
  refused = 0
  phase: Phase = 'open'
  /** The exchange whose callback for data may be running: its connection must not be closed there. */
  receiving: UwsReply | null = null
  /** True where a reply said that its connection closes, and it is not closed yet. */
  #refusing = false
  #forgets = false
  /** The connections that were accepted since the start. */
  #accepted = 0
  readonly #uws: Uws
  readonly #app: UwsApp
  readonly #routes: Routes
  #socket: ListenSocket | null = null
  #path: string | null = null
  /** True once the listening socket is closed. */
  #stopped = false
  #sweep: NodeJS.Timeout | null = null
  #closed: Promise<void> | null = null
  #gone: () => void = () => {}

  constructor(uws: Uws, host: Host) {
    this.#uws = uws
    this.host = host
    this.#routes = new Routes(host)
    this.#app = uws.App()
    this.#app.filter((response, change) => {
      this.guard(() => this.#onConnection(response, change))
    })
    const onRequest = (response: UwsResponse, request: UwsRequest) => this.#onRequest(response, request)
    this.#app.any('/*', onRequest)
    this.sockets = new UwsSockets(uws, this.#app, this, onRequest)
  }

  #onConnection(response: UwsResponse, change: number): void {
    if (change < 0) {
      this.#refusing = false
      this.lost()
      return
    }
    const { maxConnections } = this.host.limits
    this.connections++
    this.#accepted++
    this.addresses.opened(response, this.connections === 1)
    if (maxConnections > 0 && this.connections > maxConnections) response.close()
  }

  /** Is called when a connection is gone. uWebSockets.js reports that of a WebSocket elsewhere. */
  lost(): void {
    this.connections--
    if (this.#stopped && this.connections === 0) this.#gone()
  }

  #onRequest(response: UwsResponse, request: UwsRequest): void {
    if (this.#refusing) return this.#drop(response)
    this.requests++
    let exchange: UwsExchange | null = null
    try {
      const raw: string[] = []
      request.forEach((name, value) => {
        raw.push(name, notAscii.test(value) ? Buffer.from(value).toString('latin1') : value)
      })
      const query = request.getQuery()
      const target = query === undefined ? request.getUrl() : `${request.getUrl()}?${query}`
      exchange = new UwsExchange(this, response, request.getCaseSensitiveMethod(), raw)
      this.#admit(exchange, target)
    } catch (error) {
      // An exception must not cross into uWebSockets.js.
      if (exchange !== null) exchange.destroy()
      else response.close()
      exchange = null
      rethrowLater(error)
    }
    if (exchange !== null && !exchange.over) exchange.outlast()
  }

  #admit(exchange: UwsExchange, target: string): void {
    const { limits } = this.host
    const refusal =
      exchange.inspect(target.length, limits.maxHeaderSize) ?? exchange.admit(target, this.host, this.#routes)
    if (refusal !== null) return exchange.refuse(refusal)
    if (limits.maxInFlight > 0 && this.inFlight >= limits.maxInFlight) return exchange.refuse('E_OVERLOADED')
    this.inFlight++
    exchange.counted = true
    exchange.begin()
  }

  /**
   * Refuses requests after a reply that was sent inside the callback of its request and closes the connection.
   * uWebSockets.js closes it after it has read the rest of the same segment, and takes that for further requests, which
   * must not be served (RFC 9112 §9.6). Before that it calls back for no other connection.
   */
  refuseRest(): void {
    this.#refusing = true
    this.#forgetSoon()
  }

  /** Is called when a callback for data begins; the microtasks that follow belong to it. */
  receives(exchange: UwsReply): void {
    this.receiving = exchange
    this.#forgetSoon()
  }

  #forgetSoon(): void {
    if (this.#forgets) return
    this.#forgets = true
    setImmediate(() => {
      this.#refusing = false
      this.receiving = null
      this.#forgets = false
    })
  }

  /** Closes the connection after the reply that comes before this request was sent. */
  #drop(response: UwsResponse): void {
    // uWebSockets.js does not take a third request while this one has no reply.
    this.#refusing = false
    let gone = false
    response.onAborted(() => {
      gone = true
    })
    setImmediate(() => {
      if (!gone) response.close()
    })
  }

  /** Runs a callback of uWebSockets.js. */
  guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      rethrowLater(error)
    }
  }

  /** Is called when a reply is complete. */
  released(): void {
    this.inFlight--
    if (this.phase === 'closing' && this.inFlight === 0) setImmediate(() => this.#closeIdle())
  }

  async listen(options: ListenOptions): Promise<Address> {
    const { socket, address } = await listenUws(this.#uws, this.#app, options)
    this.#socket = socket
    this.#path = address.path
    const { sendTimeout, drainTimeout } = this.host.limits
    const times = [sendTimeout, drainTimeout, ...requestTimes(this.host), ...UwsSockets.times(this.host)]
    this.#sweep = sweepEvery(times, () => this.#sweepAll())
    return address
  }

  close(drainIdle = this.host.limits.drainIdle): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.phase = 'accepting'
      this.sockets.closeAll()
      let drain: NodeJS.Timeout | undefined
      const deadline = setTimeout(() => {
        this.#stopListening()
        for (const exchange of this.live) exchange.abort('shutdown')
        this.#app.close()
      }, this.host.limits.shutdownTimeout)
      this.#gone = () => {
        clearTimeout(drain)
        clearTimeout(deadline)
        if (this.#sweep !== null) clearInterval(this.#sweep)
        resolve()
      }
      const stop = () => {
        this.#stopListening()
        if (this.connections === 0) return
        this.phase = 'draining'
        drain = afterDrain(drainIdle, () => {
          this.phase = 'closing'
          this.#closeIdle()
        })
      }
      stopWhenAccepted(() => this.#accepted, stop)
    })
    return this.#closed
  }

  #stopListening(): void {
    if (this.#stopped) return
    this.#stopped = true
    if (this.#socket !== null) this.#uws.us_listen_socket_close(this.#socket)
    if (this.#path !== null) removeFile(this.#path)
    if (this.connections === 0) this.#gone()
  }

  /**
   * Closes idle connections. Which ones are idle is not known while a request is in flight; then each reply closes its
   * own.
   */
  #closeIdle(): void {
    if (this.inFlight === 0) this.#app.close()
  }

  /** True once replies say that their connections close. */
  get isClosing(): boolean {
    return this.phase !== 'open'
  }

  stats(): ServerStats {
    const { connections, inFlight, requests, refused } = this
    return { connections, inFlight, requests, refused, sockets: this.sockets.open.size }
  }

  publish(topic: string, data: string | Uint8Array): void {
    this.sockets.publish(topic, data)
  }

  ref(): void {}

  /** Throws `E_ADAPTER`: a listening uWebSockets.js keeps the process alive. */
  unref(): void {
    throw new VolantError(
      'E_ADAPTER',
      'the adapter uwebsockets cannot unref its server: close() it instead, or use native or node-http',
    )
  }

  #sweepAll(): void {
    const now = Date.now()
    const { sendTimeout } = this.host.limits
    sweepUploads(this.uploads, now)
    this.sockets.sweep()
    for (const exchange of this.live) {
      const { stalledSince, drainUntil } = exchange
      if (
        drainUntil > 0
          ? now > drainUntil
          : stalledSince > 0 && sendTimeout > 0 && now - stalledSince >= sendTimeout
      )
        exchange.destroy()
    }
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Another process removed it.
  }
}

function rethrowLater(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}
