/** Scopes: the app, and the groups, typed scopes and plugins in it. Routes are registered with them. */
import type { Address, Method } from '@volant/engine'
import { type APITree, isRoute } from '../contract/api-tree.ts'
import { handlersOf, type Implement } from '../contract/implement.ts'
import { sender } from '../dispatch/declare.ts'
import type { ScopeLayers } from '../dispatch/route-definition.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { refuseForeign } from '../options/foreign-handlers.ts'
import type { StaticOptions } from '../static/options.ts'
import type { BusGap } from '../types/bus.ts'
import type { ContextOf } from '../types/context.ts'
import type { ResponseListener } from '../types/declaration.ts'
import type { ErrorHandler, LayerOf, RootParts, Parts, Route, RouteParts, With } from '../types/parts.ts'
import type { Layer } from '../types/request.ts'
import type { SendHook } from '../types/send-hook.ts'
import { isThenable } from '../types/thenable.ts'
import { addContract, addFolder, addRoute, addSocket, type Place, type Shared } from './add-route.ts'
import { asFunction, asLayer, asPlugin } from './given-functions.ts'
import { checkPrefix, join } from './prefixes.ts'
import type { Registry } from './registry.ts'
import type { RouteDefaults } from './route-options.ts'
import type { OnMethods, Verb } from './verb.ts'
import type { WebSocketVerb } from './web-socket-verb.ts'

/** A function that adds routes, middleware and hooks to a scope of its own. They do not affect routes outside of it. */
export type Plugin<Options = void, S = Scope> = (scope: S, options: Options) => void | Promise<void>

/** The key to a scope's inner state, for `mount`, which needs that of another app. */
const inner = Symbol('scope')

/** Routes, middleware and hooks are registered with a scope: an app, a group, a plugin's scope. */
export class Scope<B extends Parts = RootParts> {
  /**
   * Registers a route for GET, and for HEAD unless there is a route for that. It takes a path, options if there are
   * any, middleware, and the handler.
   */
  readonly get: Verb<'GET', B> = this.#verb('GET')
  /** Registers a route for HEAD. It takes a path, options if there are any, middleware, and the handler. */
  readonly head: Verb<'HEAD', B> = this.#verb('HEAD')
  /** Registers a route for POST. It takes a path, options if there are any, middleware, and the handler. */
  readonly post: Verb<'POST', B> = this.#verb('POST')
  /** Registers a route for PUT. It takes a path, options if there are any, middleware, and the handler. */
  readonly put: Verb<'PUT', B> = this.#verb('PUT')
  /** Registers a route for PATCH. It takes a path, options if there are any, middleware, and the handler. */
  readonly patch: Verb<'PATCH', B> = this.#verb('PATCH')
  /** Registers a route for DELETE. It takes a path, options if there are any, middleware, and the handler. */
  readonly delete: Verb<'DELETE', B> = this.#verb('DELETE')
  /** Registers a route for OPTIONS, which replaces the automatic reply. */
  readonly options: Verb<'OPTIONS', B> = this.#verb('OPTIONS')
  /**
   * Registers a route for every method, including those of the router option `methods` and the OPTIONS of preflight
   * requests.
   */
  readonly all: Verb<string, B> = ((path: string, ...rest: unknown[]) =>
    addRoute(this[inner], this[inner].shared.methods, path, rest)) as Verb<string, B>
  /**
   * Registers a route for several methods: `on(['GET', 'POST'], '/form', handler)`. Methods of the router option
   * `methods` can be named as well: `on(['PURGE'], '/*', handler)`. Throws `E_BAD_OPTION` for a method that the app
   * does not have.
   */
  readonly on: OnMethods<B> = ((list: readonly string[], path: string, ...rest: unknown[]) => {
    if (!Array.isArray(list) || list.length === 0) throw bad('methods', list, 'an array of methods')
    for (const method of list) {
      const { methods } = this[inner].shared
      if (!methods.includes(method)) {
        throw bad(
          'method',
          method,
          `one of ${methods.join(', ')} (createApp({ router: { methods } }) adds others)`,
        )
      }
    }
    return addRoute(this[inner], list, path, rest)
  }) as OnMethods<B>

