/** The registrations of an app: its routes, its scopes, and the hooks that run when it starts and closes. */
import type { Address, RouterOptions } from '@volant/engine'
import type { Bus, BusGap } from '../types/bus.ts'
import { VolantError } from '../errors/errors.ts'
import { join } from './prefixes.ts'
import { Exposed } from './expose.ts'
import { RouteConflictError, RouteShapes } from '../routing/shapes.ts'
import type { PlacedLayer, PrefixScope, RouteDefinition, ScopeLayers } from '../dispatch/route-definition.ts'
import type { PublishOptions } from '../types/web-socket.ts'

export interface Hooks {
  readonly start: (() => unknown)[]
  readonly ready: ((address: Address) => unknown)[]
  readonly closing: (() => unknown)[]
  readonly close: (() => unknown)[]
  readonly gap: ((gap: BusGap) => unknown)[]
}

/** The scope of another app that a mounted app's routes are added to. */
interface MountPoint extends PrefixScope {
  readonly into: Registry
  /** The mounted app's nodes, as they are in this app. */
  readonly moved: Map<ScopeLayers, ScopeLayers>
}

export class Registry {
  readonly routes: RouteDefinition[] = []
  readonly prefixScopes: PrefixScope[] = []
  readonly hooks: Hooks = { start: [], ready: [], closing: [], close: [], gap: [] }
  readonly exposed = new Exposed()
  /** The scopes that `with` made. A scope without a route was not used, and nothing runs behind its middleware. */
  readonly withs: ScopeLayers[] = []
  readonly mounted: Registry[] = []
  /** The plugins that have not resolved yet. */
  readonly #loading = new Set<Promise<void>>()
  readonly #failures: unknown[] = []
  /** The routes that give way to others of the same paths. */
  readonly #yielding: RouteDefinition[] = []
  readonly #shapes: RouteShapes
  /** The paths of WebSockets, which conflict with each other alone. */
  readonly #socketShapes: RouteShapes
  /**
   * Sends to the WebSockets of the server that runs this app, and to its bus, unless that is among those that have the
   * message already: whose bus it is gets it from there. Null where it has neither.
   */
  publisher:
    | ((
        topic: string,
        data: string | Uint8Array,
        options: PublishOptions | undefined,
        told: Set<Bus>,
      ) => void)
    | null = null
  /** Gives how many WebSockets of the server that runs this app are subscribed to a topic. */
  counter: (topic: string) => number = () => 0
  readonly #mountPoints: MountPoint[] = []
  #fixed = false
  readonly #onChange: (what: string) => void

  constructor(router: RouterOptions, onChange: (what: string) => void) {
    this.#shapes = new RouteShapes(router)
    this.#socketShapes = new RouteShapes(router)
    this.#onChange = onChange
  }

