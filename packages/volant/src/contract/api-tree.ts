/** Reads trees of routes by name. A client is typed by such a plain object: `{ users: { get: getUser } }`. */
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Route } from '../types/parts.ts'
import { isTaken } from '../types/client-routes.ts'

/** A tree of routes and contracts by name: `{ users: { get: getUser } }` names `users.get`. */
export interface APITree {
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever its handler sees and gives
  readonly [name: string]: Route<any, any, any, any, any, any> | APITree
}

/** A route of a tree; its name is its path in it, with dots. */
export interface NamedRoute {
  readonly name: string
  readonly route: Route
}

export function isRoute(value: unknown): value is Route {
  const { method, path } = (value ?? {}) as Partial<Route>
  return typeof method === 'string' && typeof path === 'string'
}

/**
 * Gives the routes of a tree, in the order of the object. Throws `E_BAD_OPTION` for a value that is neither a route nor
 * an object of routes.
 */
export function namedRoutes(tree: APITree, where: string): NamedRoute[] {
  const found: NamedRoute[] = []
  collect(tree, '', where, found, [])
  return found
}

function collect(
  tree: APITree,
  prefix: string,
  where: string,
  found: NamedRoute[],
  above: readonly unknown[],
): void {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree) || above.includes(tree)) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where} takes routes by name, { users: { get: getUser } }; ${prefix === '' ? 'it was given' : `${prefix} is`} ${briefValue(tree)}`,
    )
  }
  for (const [key, value] of Object.entries(tree)) {
    const name = prefix === '' ? key : `${prefix}.${key}`
    if (isTaken(key)) {
      throw new VolantError(
        'E_BAD_OPTION',
        `${where} was given a route or group named ${key}, which clients cannot call: every object has that name, or it has a dot, which separates names. Choose another`,
      )
    }
    if (isRoute(value)) found.push({ name, route: value })
    else collect(value as APITree, name, where, found, [...above, tree])
  }
}
