import type { Method } from '@volant/engine'
import type { Layer } from './chain.ts'
import type { Description } from './contract-options.ts'
import type { RouteDefinition } from './core.ts'
import type { Exposed } from './expose.ts'
import { broughtBy, type Declaration } from './middleware.ts'
import { decided } from './optional-content.ts'
import { overlap } from './prefix.ts'
import type { ScopeNode } from './registry.ts'
import type { DeclaredErrors, Responses, Schemas } from './types.ts'

/** A route as `app.routes()` tells of it. */
export interface RouteInfo extends Description {
  /** One row for each method of a route. */
  readonly method: Method
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
  return routes.map((route) => {
    const { method, pattern, bodyMode, maxBodySize, schemas, nodes, middleware, contract, value } = route
    const possible = [...nodes.flatMap((node) => layersOf(node, pattern, 'maybe')), ...middleware]
    const certain = [...nodes.flatMap((node) => layersOf(node, pattern, 'always')), ...middleware]
    const declarations = possible.flatMap(declarationOf)
    const name = contract.description.operationId ?? exposed.nameOf(value)
    return {
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
      checks: certain.flatMap((layer) => broughtBy(layer).schemas ?? []),
      get responses() {
        return contract.responses === null ? null : decided(contract.responses)
      },
      errors: Object.assign(
        {},
        ...declarations.map(({ errors }) => errors),
        contract.errors,
      ) as DeclaredErrors,
      declarations,
    }
  })
}

/** Those in front of a pattern, or those that may be. */
function layersOf({ layers }: ScopeNode, pattern: string, least: 'always' | 'maybe'): Layer[] {
  return layers.flatMap(({ layer, under }) => {
    const meets = under === null ? 'always' : overlap(under, pattern, false)
    return meets === 'always' || meets === least ? [layer] : []
  })
}

function declarationOf(layer: Layer): Declaration[] {
  const { errors, security } = broughtBy(layer)
  if (errors === undefined && security === undefined) return []
  return [{ ...(errors && { errors }), ...(security && { security }) }]
}
