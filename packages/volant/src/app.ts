/** What users make their server with: routes and middleware, then `listen` or `inject`. */
import {
  type Address,
  type ListenOptions,
  type Method,
  methods,
  type Server,
  type ServerStats,
} from '@volant/engine'
import { type AdapterType, chooseAdapter, warnOfUnenforced } from './adapters/choose.ts'
import { Routes } from './adapters/head.ts'
import type { Layer } from './chain.ts'
import type { RequestContext } from './context.ts'
import { Core, type Definition, type RouteDefinition } from './core.ts'
import { VolantError } from './errors.ts'
import { inject, type InjectOptions, type InjectReply } from './inject.ts'
import { bad } from './limits.ts'
import {
  type AppOptions,
  checkBodySize,
  type ResolvedOptions,
  resolveListen,
  resolveOptions,
} from './options.ts'
import { Router } from './router.ts'
import { closeOnSignal, forgetSignal } from './signals.ts'
import type {
  ErrorHandler,
  Handler,
  Handlers,
  Middleware,
  ParamsOf,
  Route,
  RouteOptions,
  Verb,
} from './types.ts'

/** An app without routes. Throws `E_BAD_OPTION` for an option that makes no sense, `E_ADAPTER` for an adapter that cannot be used. */
export function createApp(options: AppOptions = {}): App {
  return new App(options)
}

