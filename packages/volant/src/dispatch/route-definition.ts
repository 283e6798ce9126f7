/** What was registered: a route, and the layers of the scopes that it is in. */
import type { RouteEntry } from '@volant/engine'
import type { CheckedContract } from '../contract/contract-options.ts'
import type { UndeclaredProperties } from '../contract/reply-body.ts'
import type { ResponseListener } from '../types/declaration.ts'
import type { Route, Schemas } from '../types/parts.ts'
import type { Layer, RequestContext, RouteLimits } from '../types/request.ts'

/** A route as it was registered. */
export interface RouteDefinition {
  readonly method: RouteEntry['method']
  readonly pattern: string
  /** The scopes it is in, the app's own first. */
  readonly nodes: readonly ScopeLayers[]
  readonly middleware: readonly Layer[]
  readonly handler: (ctx: RequestContext) => unknown
  /** `checked`: dispatched as a stream, collected once `beforeBody` agrees. */
  readonly bodyMode: 'buffer' | 'stream' | 'checked'
  /** Bytes. */
  readonly maxBodySize: number
  readonly beforeBody: ((ctx: RequestContext) => unknown) | null
  readonly schemas: Schemas
  readonly contract: CheckedContract
  readonly undeclaredProperties: UndeclaredProperties
  /** What the verb gave: the same wherever the app is mounted. */
  readonly value: Route
  /** Milliseconds; 0 unless the route has its own. */
  readonly handlerTimeout: number
  readonly limits: RouteLimits
}

/** Middleware and handlers that belong to one scope. Those of the scopes around it come before its own. */
export interface ScopeLayers {
  readonly layers: PlacedLayer[]
  readonly listeners: ResponseListener[]
  notFound: ((ctx: RequestContext) => unknown) | null
  errorHandler: ((error: unknown, ctx: RequestContext) => unknown) | null
  /** It has a route, or a scope inside it does. Absent where nobody asks. */
  used?: boolean
}

/** A middleware, for all requests of its scope or for those under a path. */
export interface PlacedLayer {
  readonly layer: Layer
  /** Without a slash at its end; null for all. */
  readonly under: string | null
}

/** Paths that belong to a scope, for the replies to requests no route takes. */
export interface PrefixScope {
  readonly prefix: string
  /** From the app's own to the innermost. */
  readonly nodes: readonly ScopeLayers[]
}
