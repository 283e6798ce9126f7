/** The app: routes and middleware, and `listen`, `inject` or `fetch` to serve them. */
import { type Address, type ListenOptions, methods, type Server, type ServerStats } from '@volant/engine'
import { type AdapterType, chooseAdapter, warnOfUnenforced } from '../adapters/choose.ts'
import { Routes } from '../adapters/head.ts'
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
import { type AppOptions, type ResolvedOptions, resolveListen, resolveOptions } from './app-options.ts'
import { Registry } from './registry.ts'
import { type RouteInfo, routesOf } from './route-info.ts'
import { rootOf, Scope } from './scope.ts'
import { closeOnSignal, forgetSignal } from './signals.ts'
import type { Parts, RootParts } from '../types/parts.ts'
import type { Log } from '../types/log.ts'
import type { RequestContext } from '../types/request.ts'
import { listenChannel } from '../report/channels.ts'

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
  #server: Server | null = null
  #listening = false
  /** The promise of the address while the adapter binds it. */
  #binding: Promise<Address> | null = null
  #loaded: Promise<void> | null = null
  /** True while `#loaded` is resolved and nothing was registered since. */
  #through = false
  /** The `onStart` hooks that ran or are running. */
  readonly #begun = new Set<() => unknown>()
  #closed: Promise<void> | null = null
  #closing = false
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
    const options = resolveListen(target, typeof host === 'string' ? host : undefined)
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
      this.#server = adapter.createServer(this.#start())
      this.#binding = this.#server.listen(options)
      address = await this.#binding
    } catch (error) {
      this.#listening = false
      this.#server = null
      throw error
    } finally {
      this.#binding = null
    }
    this.#refuseClosed()
    warnOfUnenforced(adapter, this.#options.limits)
    warnOfUnused(rootOf(this).registry)
    warnOfEarlyBodies(rootOf(this).registry.routes, this.#options.limits.maxBodySize)
    if (this.#options.signals) closeOnSignal(this)
    try {
      for (const hook of rootOf(this).registry.hooksOf('ready')) await hook(address)
    } catch (error) {
      await this.close()
      throw error
    }
    if (this.#options.startLine) printLine(`volant: listening on ${address.url} (${adapter.name})`, 'stdout')
    done?.(address)
    return address
  }

  /**
   * Closes the app, in this order. `closing` is true, `/ready` says 503, and `ctx.signal` of open streams is aborted. The
   * `onClosing` hooks run, while the port is open. The connections that wait are accepted, and then no more. Requests in
   * flight, and those that still come by open connections, are answered, and the last reply of each connection says
   * `Connection: close`. After `drainIdle` the connections that are idle are read once more and closed, and after
   * `shutdownTimeout` those left are reset; both count from the end of the hooks. As soon as no connection is left, the
   * `onClose` hooks run, the last one first. All hooks run; then it rejects with the error of the first that failed. A
   * closed app does not listen again, and a `listen` that is under way rejects. A second call gives the same promise.
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
    await this.#server?.close(drainIdle)
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

  /** Gives the counters of the server; they are zero before `listen`. */
  stats(): ServerStats {
    return this.#server?.stats() ?? { connections: 0, inFlight: 0, requests: 0 }
  }

  /** The app's logger, for lines outside of requests; `ctx.log` is its child with the id of a request. */
  get log(): Log {
    return this.#options.log ?? usualLog()
  }

  /** True once `close` was called. Requests that still arrive on open connections are the last ones. */
  get closing(): boolean {
    return this.#closing
  }

  /** Makes the listening server keep the process alive again. It does so unless `unref` is called. */
  ref(): this {
    this.#server?.ref()
    return this
  }

  /** Lets the process end while the server listens. */
  unref(): this {
    this.#server?.unref()
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
      limits,
      router,
      routes: registry.allRoutes(),
      node,
      prefixScopes: registry.prefixScopes,
      trust,
      errorDetails,
      report: report as ((error: unknown, ctx: RequestContext) => void) | null,
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
