/** Adds routes to the scope that they are registered with: those of verbs and contracts, WebSockets, and folders of files. */
import { contractBehind } from '../contract/implement.ts'
import type { RouteDefinition, ScopeLayers } from '../dispatch/route-definition.ts'
import { RouteConflictError } from '../routing/shapes.ts'
import { checkTopic } from '../sockets/topics.ts'
import { folderSettings, type StaticOptions } from '../static/options.ts'
import type { Route } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import type { WebSocketRoute } from '../types/web-socket.ts'
import { asLayer } from './given-functions.ts'
import { checkPrefix, join, patternIn } from './prefixes.ts'
import type { Registry } from './registry.ts'
import { defineRoute, type RouteDefaults } from './route-options.ts'
import { defineSocket } from './socket-options.ts'

/** The state that the scopes of one app share. */
export interface Shared {
  readonly registry: Registry
  readonly defaults: RouteDefaults
  /** The methods that routes may have: the usual ones and those of the router option. */
  readonly methods: readonly string[]
}

/** A scope, as the place of its routes. */
export interface Place {
  readonly shared: Shared
  /** The prefix of its paths in the app; empty for the app itself. */
  readonly prefix: string
  /** The scopes around it and its own, the app's own first. */
  readonly nodes: readonly ScopeLayers[]
}

/** Adds a route. `given` is the contract that it implements. */
export function addRoute(
  place: Place,
  list: readonly string[],
  path: string,
  rest: readonly unknown[],
  given?: Route,
): Route {
  const { shared, nodes } = place
  const pattern = patternIn(place.prefix, path)
  const options = typeof rest[0] === 'object' && rest[0] !== null ? rest[0] : undefined
  const value: Route = given ?? { method: list.join(','), path: pattern, options }
  const route: Omit<RouteDefinition, 'method'> = {
    ...defineRoute(pattern, rest, shared.defaults),
    nodes,
    value,
  }
  for (const layer of route.middleware) asLayer(layer, shared.registry)
  try {
    for (const method of list) shared.registry.add({ ...route, method }, method)
  } catch (error) {
    if (!(error instanceof RouteConflictError) || list.length === 1) throw error
    throw new RouteConflictError(
      error.method,
      error.existing,
      error.pattern,
      list === shared.methods ? 'all' : 'on',
    )
  }
  for (const node of nodes) node.used = true
  return value
}

/** Adds a WebSocket. `given` is the contract that it implements. */
export function addSocket(
  place: Place,
  path: string,
  rest: readonly unknown[],
  given?: Route,
): WebSocketRoute {
  const { shared, nodes } = place
  const { registry } = shared
  const pattern = patternIn(place.prefix, path)
  const { route, writer } = defineSocket(pattern, rest, shared.defaults)
  const value: WebSocketRoute = {
    method: 'WS',
    path: pattern,
    options: rest.at(-1),
    publish: (topic, message, options) => {
      checkTopic(topic)
      registry.publish(topic, writer.write(message), options)
    },
  }
  for (const layer of route.middleware) asLayer(layer, registry)
  registry.add({ ...route, nodes, value: given ?? value, method: 'GET' }, 'GET')
  if (given !== undefined) contractBehind.set(value, given)
  for (const node of nodes) node.used = true
  return value
}

/** Adds the route of a contract, with the handler or the hooks behind it. */
export function addContract(place: Place, contract: Route, rest: readonly unknown[]): Route {
  const list = contract.method.split(',')
  if (contract.method === 'WS') {
    const hooks = rest.at(-1)
    const options = typeof hooks === 'object' ? { ...(contract.options as object), ...hooks } : hooks
    return addSocket(place, contract.path, [...rest.slice(0, -1), options], contract)
  }
  return addRoute(place, list, contract.path, [contract.options ?? {}, ...rest], contract)
}

/** Adds the routes of a folder. Gives what makes them ready, before the app starts. */
export function addFolder(
  place: Place,
  prefix: string,
  root: string | URL,
  options: StaticOptions,
): () => Promise<void> {
  const { shared, nodes } = place
  const base = join(place.prefix, checkPrefix(prefix)).replace(/^\/$/, '')
  const settings = folderSettings(prefix, root, options)
  let serve: ((ctx: RequestContext) => unknown) | null = null
  const handler = (ctx: RequestContext): unknown => (serve as NonNullable<typeof serve>)(ctx)
  shared.registry.change(`static(${prefix})`)
  const pattern = `${base}/*`
  const value: Route = { method: 'GET', path: pattern, options: { hidden: true } }
  const made = {
    ...defineRoute(pattern, [value.options, handler], shared.defaults),
    nodes,
    value,
    method: 'GET',
  }
  shared.registry.add(made, 'GET')
  // The wildcard stands for at least one character.
  for (const own of base === '' ? ['/'] : [`${base}/`, base])
    shared.registry.addYielding({ ...made, pattern: own })
  for (const node of nodes) node.used = true
  return async () => {
    const { serveFolder } = await import('../static/serve.ts')
    serve = serveFolder(settings)
  }
}
