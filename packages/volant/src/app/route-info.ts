import type { Description } from '../contract/contract-options.ts'
import { VolantError } from '../errors/errors.ts'
import type { Exposed } from './expose.ts'
import { metadataOf } from '../dispatch/declare.ts'
import { decide } from '../contract/lazy-responses.ts'
import { overlap } from '../routing/prefix.ts'
import type { DeclaredError, DeclaredErrors, Responses, Route, Schema, Schemas } from '../types/parts.ts'
import type { Layer } from '../types/request.ts'
import type { Declaration } from '../types/declaration.ts'
import type { RouteDefinition, ScopeLayers } from '../dispatch/route-definition.ts'

/** A route in the result of `app.routes()`. */
export interface RouteInfo extends Description {
  /**
   * The method: a `Method`, one of the router option `methods`, or `WS` for a WebSocket. A route with several methods has
   * one row for each.
   */
  readonly method: string
  /** The path with the prefixes of its scopes. */
  readonly path: string
  /**
   * The operation id: the route's own, else its path in the exposed tree, followed by the method if the route has
   * several.
   */
  readonly operationId?: string | undefined
  /** The names that clients call it by: its paths in the exposed trees, with dots. */
  readonly names: readonly string[]
  /** The mode is `stream` where the handler runs before the body has arrived. */
  readonly bodyMode: 'buffer' | 'stream'
  /** The most bytes of a body. */
  readonly maxBodySize: number
  /** The schemas of its options; `checks` has those of earlier `validate()` middleware. */
  readonly schemas: Schemas
  /** The schemas of the `validate()` in front of it, outermost first. */
  readonly checks: readonly Schemas[]
  /** The schemas of its replies by status; null where it declares none. */
  readonly responses: Responses | null
  /** The errors of its options and of the middleware in front of it, by code. */
  readonly errors: DeclaredErrors
  /** The schemas of a WebSocket's messages, null without one, and its subprotocols. It is absent for other routes. */
  readonly messages?:
    | { readonly in: Schema | null; readonly out: Schema | null; readonly protocols: readonly string[] }
    | undefined
  /** The metadata of the middleware in front of it, outermost first. */
  readonly declarations: readonly Declaration[]
}

export function routesOf(routes: readonly RouteDefinition[], exposed: Exposed): RouteInfo[] {
  return [...infosOf(routes, exposed)]
}

/** Gives the same rows one by one, so that a caller can serve others meanwhile. */
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
    const { socket } = route
    const shown = socket === undefined ? method : value.method
    const info: RouteInfo = {
      method: shown,
      path: pattern,
      ...contract.description,
      ...(name !== undefined && {
        operationId: value.method === shown ? name : `${name}.${method.toLowerCase()}`,
      }),
      names: exposed.namesOf(value),
      bodyMode: bodyMode === 'stream' ? 'stream' : 'buffer',
      maxBodySize,
      schemas: { ...schemas },
      checks: certain.flatMap((layer) => metadataOf(layer).schemas ?? []),
      get responses() {
        return contract.responses === null ? null : decide(contract.responses)
      },
      ...(socket !== undefined && {
        messages: { in: socket.in, out: socket.out, protocols: socket.protocols },
      }),
      errors: together([...declarations.map(({ errors = {} }) => errors), contract.errors]),
      declarations,
    }
    named.set(info, { method: shown, path: pattern, id: operationId ?? info.names[0], value })
    yield info
  }
}

/** The last declaration of a code counts. Description and headers it keeps of those before unless it has its own. */
function together(declared: readonly DeclaredErrors[]): DeclaredErrors {
  const all: Record<string, DeclaredError> = {}
  for (const [code, error] of declared.flatMap((each) => Object.entries(each))) {
    const { description, headers } = all[code] ?? {}
    all[code] = { ...(description && { description }), ...(headers && { headers }), ...error }
  }
  return all
}

/** The names of a route in the API's document. */
export interface NamedOperation {
  readonly method: string
  readonly path: string
  /** The name that the app itself gives it. Equal names of mounted apps are numbered. */
  readonly id: string | undefined
  readonly value: Route
}

const named = new WeakMap<RouteInfo, NamedOperation>()

/** Gives the names of routes that `routesOf` gave. */
export function namedOperations(routes: readonly RouteInfo[]): NamedOperation[] {
  return routes.flatMap((route) => named.get(route) ?? [])
}

/** Throws `E_OPERATION_ID` for two routes with one id. */
export function checkIds(routes: readonly NamedOperation[]): void {
  const taken = new Map<string, NamedOperation>()
  for (const route of routes) {
    if (route.id === undefined) continue
    const other = taken.get(route.id)
    // A route for several methods, or of an app that is mounted twice, shares an id; the document tells them apart.
    if (other !== undefined && other.value !== route.value) {
      throw new VolantError(
        'E_OPERATION_ID',
        `${other.method} ${other.path} and ${route.method} ${route.path} both have the operationId ${JSON.stringify(route.id)}: give one of them another`,
      )
    }
    taken.set(route.id, route)
  }
}

/** Gives the layers that run, or may run, in front of a pattern. */
function layersOf({ layers }: ScopeLayers, pattern: string, least: 'always' | 'maybe'): Layer[] {
  return layers.flatMap(({ layer, under }) => {
    const meets = under === null ? 'always' : overlap(under, pattern, false)
    return meets === 'always' || meets === least ? [layer] : []
  })
}

/** Gives the names of the middleware in front of a route, outermost first; in the same order as it runs. */
export function middlewareNames({ nodes, pattern, middleware }: RouteDefinition): string[] {
  const layers = [...nodes.flatMap((node) => layersOf(node, pattern, 'maybe')), ...middleware]
  return layers.map((layer) => {
    const { gate, encoder, onResponse, onSend, onError } = metadataOf(layer)
    const names = [layer, gate, encoder, onResponse, onSend, onError].map((each) => each?.name ?? '')
    return names.find((name) => name !== '' && name !== 'layer') ?? 'anonymous'
  })
}

function declarationOf(layer: Layer): Declaration[] {
  const { errors, security, scopes } = metadataOf(layer)
  if (errors === undefined && security === undefined && scopes === undefined) return []
  return [{ ...(errors && { errors }), ...(security && { security }), ...(scopes && { scopes }) }]
}
