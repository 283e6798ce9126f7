/** What a document needs to know of a route. */
import type { RouteInfo } from '../route-info.ts'
import type { DeclaredError, Schema } from '../types.ts'
import type { Checked } from '../validation.ts'

export interface Operation extends Pick<RouteInfo, 'method' | 'summary' | 'description'> {
  readonly pattern: string
  /** `POST /users`, in messages. */
  readonly name: string
  /** By part of the request: those of `validate()`, outermost first, then the route's own. */
  readonly schemas: Readonly<Record<Checked, readonly Schema[]>>
  /** Its own, or its name in the tree that was exposed. */
  readonly id: string | undefined
  readonly tags: readonly string[]
  readonly deprecated: boolean
  /** By status, ascending; null for no content. Empty where the route does not say. */
  readonly responses: readonly (readonly [number, Schema | null])[]
  /** Of replies that are not JSON and not plain text. */
  readonly mediaType: string | undefined
  /** By code. */
  readonly errors: readonly (readonly [string, DeclaredError])[]
  /** Its own requirements; undefined where those of its middleware hold. */
  readonly security: RouteInfo['security']
  /** Names of those its middleware declare. */
  readonly schemes: readonly string[]
  readonly examples: NonNullable<RouteInfo['examples']>
  readonly streamed: boolean
}

export function operationOf(route: RouteInfo): Operation {
  const { method, path, summary, description } = route
  const all = [...route.checks, route.schemas]
  return {
    method,
    pattern: path,
    name: `${method} ${path}`,
    id: route.operationId,
    summary,
    description,
    tags: route.tags ?? [],
    deprecated: route.deprecated === true,
    schemas: {
      params: all.flatMap(({ params }) => params ?? []),
      query: all.flatMap(({ query }) => query ?? []),
      headers: all.flatMap(({ headers }) => headers ?? []),
      cookies: all.flatMap(({ cookies }) => cookies ?? []),
      body: all.flatMap(({ body }) => body ?? []),
    },
    // Integer keys of an object are ascending.
    responses: Object.entries(route.responses ?? {}).map(([status, schema]) => [Number(status), schema]),
    mediaType: route.mediaType,
    errors: Object.entries(route.errors),
    security: route.security,
    schemes: route.declarations.flatMap(({ security }) => Object.keys(security ?? {})),
    examples: route.examples ?? {},
    streamed: route.bodyMode === 'stream',
  }
}
