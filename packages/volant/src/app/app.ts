/** The app: routes and middleware, and `listen`, `inject` or `fetch` to serve them. */
import type { Server as HttpServer } from 'node:http'
import { inspect } from 'node:util'
import { type Address, methods, type ServerStats } from '@volant/engine'
import { type AdapterType, chooseAdapter, warnOfUnenforced } from '../adapters/choose.ts'
import { Routes } from '../adapters/head.ts'
import { NodeFace } from '../adapters/node-face.ts'
import { NodeServer } from '../adapters/node-http.ts'
import type { APITree } from '../contract/api-tree.ts'
import { CompiledApp } from '../dispatch/compiled-app.ts'
import { VolantError } from '../errors/errors.ts'
import { warnOfEarlyBodies } from './early-bodies.ts'
import { checkOperationIds, tableOf } from './expose.ts'
import { fetchFrom } from '../testing/fetch.ts'
import { inject, type InjectReply } from '../testing/inject.ts'
import type { InjectOptions } from '../testing/inject-request.ts'
import { bad } from '../options/bad-option.ts'
import { checkNames } from '../options/checks.ts'
import { checkLimit } from '../options/limits.ts'
import { flushLog, rememberLog, usualLog } from '../log/options.ts'
import { printLine } from '../report/print-line.ts'
import type { TlsOptions } from '../tls/options.ts'
import { SharedTopics } from '../sockets/shared-topics.ts'
import type { PublishOptions } from '../types/web-socket.ts'
import { isThenable } from '../types/thenable.ts'
import type { BusGap, BusStats } from '../types/bus.ts'
import { type AppOptions, type ResolvedOptions, resolveOptions } from './app-options.ts'
import { checkArguments, type ListenOptions, resolveListen } from './listen-options.ts'
import { checkMessage } from '../sockets/messages.ts'
import { TopicCounts } from '../sockets/topic-counts.ts'
import { checkTopic } from '../sockets/topics.ts'
import { Registry } from './registry.ts'
import { type RouteInfo, routesOf } from './route-info.ts'
import { rootOf, Scope } from './scope.ts'
import { Servers } from './servers.ts'
import { listeningApps } from './supervised.ts'
import { closeOnSignal, forgetSignal } from './signals.ts'
import type { Parts, RootParts } from '../types/parts.ts'
import type { Log } from '../types/log.ts'
import type { RequestApp, RequestContext } from '../types/request.ts'
import { listenChannel } from '../report/channels.ts'
import { type Supervision, supervision } from '../worker/supervision.ts'

/**
 * Makes an app without routes. Throws `E_BAD_OPTION` for an option that makes no sense, and `E_ADAPTER` for an adapter
 * that cannot be used.
 */
export function createApp(options: AppOptions = {}): App {
  return new App(options)
}

/** The result of `createApp`: a scope that can listen. */
export class App<B extends Parts = RootParts> extends Scope<B> {
  readonly #options: ResolvedOptions
  #core: CompiledApp | null = null
  #injectable: Routes | null = null
  #adapter: ReturnType<typeof chooseAdapter> | null = null
  #servers: Servers | null = null
  #listening = false
  /** What libraries see that attach themselves to a server of node:http; null where none does. */
  #face: NodeFace | null = null
  /** The promise of the address while the adapter binds it. */
  #binding: Promise<Address> | null = null
  #loaded: Promise<void> | null = null
  /** True while `#loaded` is resolved and nothing was registered since. */
  #through = false
  /** The `onStart` hooks that ran or are running. */
  readonly #begun = new Set<() => unknown>()
  #closed: Promise<void> | null = null
  #closing = false
  /** False once the server has closed. */
  #serves = true
  #hasToldGap = false
  readonly #sharedTopics: SharedTopics | null = null
  readonly #topics: TopicCounts
  /** The paths of the tables for clients. */
  readonly #tables = new Set<string>()

