import type { Method } from '@volant/engine'
import type { RouteDefinition } from './core.ts'
import { broughtBy, type Declaration } from './middleware.ts'
import type { Schemas } from './types.ts'
import { checkedParts } from './validation.ts'

/** A route as `app.routes()` tells of it. */
export interface RouteInfo {
  /** One row for each method of a route. */
  readonly method: Method
  /** With the prefixes of its scopes. */
  readonly path: string
  /** `stream` where the handler runs before the body is there. */
  readonly bodyMode: 'buffer' | 'stream'
  /** Bytes. */
  readonly maxBodySize: number
  /** Those of its options; schemas of `validate()` are the middleware's own. */
  readonly schemas: Schemas
  /** What the middleware in front of it declare, outermost first. */
  readonly declarations: readonly Declaration[]
}

export function routesOf(routes: readonly RouteDefinition[]): RouteInfo[] {
  return routes.map(({ method, pattern, bodyMode, maxBodySize, schemas, nodes, middleware }) => {
    const layers = [...nodes.flatMap((node) => node.layers.map(({ layer }) => layer)), ...middleware]
    const checked: Schemas = {}
    for (const part of checkedParts) if (schemas[part] !== undefined) checked[part] = schemas[part]
    return {
      method,
      path: pattern,
      bodyMode: bodyMode === 'stream' ? 'stream' : 'buffer',
      maxBodySize,
      schemas: checked,
      declarations: layers.flatMap((layer): Declaration[] => {
        const { errors, security } = broughtBy(layer)
        if (errors === undefined && security === undefined) return []
        return [{ ...(errors && { errors }), ...(security && { security }) }]
      }),
    }
  })
}
