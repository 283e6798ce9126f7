/** What a document needs to know of a route. */
import { alternativesIn } from '../dispatch/declare.ts'
import type { RouteInfo } from '../app/route-info.ts'
import type { DeclaredError, Schema } from '../types/parts.ts'
import type { Checked } from '../request/validation.ts'

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
  /** What its middleware ask for together, by names of schemes: those of any one list. Empty where they say nothing. */
  readonly alternatives: readonly (readonly string[])[]
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
    alternatives: alternativesOf(route),
    examples: route.examples ?? {},
    streamed: route.bodyMode === 'stream',
  }
}

/** Each middleware lets a request through by one of its alternatives; what passes all of them has one of each. */
function alternativesOf({ declarations }: RouteInfo): readonly (readonly string[])[] {
  let lists: readonly (readonly string[])[] = [[]]
  let says = false
  // One that is used twice is passed by the same alternative.
  for (const security of new Set(declarations.map((each) => each.security))) {
    if (security === undefined || Object.keys(security).length === 0) continue
    says = true
    const names = alternativesIn(security).map(Object.keys)
    lists = lists.flatMap((list) => names.map((more) => [...new Set([...list, ...more])]))
  }
  if (!says) return []
  return [...new Map(lists.map((list) => [list.toSorted().join(), list])).values()]
}
