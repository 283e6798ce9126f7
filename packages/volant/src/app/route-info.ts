import type { Description } from '../contract/contract-options.ts'
import { VolantError } from '../errors/errors.ts'
import type { Exposed } from './expose.ts'
import { metadataOf } from '../dispatch/declare.ts'
import { decide } from '../contract/lazy-responses.ts'
import { overlap } from '../routing/prefix.ts'
import type { DeclaredErrors, Responses, Route, Schemas } from '../types/parts.ts'
import type { Layer } from '../types/request.ts'
import type { Declaration } from '../types/declaration.ts'
import type { RouteDefinition, ScopeLayers } from '../dispatch/route-definition.ts'

/** A route as `app.routes()` tells of it. */
export interface RouteInfo extends Description {
  /** One row for each method of a route: a `Method`, or one of the router option `methods`. */
  readonly method: string
  /** With the prefixes of its scopes. */
  readonly path: string
  /** Its own, else its path in the tree that was exposed, with the method behind it where the route has several. */
  readonly operationId?: string | undefined
  /** Its places in the trees that were exposed, with dots: what clients call it. */
  readonly names: readonly string[]
  /** `stream` where the handler runs before the body is there. */
  readonly bodyMode: 'buffer' | 'stream'
  /** Bytes. */
  readonly maxBodySize: number
  /** Those of its options; `checks` has what `validate()` checks before. */
  readonly schemas: Schemas
  /** Those of the `validate()` in front of it, outermost first. */
  readonly checks: readonly Schemas[]
  /** Schemas of its replies by status; null where it declares none. */
  readonly responses: Responses | null
  /** Those of its options and of the middleware in front of it, by code. */
  readonly errors: DeclaredErrors
  /** What the middleware in front of it declare, outermost first. */
  readonly declarations: readonly Declaration[]
}

export function routesOf(routes: readonly RouteDefinition[], exposed: Exposed): RouteInfo[] {
  return [...infosOf(routes, exposed)]
}

/** The same one by one, for those who have others to serve meanwhile. */
export function* infosOf(
  routes: readonly RouteDefinition[],
  exposed: Exposed,
): Generator<RouteInfo, void, undefined> {
  for (const route of routes) {
    const { method, pattern, bodyMode, maxBodySize, schemas, nodes, middleware, contract, value } = route
    const possible = [...nodes.flatMap((node) => layersOf(node, pattern, 'maybe')), ...middleware]
    const certain = [...nodes.flatMap((node) => layersOf(node, pattern, 'always')), ...middleware]
    const declarations = possible.flatMap(declarationOf)
    const { operationId } = contract.description
    const name = operationId ?? exposed.nameOf(value)
    const info: RouteInfo = {
      method,
      path: pattern,
      ...contract.description,
      ...(name !== undefined && {
        operationId: value.method === method ? name : `${name}.${method.toLowerCase()}`,
      }),
      names: exposed.namesOf(value),
      bodyMode: bodyMode === 'stream' ? 'stream' : 'buffer',
      maxBodySize,
      schemas: { ...schemas },
      checks: certain.flatMap((layer) => metadataOf(layer).schemas ?? []),
      get responses() {
        return contract.responses === null ? null : decide(contract.responses)
      },
      errors: Object.assign(
        {},
        ...declarations.map(({ errors }) => errors),
        contract.errors,
      ) as DeclaredErrors,
      declarations,
    }
    named.set(info, { method, path: pattern, id: operationId ?? info.names[0], value })
    yield info
  }
}

/** The parts that name a route in the API's document. */
export interface NamedOperation {
  readonly method: string
  readonly path: string
  /** The name that the app itself gives it: equal names of mounted apps are numbered. */
  readonly id: string | undefined
  readonly value: Route
}

const named = new WeakMap<RouteInfo, NamedOperation>()

/** Gives the names of routes that `routesOf` gave. */
export function namedOperations(routes: readonly RouteInfo[]): NamedOperation[] {
  return routes.flatMap((route) => named.get(route) ?? [])
}

/** Throws `E_OPERATION_ID` for two routes of one id. */
export function checkIds(routes: readonly NamedOperation[]): void {
  const taken = new Map<string, NamedOperation>()
  for (const route of routes) {
    if (route.id === undefined) continue
    const other = taken.get(route.id)
    // One call for several methods, or one app mounted twice: the document tells them apart.
    if (other !== undefined && other.value !== route.value) {
      throw new VolantError(
        'E_OPERATION_ID',
        `${other.method} ${other.path} and ${route.method} ${route.path} both have the operationId ${JSON.stringify(route.id)}`,
      )
    }
    taken.set(route.id, route)
  }
}

/** Those in front of a pattern, or those that may be. */
function layersOf({ layers }: ScopeLayers, pattern: string, least: 'always' | 'maybe'): Layer[] {
  return layers.flatMap(({ layer, under }) => {
    const meets = under === null ? 'always' : overlap(under, pattern, false)
    return meets === 'always' || meets === least ? [layer] : []
  })
}

function declarationOf(layer: Layer): Declaration[] {
  const { errors, security } = metadataOf(layer)
  if (errors === undefined && security === undefined) return []
  return [{ ...(errors && { errors }), ...(security && { security }) }]
}
