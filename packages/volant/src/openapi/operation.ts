/** Reads from a route what a document needs to know of it. */
import type { RouteInfo } from '../app/route-info.ts'
import { type Checked, checkedParts } from '../request/validation.ts'
import type { Schema } from '../types/parts.ts'

export interface RouteOperation {
  readonly route: RouteInfo
  /** The name in messages, such as `POST /users`. */
  readonly name: string
  /** The schemas by part of the request: those of `validate()`, outermost first, then the route's own. */
  readonly schemas: Readonly<Record<Checked, readonly Schema[]>>
}

export function operationOf(route: RouteInfo): RouteOperation {
  const all = [...route.checks, route.schemas]
  const schemas = checkedParts.map((part) => [part, all.flatMap((each) => each[part] ?? [])])
  return {
    route,
    name: `${route.method} ${route.path}`,
    schemas: Object.fromEntries(schemas) as RouteOperation['schemas'],
  }
}
