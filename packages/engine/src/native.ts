/** The native adapter. Each thread has one engine, which starts when the first server is made. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { addressOf } from './address.ts'
import {
  type AbortReason,
  type Adapter,
  type Address,
  type Host,
  type Limits,
  type ListenOptions,
  methods,
  type Server,
  type ServerStats,
} from './exchange.ts'
import {
  kindAbort,
  kindBodyEnd,
  kindBodyFail,
  kindChunk,
  kindClosed,
  kindClosedSocket,
  kindDrain,
  kindDropped,
  kindMessage,
  kindRequest,
  limitOrder,
  requestAllow,
  requestBodyLength,
  requestBodyOffset,
  requestGeneration,
  requestKind,
  requestRoute,
  requestServer,
  requestSlot,
  requestsOffset,
  requestWords,
} from './generated/layout.ts'
import { type Addon, type Binding, loadAddon } from './load.ts'
import { bodies, memory, overflow, references, words } from './memory.ts'
import { live, NativeExchange, nextSlice, pageStart, setQuestions, waiting } from './native-exchange.ts'
import { publishFrom, sockets } from './native-socket.ts'
import { setTls } from './native-tls.ts'
import type { SocketRoute } from './socket.ts'
import type { TlsConfig } from './tls.ts'

const abortReasons: readonly AbortReason[] = ['client', 'timeout', 'shutdown', 'error', 'upload']

const servers: (NativeServer | undefined)[] = []

/** The number of descriptors in the last slice. */
let last = 0

/** Answers a slice. The engine calls no other function, and calls this one never from inside itself. */
function onSlice(count: number, page: number): void {
  // Two pages alternate, so the page of the last slice is still intact: requests in use are copied out of it.
  for (let index = 0; index < last; index++) {
    const exchange = waiting[index]
    if (exchange === null || exchange === undefined) continue
    waiting[index] = null
    if (live[exchange.slot] === exchange || exchange.retained) exchange.park()
  }
  last = count
  nextSlice()
  let at = requestsOffset + pageStart(page)
  for (let index = 0; index < count; index++, at += requestWords) {
    if (((words[at + requestKind] as number) & 0xff) !== kindRequest) {
      try {
        event(at)
      } catch (error) {
        // It is uncaught, as from any callback, but must not harm the other requests of this slice.
        process.nextTick(rethrow, error)
      }
      continue
    }
    const exchange = new NativeExchange(at, index)
    live[exchange.slot] = exchange
    const server = servers[words[at + requestServer] as number] as NativeServer
    server.host.dispatch(exchange, words[at + requestRoute] as number, words[at + requestAllow] as number)
    if (live[exchange.slot] === exchange || exchange.retained) waiting[index] = exchange
  }
  if (bodies.length > 0) bodies.length = 0
}

function rethrow(error: unknown): never {
  throw error
}

function event(at: number): void {
  const kind = (words[at + requestKind] as number) & 0xff
  if (kind === kindClosed) {
    servers[words[at + requestServer] as number]?.closed()
    return
  }
  const exchange = live[words[at + requestSlot] as number]
  if (exchange === null || exchange === undefined) return socketEvent(at, kind)
  if (exchange.generation !== words[at + requestGeneration]) return
  const value = words[at + requestBodyLength] as number
  const detail = words[at + requestBodyOffset] as number
  switch (kind) {
    case kindChunk:
      return exchange.bodyChunk(detail, value)
    case kindBodyEnd:
      return exchange.bodyEnd(detail, value)
    case kindBodyFail:
      return exchange.bodyFailed(value)
    case kindDrain:
      return exchange.drained()
    case kindAbort:
      return detail === 1 ? exchange.hangUp() : exchange.abort(abortReasons[value] ?? 'error')
  }
}

function socketEvent(at: number, kind: number): void {
  const socket = sockets[words[at + requestSlot] as number]
  if (socket === null || socket === undefined || socket.generation !== words[at + requestGeneration]) return
  switch (kind) {
    case kindMessage:
      return socket.receive(at)
    case kindDrain:
      return socket.drained()
    case kindDropped:
      return socket.dropped(words[at + requestBodyLength] as number)
    case kindClosedSocket:
      return socket.closedAt(at)
    case kindAbort:
      // Its client may still read; the engine finds out that it does not.
      return (words[at + requestBodyOffset] as number) === 1 ? undefined : socket.lost()
  }
}

let binding: Binding | null = null
/** Whether a test holds the clock, also one that began before the first server. */
let isClockHeld = false

function start(addon: Addon): Binding {
  // This runs outside any request, so it captures no user's async context.
  if (binding === null) {
    binding = addon.open(memory, onSlice, references, bodies, overflow, {})
    if (isClockHeld) binding.holdClock(true)
  }
  setQuestions(binding)
  return binding
}

class NativeServer implements Server {
  readonly host: Host
  readonly #engine: Binding
  readonly #id: number
  #closing: Promise<void> | null = null
  #resolve: (() => void) | null = null
  #last: ServerStats | null = null