  /** Throws `E_STARTED` once the app, or one that it is mounted in, has started; `what` names the late change. */
  change(what: string): void {
    if (this.#fixed) {
      throw new VolantError(
        'E_STARTED',
        `${what} comes too late: routes, middleware and hooks are fixed once the app listens. Register it before listen(), or in a plugin, which the app waits for`,
      )
    }
    for (const { into } of this.#mountPoints) into.change(what)
    this.#onChange(what)
  }

  fix(): void {
    this.#fixed = true
    for (const registry of this.mounted) registry.fix()
  }

  /** Adds a route. Throws for a malformed pattern and for a conflict; then nothing is added. */
  add(route: RouteDefinition, method: string): void {
    this.change(`${method} ${route.pattern}`)
    const shapes = route.socket === undefined ? this.#shapes : this.#socketShapes
    shapes.add(method, route.pattern)
    this.routes.push(route)
    for (const mountPoint of this.#mountPoints) mountPoint.into.add(moved(route, mountPoint), method)
  }

  /** Adds a route for paths that another route may have as well: then that one answers, whichever is added first. */
  addYielding(route: RouteDefinition): void {
    this.change(`${route.method} ${route.pattern}`)
    this.#yielding.push(route)
    for (const mountPoint of this.#mountPoints) mountPoint.into.addYielding(moved(route, mountPoint))
  }

  /** Gives all routes: those of `routes`, and behind them those that gave way to none. */
  allRoutes(): readonly RouteDefinition[] {
    if (this.#yielding.length === 0) return this.routes
    const shapes = this.#shapes.copy()
    const kept = this.#yielding.filter(({ method, pattern }) => {
      try {
        shapes.add(method, pattern)
        return true
      } catch (error) {
        if (error instanceof RouteConflictError) return false
        throw error
      }
    })
    return [...this.routes, ...kept]
  }

  addPrefixScope(prefixScope: PrefixScope): void {
    this.prefixScopes.push(prefixScope)
    for (const mountPoint of this.#mountPoints)
      mountPoint.into.addPrefixScope(placed(prefixScope, mountPoint))
  }

  /**
   * Adds all routes of `app`, whose own scope is `node`, in a scope with a prefix. Routes that it gets later are added,
   * too.
   */
  mount(app: Registry, node: ScopeLayers, prefixScope: PrefixScope): void {
    if (app === this || app.#holds(this)) {
      throw new VolantError('E_BAD_OPTION', 'an app cannot be mounted in itself')
    }
    this.change(`mount(${prefixScope.prefix})`)
    const mountPoint: MountPoint = { ...prefixScope, into: this, moved: new Map() }
    this.addPrefixScope(placed({ prefix: '', nodes: [node] }, mountPoint))
    for (const each of app.prefixScopes) this.addPrefixScope(placed(each, mountPoint))
    for (const route of app.routes) this.add(moved(route, mountPoint), route.method)
    for (const route of app.#yielding) this.addYielding(moved(route, mountPoint))
    app.#mountPoints.push(mountPoint)
    this.mounted.push(app)
    this.exposed.mount(app.exposed)
  }

  /** Throws `E_NOT_IMPLEMENTED` for routes that this app or a mounted one exposes and does not have. */
  checkExposed(): void {
    for (const { exposed, routes } of this.#family(new Set())) exposed.check(routes)
  }

  /** Sends a message to the WebSockets of every server that runs this app: its own, and those of apps it is mounted in. */
  publish(topic: string, data: string | Uint8Array, options?: PublishOptions): void {
    const told = new Set<Bus>()
    for (const app of this.#outer(new Set())) app.publisher?.(topic, data, options, told)
  }

  /** Gives how many WebSockets of every server that runs this app are subscribed to the topic. */
  subscriberCount(topic: string): number {
    return [...this.#outer(new Set())].reduce((sum, app) => sum + app.counter(topic), 0)
  }

  #outer(found: Set<Registry>): Set<Registry> {
    if (found.has(this)) return found
    found.add(this)
    for (const { into } of this.#mountPoints) into.#outer(found)
    return found
  }

  /** True where this app is mounted in another app, once or several times. */
  get isMounted(): boolean {
    return this.#mountPoints.length > 0
  }

  #holds(other: Registry): boolean {
    return this.mounted.some((registry) => registry === other || registry.#holds(other))
  }

  /** Keeps a plugin's promise until it settles; `loaded` rejects with its failure. */
  load(plugin: PromiseLike<unknown>): void {
    const tracked = Promise.resolve(plugin)
      .then(() => {})
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => this.#loading.delete(tracked))
    this.#loading.add(tracked)
  }

  /** Resolves when every plugin has resolved, those of mounted apps too; rejects with the first failure. */
  async loaded(): Promise<void> {
    // Plugins may register further plugins.
    while (this.#loading.size > 0) await Promise.all(this.#loading)
    if (this.#failures.length > 0) throw this.#failures[0]
    for (const app of this.mounted) await app.loaded()
  }

  /**
   * Gives the hooks of a kind. Those of mounted apps follow those of the app they are in; each is there once, however
   * often its app is mounted.
   */
  hooksOf<K extends keyof Hooks>(kind: K): Hooks[K][number][] {
    return [...this.#family(new Set())].flatMap((app): Hooks[K][number][] => app.hooks[kind])
  }

  #family(found: Set<Registry>): Set<Registry> {
    if (found.has(this)) return found
    found.add(this)
    for (const app of this.mounted) app.#family(found)
    return found
  }
}

function moved(route: RouteDefinition, mountPoint: MountPoint): RouteDefinition {
  return {
    ...route,
    pattern: join(mountPoint.prefix, route.pattern),
    nodes: nodesAt(mountPoint, route.nodes),
  }
}

function placed(prefixScope: PrefixScope, mountPoint: MountPoint): PrefixScope {
  return {
    prefix: join(mountPoint.prefix, prefixScope.prefix),
    nodes: nodesAt(mountPoint, prefixScope.nodes),
  }
}

function nodesAt(mountPoint: MountPoint, nodes: readonly ScopeLayers[]): ScopeLayers[] {
  const inside = nodes.map((node) => {
    const known = mountPoint.moved.get(node) ?? mountedLayers(node, mountPoint.prefix)
    mountPoint.moved.set(node, known)
    return known
  })
  return [...mountPoint.nodes, ...inside]
}

/** Makes the node of a mounted app: the paths of its `use` begin where it is mounted. Later additions appear, too. */
function mountedLayers(node: ScopeLayers, prefix: string): ScopeLayers {
  const layers = (): PlacedLayer[] =>
    node.layers.map(({ layer, under }) => ({ layer, under: under === null ? null : join(prefix, under) }))
  return Object.create(node, { layers: { get: layers } }) as ScopeLayers
}
