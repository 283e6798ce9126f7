/** The adapter on uWebSockets.js: an optional peer dependency, loaded only for apps that ask for it. */
import { unlinkSync } from 'node:fs'
import type { Adapter, Address, Host, Limits, ListenOptions, Server, ServerStats } from '@volant/engine'
import { VolantError } from '../errors.ts'
import { Routes } from './head.ts'
import { UwsExchange } from './uws-exchange.ts'
import { listenUws } from './uws-listen.ts'
import {
  type ListenSocket,
  loadUws,
  type Uws,
  type UwsApp,
  type UwsRequest,
  type UwsResponse,
} from './uws-load.ts'

/** The adapter, for heads of `limits.maxHeaderSize`. Throws `E_ADAPTER` where uWebSockets.js cannot be used. */
export function uwsAdapter(limits: Limits): Adapter {
  const uws = loadUws(limits.maxHeaderSize)
  return {
    name: 'uwebsockets',
    // It has fixed times of its own, and never says which connection a request came by.
    unenforced: ['headersTimeout', 'keepAliveTimeout', 'maxConnectionAge', 'maxPipelined'],
    createServer: (host) => new UwsServer(uws, host),
  }
}

/** How often time limits are looked at, in ms, unless one is shorter than four times that: they are accurate to it. */
const sweepInterval = 1_000
const shortestSweep = 10
/** A body that arrives at this rate (bytes a second) may take longer than `requestTimeout`, up to the cap (ms). */
const uploadRate = 1_024
const uploadCap = 300_000

export class UwsServer implements Server {
  readonly host: Host
  /** Exchanges that outlasted the callback of their request. */
  readonly live = new Set<UwsExchange>()
  /** Exchanges whose body is being read. */
  readonly uploads = new Set<UwsExchange>()
  /** Bytes of buffered bodies. */
  buffered = 0
  connections = 0
  inFlight = 0
  requests = 0
  refused = 0
  closing = false
  readonly #uws: Uws
  readonly #app: UwsApp
  readonly #routes: Routes
  #socket: ListenSocket | null = null
  #path: string | null = null
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
    this.#app.any('/*', (response, request) => this.#onRequest(response, request))
  }

  #onConnection(response: UwsResponse, change: number): void {
    this.connections += change
    const { maxConnections } = this.host.limits
    if (change > 0) {
      if (maxConnections > 0 && this.connections > maxConnections) response.close()
    } else if (this.closing && this.connections === 0) this.#gone()
  }

  #onRequest(response: UwsResponse, request: UwsRequest): void {
    this.requests++
    let exchange: UwsExchange | null = null
    try {
      const raw: string[] = []
      let connection: string | null = null
      let size = 0
      request.forEach((name, value) => {
        const text = notAscii.test(value) ? Buffer.from(value).toString('latin1') : value
        size += name.length + text.length + fieldOverhead
        // All that uWebSockets.js looks at is the length of the first.
        if (connection === null && name === 'connection') connection = text.length === 5 ? 'close' : text
        raw.push(name, text)
      })
      const query = request.getQuery()
      const target = query === undefined ? request.getUrl() : `${request.getUrl()}?${query}`
      exchange = new UwsExchange(this, response, request.getCaseSensitiveMethod(), raw, connection)
      this.#admit(exchange, target, size)
    } catch (error) {
      // An exception must not cross into uWebSockets.js.
      if (exchange !== null) exchange.destroy()
      else response.close()
      exchange = null
      rethrowLater(error)
    }
    if (exchange !== null && !exchange.over) exchange.outlast()
  }

  #admit(exchange: UwsExchange, target: string, size: number): void {
    const { limits } = this.host
    const refusal = exchange.admit(target, this.host, this.#routes)
    if (refusal !== null) return exchange.refuse(refusal)
    if (exchange.method.length + target.length + lineOverhead + size > limits.maxHeaderSize) {
      return exchange.refuse('E_HEAD_TOO_LARGE')
    }
    if (limits.maxInFlight > 0 && this.inFlight >= limits.maxInFlight) return exchange.refuse('E_OVERLOADED')
    this.inFlight++
    exchange.counted = true
    exchange.begin()
  }

  /** Runs what uWebSockets.js calls back. */
  guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      rethrowLater(error)
    }
  }

  /** A reply is complete. */
  released(): void {
    this.inFlight--
    if (this.closing && this.inFlight === 0) setImmediate(() => this.#closeIdle())
  }

  async listen(options: ListenOptions): Promise<Address> {
    const { socket, address } = await listenUws(this.#uws, this.#app, options)
    this.#socket = socket
    this.#path = address.path
    const { sendTimeout, requestTimeout, drainTimeout } = this.host.limits
    const shortest = Math.min(...[sendTimeout, requestTimeout, drainTimeout].filter((limit) => limit > 0))
    const interval = Math.max(shortestSweep, Math.min(shortest / 4, sweepInterval))
    this.#sweep = setInterval(() => this.#sweepAll(), interval).unref()
    return address
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.closing = true
      if (this.#socket !== null) this.#uws.us_listen_socket_close(this.#socket)
      if (this.#path !== null) removeFile(this.#path)
      const deadline = setTimeout(() => {
        for (const exchange of this.live) exchange.abort('shutdown')
        this.#app.close()
      }, this.host.limits.shutdownTimeout)
      this.#gone = () => {
        clearTimeout(deadline)
        if (this.#sweep !== null) clearInterval(this.#sweep)
        resolve()
      }
      if (this.connections === 0) this.#gone()
      else setImmediate(() => this.#closeIdle())
    })
    return this.#closed
  }

  /** Which connections are idle is not known while a request is in flight: then each reply closes its own. */
  #closeIdle(): void {
    if (this.inFlight === 0) this.#app.close()
  }

  stats(): ServerStats {
    const { connections, inFlight, requests, refused } = this
    return { connections, inFlight, requests, refused }
  }

  ref(): void {}

  /** Throws `E_ADAPTER`: what uWebSockets.js listens on keeps the process alive. */
  unref(): void {
    throw new VolantError(
      'E_ADAPTER',
      'the adapter uwebsockets cannot unref its server: close() it instead, or use native or node-http',
    )
  }

  #sweepAll(): void {
    const now = Date.now()
    const { requestTimeout, sendTimeout } = this.host.limits
    for (const exchange of this.uploads) {
      const { since = now, received = 0 } = exchange.upload ?? {}
      const elapsed = now - since
      if (requestTimeout === 0 || elapsed <= requestTimeout) continue
      if (elapsed <= uploadCap && received >= (elapsed / 1_000) * uploadRate) continue
      if (exchange.replied || exchange.bodyKind !== 0) exchange.destroy()
      else exchange.refuse('E_REQUEST_TIMEOUT')
    }
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

/** Colon, space and line end of a field; two spaces, version and line end of the request line, and the empty line. */
const fieldOverhead = 4
const lineOverhead = 14
// oxlint-disable-next-line no-control-regex -- ASCII is meant
const notAscii = /[^\x00-\x7f]/

function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody else removed it.
  }
}

function rethrowLater(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}
