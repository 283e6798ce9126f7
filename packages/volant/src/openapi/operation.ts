/** What a document needs to know of a route. */
import type { RouteInfo } from '../route-info.ts'
import type { DeclaredError, Schema } from '../types.ts'

export interface Operation extends Pick<RouteInfo, 'method' | 'schemas' | 'summary' | 'description'> {
  readonly pattern: string
  /** `POST /users`, in messages. */
  readonly name: string
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
  const { method, path, schemas, summary, description } = route
  return {
    method,
    pattern: path,
    name: `${method} ${path}`,
    id: route.operationId,
    summary,
    description,
    tags: route.tags ?? [],
    deprecated: route.deprecated === true,
    schemas,
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