  constructor(engine: Binding, host: Host) {
    this.host = host
    this.#engine = engine
    const { caseSensitive, ignoreTrailingSlash, methods: registered } = host.router
    const names: readonly string[] = [...methods, ...registered]
    const settings = host.routes.flatMap(({ socket }) => (socket === undefined ? [] : [socket]))
    const routes = host.routes.flatMap((route): (number | string)[] => [
      names.indexOf(route.method),
      route.pattern,
      route.bodyMode,
      route.maxBodySize,
      route.socket === undefined ? -1 : settings.indexOf(route.socket),
      route.requestTimeout,
    ])
    const limits = Float64Array.from(limitOrder, (name) => host.limits[name as keyof Limits])
    this.#id = engine.createServer(
      limits,
      caseSensitive,
      ignoreTrailingSlash,
      registered,
      routes,
      socketsOf(settings),
    )
    servers[this.#id] = this
  }

  async listen(options: ListenOptions): Promise<Address> {
    const { port = 0, host, path, backlog = 511, ipv6Only = false, reusePort = false, tls } = options
    // With TLS the handshake decides. Without TLS clients need prior knowledge (RFC 9113 §3.3).
    const http2 = options.http2 === true && tls === undefined
    const listenOn = (address: string) =>
      this.#engine.listen(this.#id, address, port, path ?? null, backlog, ipv6Only, reusePort, http2)
    if (tls !== undefined) this.setTls(tls)
    const scheme = tls === undefined ? 'http' : 'https'
    if (options.passed !== undefined) {
      const { passed } = options
      attach(this.#engine, passed.connections)
      this.#engine.listenPassed(this.#id, passed.listener, http2)
      return addressOf(passed, scheme)
    }
    if (options.fd !== undefined) return addressOf(this.#engine.listenFd(this.#id, options.fd, http2), scheme)
    if (path !== undefined) {
      listenOn('')
      return { port: null, host: null, path, url: `unix:${path}` }
    }
    if (host === undefined) return addressOf(listenAnywhere(listenOn), scheme)
    const address = isIP(host) ? host : (await lookup(host)).address
    return addressOf(listenOn(address), scheme)
  }

  setTls(config: TlsConfig): void {
    // Another server may have the id of a closed one.
    if (this.#last === null) setTls(this.#engine, this.#id, config)
  }

  close(drainIdle = this.host.limits.drainIdle): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#resolve = resolve
      this.#engine.close(this.#id, drainIdle)
    })
    return this.#closing
  }

  /** Is called when the engine has let go of the last connection. */
  closed(): void {
    this.#last = this.stats()
    servers[this.#id] = undefined
    this.#engine.dropServer(this.#id)
    this.#resolve?.()
  }

  publish(topic: string, data: string | Uint8Array): void {
    if (this.#last === null) publishFrom(this.#id, topic, data)
  }

  stats(): ServerStats {
    if (this.#last !== null) return this.#last
    const [connections, inFlight, requests, refused, panics, dropped, open] = this.#engine.stats(this.#id)
    return { connections, inFlight, requests, refused, dropped, panics, sockets: open }
  }

  ref(): void {
    if (this.#last === null) this.#engine.setReferenced(this.#id, true)
  }

  unref(): void {
    if (this.#last === null) this.#engine.setReferenced(this.#id, false)
  }
}

/** Gives the values that `socket_spec` of `crates/node/src/config.rs` reads. */
function socketsOf(settings: readonly SocketRoute[]): Float64Array {
  return Float64Array.from(
    settings.flatMap((socket) => [
      socket.maxMessageSize,
      socket.maxFragments,
      socket.idleTimeout,
      socket.closeTimeout,
      socket.maxBuffered,
      socket.whenFull === 'drop' ? 1 : 0,
      socket.compressFrom,
    ]),
  )
}

type Bound = ReturnType<Binding['listen']>

/** Listens on `::` with IPv4 where the machine has IPv6, else on `0.0.0.0`. */
function listenAnywhere(listen: (address: string) => Bound): Bound {
  try {
    return listen('::')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EAFNOSUPPORT' && code !== 'EADDRNOTAVAIL' && code !== 'EINVAL') throw error
    return listen('0.0.0.0')
  }
}

let attached = false

/** Has connections of the supervisor come to the engine of this thread, once. */
function attach(engine: Binding, fd: number): void {
  if (!attached) engine.attach(fd)
  attached = true
}

/**
 * The clock by which the engine of this thread counts time limits, for tests. `Date` and the timers of JavaScript have
 * clocks of their own.
 */
export const engineClock = {
  /** Has the clock stand still (true), or go on from where it stands (false). */
  hold(hold: boolean): void {
    isClockHeld = hold
    binding?.holdClock(hold)
  },
  /** Moves the clock on by `ms`. Resolves when whatever is late then has been ended. */
  async advance(ms: number): Promise<void> {
    binding?.advanceClock(ms)
    // The engine's timer comes with the next round of the event loop, before the second of these.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  },
}

/** Gives the native adapter of this thread, or half a sentence that says why there is none. */
export function nativeEngine(): { adapter: Adapter } | { reason: string } {
  const loaded = loadAddon()
  if ('reason' in loaded) return loaded
  let engine: Binding
  try {
    const first = binding === null
    engine = start(loaded.addon)
    // This sends replies that were written in the last moment, as node:http does.
    if (first) process.on('exit', () => engine.flush())
  } catch (error) {
    return { reason: `the engine did not start: ${(error as Error).message}` }
  }
  return {
    adapter: { name: 'native', unenforced: [], createServer: (host) => new NativeServer(engine, host) },
  }
}