  constructor(options: AppOptions) {
    const resolved = resolveOptions(options)
    super({
      registry: new Registry(resolved.router, (what) => this.#change(what)),
      methods: [...methods, ...resolved.router.methods],
      defaults: { limits: resolved.limits, undeclaredProperties: resolved.undeclaredProperties },
    })
    this.#options = resolved
    if (resolved.log !== null) rememberLog(resolved.log)
    if (resolved.adapter !== undefined) this.#adapter = chooseAdapter(resolved.adapter, resolved.limits)
    rootOf(this).registry.publisher = (topic, data, options, told) => {
      const shared = options?.local === true ? null : this.#sharedTopics
      if (shared !== null && told.has(shared.bus)) return
      this.#publishHere(topic, data)
      shared?.publish(topic, data)
      if (shared !== null) told.add(shared.bus)
    }
    if (resolved.bus !== null) {
      this.#sharedTopics = new SharedTopics(
        resolved.bus,
        (topic, data) => this.#publishHere(topic, data),
        (gap) => this.#tellGap(gap),
      )
    }
    this.#topics = new TopicCounts(this.#sharedTopics)
    rootOf(this).registry.counter = (topic) => this.#topics.of(topic)
  }

  #publishHere(topic: string, data: string | Uint8Array): void {
    if (this.#serves) this.#servers?.publish(topic, data)
  }

