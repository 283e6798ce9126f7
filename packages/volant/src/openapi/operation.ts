/** What a document needs to know of a route. */
import type { RouteInfo } from '../app/route-info.ts'
import type { Checked } from '../request/validation.ts'
import type { DeclaredError, Schema } from '../types/parts.ts'

export interface RouteOperation {
  readonly route: RouteInfo
  readonly method: string
  readonly pattern: string
  /** `POST /users`, in messages. */
  readonly name: string
  /** Its own id, or its name in the tree that was exposed. */
  readonly id: string | undefined
  /** By part of the request: the schemas of `validate()`, outermost first, then the route's own. */
  readonly schemas: Readonly<Record<Checked, readonly Schema[]>>
  /** By status, ascending; null for no content. The list is empty if the route does not say what it replies. */
  readonly responses: readonly (readonly [number, Schema | null])[]
  /** By code. */
  readonly errors: readonly (readonly [string, DeclaredError])[]
  readonly streamed: boolean
}

export function operationOf(route: RouteInfo): RouteOperation {
  const { method, path } = route
  const all = [...route.checks, route.schemas]
  return {
    route,
    method,
    pattern: path,
    name: `${method} ${path}`,
    id: route.operationId,
    schemas: {
      params: all.flatMap(({ params }) => params ?? []),
      query: all.flatMap(({ query }) => query ?? []),
      headers: all.flatMap(({ headers }) => headers ?? []),
      cookies: all.flatMap(({ cookies }) => cookies ?? []),
      body: all.flatMap(({ body }) => body ?? []),
    },
    // Integer keys of an object are ascending.
    responses: Object.entries(route.responses ?? {}).map(([status, schema]) => [Number(status), schema]),
    errors: Object.entries(route.errors),
    streamed: route.bodyMode === 'stream',
  }
}