export class App {
  readonly get: Verb<'GET'> = this.#verb('GET')
  readonly head: Verb<'HEAD'> = this.#verb('HEAD')
  readonly post: Verb<'POST'> = this.#verb('POST')
  readonly put: Verb<'PUT'> = this.#verb('PUT')
  readonly patch: Verb<'PATCH'> = this.#verb('PATCH')
  readonly delete: Verb<'DELETE'> = this.#verb('DELETE')
  readonly options: Verb<'OPTIONS'> = this.#verb('OPTIONS')
  /** Every method: also those a browser asks about with OPTIONS. */
  readonly all: Verb<string> = ((path: string, ...rest: unknown[]) =>
    this.#add(methods, path, rest)) as Verb<string>

  readonly #options: ResolvedOptions
  readonly #routes: RouteDefinition[] = []
  readonly #middleware: Layer[] = []
  readonly #taken: Router
  #notFound: Definition['notFound'] = null
  #errorHandler: Definition['errorHandler'] = null
  #core: Core | null = null
  #injectable: Routes | null = null
  #adapter: ReturnType<typeof chooseAdapter> | null = null
  #server: Server | null = null
  #listening = false
  #closed: Promise<void> | null = null

  constructor(options: AppOptions) {
    this.#options = resolveOptions(options)
    this.#taken = new Router(this.#options.router)
    if (this.#options.adapter !== undefined) this.#adapter = chooseAdapter(this.#options.adapter)
  }

  /**
   * Middleware for every request, in the order of the calls: also for routes that were registered before, and for
   * requests no route takes (404, 405, OPTIONS).
   */
  use(...middleware: Middleware[]): this {
    this.#change()
    for (const each of middleware) this.#middleware.push(asFunction(each, 'middleware') as Layer)
    return this
  }

  /** A route for several methods. */
  on<const P extends string>(
    methods: readonly Method[],
    path: P,
    ...handlers: Handlers<ParamsOf<P>>
  ): Route<string, P>
  on<const P extends string>(
    methods: readonly Method[],
    path: P,
    options: RouteOptions<ParamsOf<P>>,
    ...handlers: Handlers<ParamsOf<P>>
  ): Route<string, P>
  on(list: readonly Method[], path: string, ...rest: unknown[]): Route {
    for (const method of list)
      if (!methods.includes(method)) throw bad('method', method, `one of ${methods.join(', ')}`)
    return this.#add(list, path, rest)
  }

  /** Replies to paths no route has; the status is 404 unless set. */
  onNotFound(handler: Handler): this {
    this.#change()
    this.#notFound = asFunction(handler, 'onNotFound') as NonNullable<Definition['notFound']>
    return this
  }

  /** Replies to errors thrown by handlers and middleware; the status is the error's unless set. */
  onError(handler: ErrorHandler): this {
    this.#change()
    this.#errorHandler = asFunction(handler, 'onError') as NonNullable<Definition['errorHandler']>
    return this
  }

  /** The adapter the app runs on, chosen now if it was not before. */
  get adapterName(): AdapterType {
    return (this.#adapter ??= chooseAdapter(this.#options.adapter)).name as AdapterType
  }

  /**
   * Starts the server: `listen(3000)`, `listen(3000, '127.0.0.1')`, `listen({ path: '/run/app.sock' })`. Port 0 and
   * no port at all pick a free one. Rejects with what the system says (EADDRINUSE, EACCES) and a sentence on it;
   * the app can then listen elsewhere. Routes are fixed from the first call on.
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
    const adapter = (this.#adapter ??= chooseAdapter(this.#options.adapter))
    let address: Address
    try {
      this.#server = adapter.createServer(this.#start())
      address = await this.#server.listen(options)
    } catch (error) {
      this.#listening = false
      this.#server = null
      throw error
    }
    warnOfUnenforced(adapter, this.#options.limits)
    if (this.#options.signals) closeOnSignal(this)
    if (this.#options.startLine)
      process.stdout.write(`volant: listening on ${address.url} (${adapter.name})\n`)
    done?.(address)
    return address
  }

  /**
   * Stops accepting, lets the requests in flight be answered, and resolves when every connection is closed; after
   * `shutdownTimeout` the rest is reset. An app that is closed does not listen again.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    await this.#server?.close()
    forgetSignal(this)
  }

  /** Sends a request through the app without a socket. */
  inject(request: InjectOptions | string): Promise<InjectReply> {
    const core = this.#start()
    return inject(core, (this.#injectable ??= new Routes(core)), request)
  }

  /** Counters of the server; zeros before `listen`. */
  stats(): ServerStats {
    return this.#server?.stats() ?? { connections: 0, inFlight: 0, requests: 0 }
  }

  /** Whether the listening server keeps the process alive; it does unless `unref` is called. */
  ref(): this {
    this.#server?.ref()
    return this
  }

  unref(): this {
    this.#server?.unref()
    return this
  }

  #verb<M extends Method>(method: M): Verb<M> {
    return ((path: string, ...rest: unknown[]) => this.#add([method], path, rest)) as unknown as Verb<M>
  }

  #add(list: readonly Method[], pattern: string, rest: unknown[]): Route {
    this.#change()
    const first = rest[0]
    const options = typeof first === 'object' && first !== null ? (first as RouteOptions) : {}
    const layers = (typeof first === 'object' && first !== null ? rest.slice(1) : rest).map((layer) =>
      asFunction(layer, `a handler of ${pattern}`),
    )
    const handler = layers.pop() as RouteDefinition['handler'] | undefined
    if (handler === undefined) throw new VolantError('E_BAD_HANDLER', `the route ${pattern} has no handler`)
    const checked = checkRouteOptions(options, this.#options)
    for (const method of list) {
      // Throws for a pattern that cannot be, and for one that is there already.
      this.#taken.add(method, pattern, this.#routes.length)
      this.#routes.push({ method, pattern, middleware: layers as Layer[], handler, ...checked })
    }
    return { method: list.join(','), path: pattern }
  }

  #change(): void {
    if (this.#listening || this.#closed !== null) throw new VolantError('E_STARTED')
    this.#core = null
    this.#injectable = null
  }

  #start(): Core {
    return (this.#core ??= new Core({
      limits: this.#options.limits,
      router: this.#options.router,
      routes: this.#routes,
      middleware: this.#middleware,
      notFound: this.#notFound,
      errorHandler: this.#errorHandler,
      report: this.#options.report as ((error: unknown, ctx: RequestContext) => void) | null,
    }))
  }
}

const routeOptionNames = new Set(['bodyMode', 'maxBodySize', 'beforeBody'])

function checkRouteOptions(
  options: RouteOptions,
  app: ResolvedOptions,
): Pick<RouteDefinition, 'bodyMode' | 'maxBodySize' | 'beforeBody'> {
  for (const name of Object.keys(options)) {
    if (!routeOptionNames.has(name))
      throw new VolantError('E_BAD_OPTION', `${name} is not an option of a route`)
  }
  const { bodyMode = 'buffer', beforeBody } = options
  if (bodyMode !== 'buffer' && bodyMode !== 'stream') throw bad('bodyMode', bodyMode, "'buffer' or 'stream'")
  if (beforeBody !== undefined && typeof beforeBody !== 'function')
    throw bad('beforeBody', beforeBody, 'a function')
  if (beforeBody !== undefined && bodyMode === 'stream') {
    throw new VolantError(
      'E_BAD_OPTION',
      "beforeBody is for buffered bodies: with bodyMode 'stream' the handler itself comes first",
    )
  }
  const maxBodySize =
    options.maxBodySize === undefined ? app.limits.maxBodySize : checkBodySize(options.maxBodySize)
  if (bodyMode === 'buffer' && maxBodySize > app.limits.maxBufferedBodies) {
    throw new VolantError(
      'E_BAD_OPTION',
      `maxBodySize (${maxBodySize}) is larger than limits.maxBufferedBodies (${app.limits.maxBufferedBodies})`,
    )
  }
  return {
    bodyMode: beforeBody === undefined ? bodyMode : 'checked',
    maxBodySize,
    beforeBody: (beforeBody as RouteDefinition['beforeBody'] | undefined) ?? null,
  }
}

function asFunction(value: unknown, what: string): unknown {
  if (typeof value !== 'function')
    throw new VolantError(
      'E_BAD_HANDLER',
      `${what} is not a function but ${value === null ? 'null' : typeof value}`,
    )
  return value
}