  #tellGap(gap: BusGap): void {
    const hooks = rootOf(this).registry.hooksOf('gap')
    if (hooks.length === 0 && !this.#hasToldGap) {
      this.#hasToldGap = true
      printLine(
        `volant: messages of other processes to the topic ${JSON.stringify(gap.topic)} were lost, or may have been, and no onGap hook has clients ask anew: app.onGap(({ topic }) => …). This is said once; app.stats().bus counts`,
      )
    }
    for (const hook of hooks) {
      const fails = (error: unknown): void => printLine(`volant: an onGap hook failed: ${inspect(error)}`)
      try {
        const result = hook(gap)
        if (isThenable(result)) result.then(undefined, fails)
      } catch (error) {
        fails(error)
      }
    }
  }

  /** The adapter that the app runs on. It is chosen at the first access. */
  get adapterName(): AdapterType {
    return (this.#adapter ??= chooseAdapter(this.#options.adapter, this.#options.limits)).name as AdapterType
  }

  /**
   * Resolves when plugins have resolved and `onStart` hooks have run, which happens once: before the app listens, or at
   * its first `inject` or `fetch`. Rejects with their error. What is registered later is waited for by the next call of
   * these.
   */
  ready(): Promise<void> {
    return (this.#loaded ??= this.#load())
  }

  /**
   * Starts the server: `listen(3000)`, `listen(3000, '127.0.0.1')`, `listen({ path: '/run/app.sock' })`. With port 0,
   * or without a port, the system picks a free one. Rejects with the system's error (EADDRINUSE, EACCES) and a sentence
   * that explains it; the app can then listen elsewhere. Routes cannot be added once plugins and `onStart` hooks are
   * done.
   */
  async listen(
    target?: number | ListenOptions,
    host?: string | ((address: Address) => void),
    callback?: (address: Address) => void,
  ): Promise<Address> {
    checkArguments(host, callback)
    const resolved = resolveListen(target, typeof host === 'string' ? host : undefined, this.#face !== null)
    const options = resolved.server
    const done = typeof host === 'function' ? host : callback
    if (this.#listening || this.#closed !== null) throw new VolantError('E_ALREADY_LISTENING')
    this.#listening = true
    listenChannel.publish({ app: this, options })
    const adapter = (this.#adapter ??= chooseAdapter(this.#options.adapter, this.#options.limits))
    let address: Address
    try {
      await this.ready()
      this.#refuseClosed()
      rootOf(this).registry.fix()
      const core = this.#start()
      const server = this.#face === null ? adapter.createServer(core) : new NodeServer(core, this.#face)
      this.#servers = new Servers(adapter, this.#options.limits, core, server)
      this.#binding = this.#servers.listen(resolved)
      address = await this.#binding
    } catch (error) {
      this.#listening = false
      this.#servers = null
      throw error
    } finally {
      this.#binding = null
    }
    this.#refuseClosed()
    warnOfUnenforced(adapter, this.#options.limits)
    warnOfUnused(rootOf(this).registry)
    warnOfEarlyBodies(rootOf(this).registry.routes, this.#options.limits.maxBodySize)
    const supervisor = supervision()
    if (this.#options.signals && supervisor === null) closeOnSignal(this)
    else if (supervisor !== null) this.#obey(supervisor)
    try {
      for (const hook of rootOf(this).registry.hooksOf('ready')) await hook(address)
    } catch (error) {
      await this.close()
      throw error
    }
    // The supervisor says it once for all of its workers.
    if (this.#options.startLine && supervisor === null)
      printLine(`volant: listening on ${address.url} (${adapter.name})`, 'stdout')
    supervisor?.ready(this.#closeTime())
    done?.(address)
    return address
  }

  /** Gives the most milliseconds that `close` takes before its last hooks. */
  #closeTime(): number {
    const { shutdownTimeout } = this.#options.limits
    return rootOf(this).registry.hooksOf('closing').length > 0 ? 2 * shutdownTimeout : shutdownTimeout
  }

  #obey(supervisor: Supervision): void {
    listeningApps.push(this)
    supervisor.onBeat(() => this.stats())
    if (!this.#options.signals) return
    supervisor.onLeave(() => {
      this.#closing = true
    })
    supervisor.onDrain((drainIdle) => this.close(drainIdle === null ? {} : { drainIdle }))
  }

  /**
   * Replaces the options that `tls` of `listen` gave, without a restart: new connections get the new certificates, and
   * open connections stay. All options are given anew. Throws `E_BAD_OPTION`, which says what is wrong; then the old
   * ones stay in use. It throws this error, too, if the app does not listen with `tls`, or is closing.
   *
   * ```ts ignore
   * process.on('SIGHUP', () => app.setTls({ cert: readFileSync(certPath), key: readFileSync(keyPath) }))
   * ```
   */
  setTls(options: TlsOptions): void {
    const isClosing = this.#closed !== null
    if (!isClosing && this.#servers?.setTls(options) === true) return
    throw new VolantError(
      'E_BAD_OPTION',
      `setTls() replaces what listen({ tls }) gave, and this app ${isClosing ? 'is closed, or closes' : 'does not listen with tls'}`,
    )
  }

  /**
   * Closes the app, in this order. `closing` is true, `/ready` says 503, and `ctx.signal` of open streams is aborted. The
   * `onClosing` hooks run, while the port is open. The connections that wait are accepted, and then no more. Requests in
   * flight, and those that still come by open connections, are answered, and the last reply of each connection says
   * `Connection: close`. After `drainIdle` the connections that are idle are read once more and closed, and after
   * `shutdownTimeout` those left are reset; both count from the end of the hooks. As soon as no connection is left, the
   * bus is closed if no other app has it, and the `onClose` hooks run, the last one first. All hooks run; then it rejects
   * with the error of the first that failed. A closed app does not listen again, and a `listen` that is under way rejects.
   * A second call gives the same promise.
   *
   * In a worker of a supervisor, no more connections come from then on.
   *
   * `drainIdle` stands for the limit of that name: `close({ drainIdle: 0 })` in a test does not wait for clients that
   * keep idle connections.
   */
  close(options: { drainIdle?: number } = {}): Promise<void> {
    // As a listener, `process.once('SIGTERM', app.close.bind(app))`, it gets a signal's name.
    const given = typeof options === 'object' && options !== null ? options : {}
    checkNames('close', given, ['drainIdle'])
    const { drainIdle } = given
    if (drainIdle !== undefined) checkLimit('drainIdle', drainIdle, 'drainIdle')
    return (this.#closed ??= this.#close(drainIdle))
  }

  async #close(drainIdle: number | undefined): Promise<void> {
    this.#closing = true
    this.#core?.tellStreams()
    const failures: unknown[] = []
    const closing = rootOf(this).registry.hooksOf('closing')
    if (closing.length > 0) await this.#announce(closing, failures)
    // A server that is about to listen would miss the call.
    if (this.#binding !== null) await this.#binding.catch(() => {})
    await this.#servers?.close(drainIdle)
    this.#serves = false
    rootOf(this).registry.publisher = null
    // Its client is closed by a hook.
    await this.#sharedTopics?.close().catch((error: unknown) => failures.push(error))
    forgetSignal(this)
    for (const hook of rootOf(this).registry.hooksOf('close').toReversed()) {
      try {
        await hook()
      } catch (error) {
        failures.push(error)
      }
    }
    await flushLog(this.#options.log)
    if (failures.length > 0) throw failures[0]
  }

  async #announce(hooks: (() => unknown)[], failures: unknown[]): Promise<void> {
    const { shutdownTimeout } = this.#options.limits
    const all = Promise.all(
      hooks.map(async (hook) => {
        try {
          await hook()
        } catch (error) {
          failures.push(error)
        }
      }),
    )
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, shutdownTimeout, 'late')
    })
    if ((await Promise.race([all, late])) === 'late') {
      printLine(
        `volant: an onClosing hook took longer than shutdownTimeout (${shutdownTimeout} ms): the app closes without it`,
      )
    }
    clearTimeout(timer)
  }

  /**
   * Sends a request through the app without a socket: `app.inject('/users')`, or with options. Rejects with
   * `E_BAD_OPTION`, which names the option, for a value that makes no sense.
   */
  async inject(request: InjectOptions | string): Promise<InjectReply> {
    await this.ready()
    const core = this.#start()
    return inject(core, this.#routes(core), request)
  }

  /**
   * Answers a web `Request` with an absolute URL, without a socket: for tests, and for servers that take such
   * functions. It is bound to the app: `const { fetch } = app`. Bodies are streamed both ways. Aborting
   * `request.signal`, or cancelling the reply's body, counts as a disconnect. `ctx.ip` is empty; `ctx.protocol` and
   * `ctx.host` are the URL's. Rejects with the signal's reason when it is aborted before the reply.
   */
  readonly fetch = async (request: Request): Promise<Response> => {
    // `instanceof` would refuse the Request of another copy of undici.
    if (typeof request?.url !== 'string') throw bad('fetch', request, 'a Request')
    await this.ready()
    const core = this.#start()
    return fetchFrom(core, this.#routes(core), request)
  }

  /** Gives the routes in the order of their registration; those of mounted apps stand where they were mounted. */
  routes(): RouteInfo[] {
    const { registry } = rootOf(this)
    return routesOf(registry.routes, registry.exposed)
  }

  /**
   * Names routes after their path in `api`, an object of routes and contracts: `createClient<typeof api>` calls them by
   * these names, and the API's document uses them as operation ids. If a contract in it has no handler when the app
   * starts, the app does not start (`E_NOT_IMPLEMENTED`). Clients load a table of the names at `path`, default
   * `/client.json`, with method and path of each route that is not `hidden`. Give `false` if clients have the table
   * already.
   */
  expose(api: APITree, { path = '/client.json' }: { path?: string | false } = {}): this {
    rootOf(this).registry.change('expose()')
    rootOf(this).registry.exposed.add(api)
    if (path === false || this.#tables.has(path)) return this
    this.#tables.add(path)
    let known: { core: unknown; text: string } | undefined
    this.get(path, { hidden: true, summary: 'Method and path of each operation, for clients' }, (ctx) => {
      const { app } = ctx as unknown as RequestContext
      // Anyone can request the table, and writing it takes milliseconds for thousands of routes. A changed app has
      // another core.
      if (known?.core !== app) known = { core: app, text: JSON.stringify(tableOf(this.routes())) }
      ctx.header('cache-control', 'no-cache').header('content-type', 'application/json; charset=utf-8')
      ctx.text(known.text)
    })
    return this
  }

  /**
   * Sends a message to all WebSockets of this app that are subscribed to `topic`: text for a string, else bytes. It is sent
   * as it is; `publish` of a route checks it by the schema `out`. With the option `bus` those of other processes get it,
   * too. Nobody here gets it before the app listens, and after it has closed. Throws `E_SOCKET_TOPIC` and
   * `E_SOCKET_MESSAGE`.
   */
  publish(topic: string, data: string | Uint8Array, options?: PublishOptions): void {
    checkTopic(topic)
    checkMessage(data)
    rootOf(this).registry.publish(topic, data, options)
  }

  /**
   * Gives how many WebSockets of this app are subscribed to `topic`: those that `publish` reaches in this process. A bus
   * adds none of other processes. One that closes counts until its hook `close` runs. Throws `E_SOCKET_TOPIC`.
   */
  subscriberCount(topic: string): number {
    checkTopic(topic)
    return rootOf(this).registry.subscriberCount(topic)
  }

  /** Gives the counters of the server, which are zero before `listen`, and those of the bus, if it has one. */
  stats(): ServerStats & { readonly bus?: BusStats } {
    const server = this.#servers?.stats() ?? { connections: 0, inFlight: 0, requests: 0, sockets: 0 }
    return this.#sharedTopics === null ? server : { ...server, bus: this.#sharedTopics.bus.stats() }
  }

  /** The app's logger, for lines outside of requests; `ctx.log` is its child with the id of a request. */
  get log(): Log {
    return this.#options.log ?? usualLog()
  }

  /**
   * A server of node:http, for libraries that attach themselves to one, such as Socket.IO: `new Server(app.nodeServer)`. They
   * are offered each request before the app, and each WebSocket that no route has; what they take is not seen by the app.
   * It does not listen by itself, and emits `close` when the app begins to close. An app that has it speaks HTTP/1.1
   * alone: `listen({ tls })` does not offer HTTP/2, and `http2: true` is refused with `E_BAD_OPTION`. Throws
   * `E_ADAPTER` on other adapters than node-http, and `E_STARTED` if it is first read after `listen`.
   */
  get nodeServer(): HttpServer {
    const name = this.adapterName
    if (name !== 'node-http') {
      throw new VolantError(
        'E_ADAPTER',
        `app.nodeServer is a server of node:http, and this app runs on ${name}: ` +
          "createApp({ adapter: { type: 'node-http' } })",
      )
    }
    if (this.#face === null && this.#listening)
      throw new VolantError('E_STARTED', 'app.nodeServer comes too late: read it before app.listen()')
    return (this.#face ??= new NodeFace())
  }

  /** True once `close` was called. Requests that still arrive on open connections are the last ones. */
  get closing(): boolean {
    return this.#closing
  }

  /** Makes the listening server keep the process alive again. It does so unless `unref` is called. */
  ref(): this {
    this.#servers?.ref()
    return this
  }

  /** Lets the process end while the server listens. */
  unref(): this {
    this.#servers?.unref()
    return this
  }

  async #load(): Promise<void> {
    const { registry } = rootOf(this)
    for (;;) {
      // Hooks may register plugins, and plugins may register hooks.
      await registry.loaded()
      const hook = registry.hooksOf('start').find((each) => !this.#begun.has(each))
      if (hook === undefined) break
      this.#begun.add(hook)
      await hook()
    }
    this.#through = true
  }

  #refuseClosed(): void {
    if (this.#closed !== null)
      throw new VolantError('E_ALREADY_LISTENING', 'the app was closed before it listened')
  }

  #change(what: string): void {
    if (this.#closed !== null)
      throw new VolantError('E_STARTED', `${what} comes too late: the app was closed. Make a new one`)
    this.#core = null
    this.#injectable = null
    if (this.#through) this.#loaded = null
    this.#through = false
  }

  #routes(core: CompiledApp): Routes {
    return (this.#injectable ??= new Routes(core))
  }

  #start(): CompiledApp {
    if (this.#core !== null) return this.#core
    const { node, registry } = rootOf(this)
    const { limits, router, trust, errorDetails, report } = this.#options
    registry.checkExposed()
    checkOperationIds(registry.routes, registry.exposed)
    this.#core = new CompiledApp({
      serving: this,
      topics: this.#topics,
      sharedTopics: this.#sharedTopics,
      limits,
      router,
      routes: registry.allRoutes(),
      node,
      prefixScopes: registry.prefixScopes,
      trust,
      errorDetails,
      report: report as RequestApp['report'] | null,
    })
    return this.#core
  }
}

/** Warns of scopes of `with` that have no route: their routes were probably registered elsewhere, without the guard. */
function warnOfUnused(registry: Registry): void {
  const unused = unusedIn(registry)
  if (unused === 0) return
  printLine(
    `volant: ${unused === 1 ? 'a scope' : `${unused} scopes`} made by with() has no routes: with() changes nothing by itself: register routes with the scope that it returns`,
  )
}

function unusedIn({ withs, mounted }: Registry): number {
  return mounted.reduce((sum, app) => sum + unusedIn(app), withs.filter(({ used }) => used !== true).length)
}
