/** `app.expose`: routes get names, contracts without a handler are found, clients learn where everything is. */
import { type APITree, type NamedRoute, namedRoutes } from './api-tree.ts'
import type { RouteDefinition } from './core.ts'
import type { ClientRoute, ClientRoutes } from './client/table.ts'
import { VolantError } from './errors.ts'
import { broughtBy } from './middleware.ts'
import type { Route } from './types.ts'

/** What was exposed. */
export class Exposed {
  /** In the order of the trees. */
  readonly #named: NamedRoute[] = []
  /** The first name of each. */
  readonly #names = new Map<Route, string>()

  /** Throws `E_BAD_OPTION` for what is no tree of routes, and for a name that is there already. */
  add(tree: APITree): void {
    const routes = namedRoutes(tree, 'expose')
    const taken = new Set(this.#named.map(({ name }) => name))
    for (const { name } of routes) {
      if (taken.has(name))
        throw new VolantError('E_BAD_OPTION', `expose was given two routes with the name ${name}`)
      taken.add(name)
    }
    this.#named.push(...routes)
    for (const { name, route } of routes) if (!this.#names.has(route)) this.#names.set(route, name)
  }

  nameOf(route: Route): string | undefined {
    return this.#names.get(route)
  }

  /** Throws `E_NOT_IMPLEMENTED`, naming all routes that are exposed and not there. */
  check(definitions: readonly RouteDefinition[]): void {
    if (this.#names.size === 0) return
    const there = new Set(definitions.map(({ value }) => value))
    const missing = [...this.#names].filter(([route]) => !there.has(route))
    if (missing.length === 0) return
    const list = missing.map(([{ method, path }, name]) => `${name} (${method} ${path})`).join(', ')
    throw new VolantError(
      'E_NOT_IMPLEMENTED',
      `${missing.length === 1 ? 'an exposed contract has' : 'exposed contracts have'} no handler in this app: ${list}; app.implement(contract, handler) gives it one`,
    )
  }

  /** Where each exposed route is in this app: the first place of one that is in several. */
  table(definitions: readonly RouteDefinition[]): ClientRoutes {
    const places = new Map<Route, RouteDefinition>()
    for (const each of definitions) if (!places.has(each.value)) places.set(each.value, each)
    return Object.fromEntries(
      this.#named.flatMap(({ name, route }): [string, ClientRoute][] => {
        const place = places.get(route)
        return place === undefined ? [] : [[name, [place.method, place.pattern, declaredBy(place)]]]
      }),
    )
  }
}

/** The statuses a route declares, and the codes of its errors and of those of the middleware in front of it. */
function declaredBy({ contract, nodes, middleware, check }: RouteDefinition): (number | string)[] {
  const layers = [...nodes.flatMap((node) => node.layers.map(({ layer }) => layer)), ...middleware]
  const codes = [...layers.map((layer) => broughtBy(layer).errors ?? {}), contract.errors].flatMap(
    Object.keys,
  )
  if (check !== null) codes.push('E_VALIDATION')
  return [...Object.keys(contract.responses ?? {}).map(Number), ...new Set(codes)]
}

/** Throws `E_OPERATION_ID` for two routes that have the same name in the API's document. */
export function checkOperationIds(definitions: readonly RouteDefinition[]): void {
  const taken = new Map<string, RouteDefinition>()
  for (const route of definitions) {
    const { operationId } = route.contract.description
    if (operationId === undefined) continue
    const other = taken.get(operationId)
    // One call for several methods, or one app mounted twice: the document tells them apart.
    if (other !== undefined && other.value !== route.value) {
      throw new VolantError(
        'E_OPERATION_ID',
        `${other.method} ${other.pattern} and ${route.method} ${route.pattern} both have the operationId ${JSON.stringify(operationId)}`,
      )
    }
    taken.set(operationId, route)
  }
}