  /**
   * Registers the handler of a contract, or the handlers of a tree of contracts: `implement(getUser, handler)`,
   * `implement(api, { users: { get: handler } })`. The path is inside this scope. The contract's options apply as if
   * they were written here. Throws `E_NOT_IMPLEMENTED` for a contract of the tree without a handler, and
   * `E_BAD_HANDLER` for a handler without a contract.
   */
  readonly implement: Implement<B> = ((given: Route | APITree, ...rest: unknown[]) => {
    if (isRoute(given)) return addContract(this[inner], given, rest)
    for (const [route, handler] of handlersOf(given, rest[0])) addContract(this[inner], route, [handler])
    return this
  }) as Implement<B>

  /**
   * Registers a WebSocket: `ws('/chat/:room', { message(ws, message) {} })`. It takes a path, middleware, and options with
   * the hooks. The request that asks for it runs through the middleware of this scope as any GET does.
   */
  readonly ws: WebSocketVerb<B> = ((path: string, ...rest: unknown[]) =>
    addSocket(this[inner], path, rest)) as unknown as WebSocketVerb<B>

  readonly [inner]: Place
  readonly #node: ScopeLayers = {
    layers: [],
    listeners: [],
    notFound: null,
    errorHandler: null,
  }
  /** True where misses may belong to this scope. */
  #hasPaths = true

  /** `createApp`, `group`, `with` and `register` make scopes; users do not. */
  constructor(shared: Shared, prefix = '', outer: readonly ScopeLayers[] = []) {
    this[inner] = { shared, prefix, nodes: [...outer, this.#node] }
  }

  /**
   * Adds middleware for every request of this scope, in the order of the calls. It also runs for routes that were
   * registered before, and for requests under the scope's prefix that no route takes (404, 405, OPTIONS). With a path
   * in front it runs for requests under that path only: `use('/admin', auth)`.
   */
  use(path: string, ...middleware: LayerOf<ContextOf<B>>[]): this
  use(...middleware: LayerOf<ContextOf<B>>[]): this
  use(...args: unknown[]): this {
    this.#registry.change('use()')
    const [first] = args
    const under = typeof first === 'string' ? join(this[inner].prefix, checkPrefix(first)) : null
    const layers = under === null ? args : args.slice(1)
    if (layers.length === 0) throw new VolantError('E_BAD_HANDLER', 'use() takes at least one middleware')
    for (const each of layers) {
      if (each instanceof Scope) {
        throw new VolantError(
          'E_BAD_HANDLER',
          'use() takes middleware; an app is mounted: app.mount(path, other)',
        )
      }
      this.#node.layers.push({
        layer: asLayer(each, this.#registry),
        under: under === '/' ? null : under,
      })
    }
    return this
  }

  /**
   * Makes a scope whose routes run behind `middleware`, and whose handlers see what it adds: `app.with(auth).get('/me',
   * (ctx) => ctx.state.user)`. The scope that it is called on does not change: use the result, and
   * `app.with(auth).with(tenant)` for both.
   */
  with<const M extends LayerOf<ContextOf<B>>>(middleware: M): Scope<With<B, M>>
  with<const M extends LayerOf<ContextOf<B>>>(middleware: M, ...others: unknown[]): Scope<With<B, M>> {
    if (others.length > 0) {
      throw new VolantError(
        'E_BAD_HANDLER',
        'with() takes one middleware, and the others would not run: write .with(a).with(b)',
      )
    }
    const layer = asLayer(middleware, this.#registry)
    const scope = this.#inside<With<B, M>>('', 'with()')
    scope.#node.layers.push({ layer, under: null })
    this.#registry.withs.push(scope.#node)
    return scope
  }

  /** Makes a scope for routes whose paths begin with `prefix`: `group('/api', (api) => api.get('/users', …))`. */
  group<const P extends string>(prefix: P, define: (scope: Scope<RouteParts<B, P>>) => void): this {
    const path = checkPrefix(prefix)
    if (typeof define !== 'function')
      throw new VolantError('E_BAD_HANDLER', `group(${prefix}) takes a function`)
    const result: unknown = define(this.#inside<RouteParts<B, P>>(path, `group(${prefix})`))
    if (isThenable(result)) {
      // Nothing handles its failure, which would end the process.
      result.then(undefined, () => {})
      throw new VolantError(
        'E_BAD_HANDLER',
        `the function of group(${prefix}) is async: use register() for that`,
      )
    }
    return this
  }

  /**
   * Adds all routes of another app under `prefix`, with its middleware, its onError and onNotFound. Routes that it gets
   * later are added, too. Its hooks run with this app's. Of its own options only `maxBodySize` is used.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever its contexts are typed by
  mount(prefix: string, app: Scope<any>): this {
    const path = checkPrefix(prefix)
    // This has to be the app's own scope, since an inner scope does not work without those around it.
    if (!(app instanceof Scope) || app[inner].nodes.length > 1) {
      throw new VolantError('E_BAD_HANDLER', `mount(${prefix}) takes an app`)
    }
    const { node, registry } = rootOf(app)
    const { nodes } = this[inner]
    for (const each of nodes) each.used = true
    this.#registry.mount(registry, node, { prefix: join(this[inner].prefix, path), nodes })
    return this
  }

  /**
   * Serves the files of a folder at the paths under `prefix`: `static('/assets', 'public')`. GET and HEAD get them, with
   * the middleware of this scope in front; a route for the same path wins. A file that is not there is a 404, which
   * `onNotFound` may answer. Throws `E_BAD_OPTION` for a folder that does not exist and for options that make no sense,
   * `E_ROUTE_CONFLICT` for a second folder with this prefix.
   */
  static(prefix: string, root: string | URL, options: StaticOptions = {}): this {
    return this.onStart(addFolder(this[inner], prefix, root, options))
  }

  /**
   * Runs a plugin on a scope of its own: what it adds with `use`, `onError` and `onResponse` has no effect outside. The
   * app waits for an async plugin before it starts; if the plugin fails, `listen`, `inject` and `fetch` reject with its
   * error.
   */
  register(plugin: Plugin<void, Scope<B>>): this
  register<Options>(plugin: Plugin<Options, Scope<B>>, options: Options): this
  // oxlint-disable-next-line typescript/no-explicit-any -- a plugin takes the scope of whoever registers it
  register(plugin: Plugin<void, any>): this
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  register<Options>(plugin: Plugin<Options, any>, options: Options): this
  register(plugin: (scope: never, options: never) => void | Promise<void>, options?: unknown): this {
    this.#registry.change('register()')
    const scope = this.#inside('', 'register()')
    const run = asPlugin(plugin)
    const result: unknown = run(scope, options)
    if (isThenable(result)) this.#registry.load(result)
    return this
  }

  /**
   * Sets the reply to paths under the prefix of this app or group that no route has. The status is 404 unless it is
   * set. Throws `E_BAD_OPTION` in the scope of `with` or `register`, which has no paths of its own.
   */
  onNotFound(handler: (ctx: ContextOf<B>) => unknown): this {
    this.#registry.change('onNotFound()')
    if (!this.#hasPaths) {
      throw new VolantError(
        'E_BAD_OPTION',
        'onNotFound is for an app or a group with a prefix: the scopes of with() and register() have no paths of their own',
      )
    }
    refuseForeign(handler, 'onNotFound')
    this.#node.notFound = asFunction(handler, 'onNotFound') as ScopeLayers['notFound']
    return this
  }

  /** Sets the reply to errors of this scope's handlers and middleware. The status is the error's unless it is set. */
  onError(handler: ErrorHandler): this {
    this.#registry.change('onError()')
    refuseForeign(handler, 'onError')
    this.#node.errorHandler = asFunction(handler, 'onError') as ScopeLayers['errorHandler']
    return this
  }

  /**
   * Adds a hook that sees every reply of this scope's requests before it leaves, errors and misses too, and may change
   * status, headers and body: see `OutgoingReply`. The hooks of inner scopes run first; of one scope, the last
   * registered first.
   */
  onSend(hook: SendHook): this {
    this.#registry.change('onSend()')
    const onSend = asFunction(hook, 'onSend') as SendHook
    this.#node.layers.push({ layer: sender(onSend) as Layer, under: null })
    return this
  }

  /** Adds a listener for complete replies of this scope's requests: see `ResponseInfo`. */
  onResponse(listener: ResponseListener): this {
    this.#registry.change('onResponse()')
    this.#node.listeners.push(asFunction(listener, 'onResponse') as ResponseListener)
    return this
  }

  /**
   * Adds a hook that runs before the app listens, or before its first `inject` or `fetch`. Hooks are awaited in order.
   * If one fails, the app does not start.
   */
  onStart(hook: () => unknown): this {
    this.#registry.change('onStart()')
    const run = asFunction(hook, 'onStart') as () => unknown
    // Each call has a function of its own, so that a hook which is registered twice runs twice.
    this.#registry.hooks.start.push(() => run())
    return this
  }

  /**
   * Adds a hook that runs when the app listens. It is awaited before `listen` resolves. If it fails, the app closes.
   */
  onReady(hook: (address: Address) => unknown): this {
    this.#registry.change('onReady()')
    this.#registry.hooks.ready.push(asFunction(hook, 'onReady') as () => unknown)
    return this
  }

  /**
   * Adds a hook that runs when `close` is called, while the server still accepts connections and `app.closing` is true.
   * All of them run at once and are awaited for at most `shutdownTimeout`; then the server stops accepting. If one
   * throws, `close` rejects with its error once everything is closed.
   */
  onClosing(hook: () => unknown): this {
    this.#registry.change('onClosing()')
    this.#registry.hooks.closing.push(asFunction(hook, 'onClosing') as () => unknown)
    return this
  }

  /**
   * Adds a hook that runs when messages were lost on their way from another process, and by its name which topic's: a
   * place to have the clients of this process ask anew for what they show. It needs a bus, `createApp({ bus })`. What it
   * throws, or rejects with, is reported.
   *
   *     app.onGap(({ topic }) => app.publish(topic, 'reload', { local: true }))
   */
  onGap(hook: (gap: BusGap) => unknown): this {
    this.#registry.change('onGap()')
    this.#registry.hooks.gap.push(asFunction(hook, 'onGap') as (gap: BusGap) => unknown)
    return this
  }

  /** Adds a hook that runs when the app has closed its connections. Hooks are awaited, the last registered first. */
  onClose(hook: () => unknown): this {
    this.#registry.change('onClose()')
    this.#registry.hooks.close.push(asFunction(hook, 'onClose') as () => unknown)
    return this
  }

  get #registry(): Registry {
    return this[inner].shared.registry
  }

  /** Makes a scope inside this one. `what` names the call. */
  #inside<C extends Parts>(path: string, what: string): Scope<C> {
    this.#registry.change(what)
    const { shared, prefix, nodes } = this[inner]
    const scope = new Scope<C>(shared, path === '' ? prefix : join(prefix, path), nodes)
    scope.#hasPaths = path !== ''
    if (path !== '') this.#registry.addPrefixScope({ prefix: scope[inner].prefix, nodes: scope[inner].nodes })
    return scope
  }

  #verb<M extends Method>(method: M): Verb<M, B> {
    return ((path: string, ...rest: unknown[]) =>
      addRoute(this[inner], [method], path, rest)) as unknown as Verb<M, B>
  }
}

/** Gives the parts of its outermost scope that the app itself needs. */
export function rootOf(scope: Scope<any>): { node: ScopeLayers; registry: Registry } {
  const { nodes, shared } = scope[inner]
  return { node: nodes[0] as ScopeLayers, registry: shared.registry }
}

/** Gives the prefix of a scope's paths in its app; empty for the app itself. */
export function prefixOf(scope: Scope<any>): string {
  return scope[inner].prefix
}

export function defaultsOf(scope: Scope<any>): RouteDefaults {
  return scope[inner].shared.defaults
}
