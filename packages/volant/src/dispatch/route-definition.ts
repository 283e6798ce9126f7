/** A registered route, and the layers of the scopes that it is in. */
import type { RouteEntry, SocketRoute } from '@volant/engine'
import type { CheckedContract } from '../contract/contract-options.ts'
import type { UndeclaredProperties } from '../contract/reply-body.ts'
import type { ResponseListener } from '../types/declaration.ts'
import type { Route, Schema, Schemas } from '../types/parts.ts'
import type { Layer, RequestContext, RouteLimits } from '../types/request.ts'

export interface RouteDefinition {
  readonly method: RouteEntry['method']
  readonly pattern: string
  /** The scopes that it is in, the app's own first. */
  readonly nodes: readonly ScopeLayers[]
  readonly middleware: readonly Layer[]
  readonly handler: (ctx: RequestContext) => unknown
  /** With `checked` the request is dispatched before its body, which is collected once `beforeBody` lets it in. */
  readonly bodyMode: 'buffer' | 'stream' | 'checked'
  readonly maxBodySize: number
  /** The time limit of a request in milliseconds, 0 for no limit; undefined for the limit of the app. */
  readonly requestTimeout?: number | undefined
  readonly beforeBody: ((ctx: RequestContext) => unknown) | null
  readonly schemas: Schemas
  readonly contract: CheckedContract
  readonly undeclaredProperties: UndeclaredProperties
  /** The result of the verb. It is the same wherever the app is mounted. */
  readonly value: Route
  /** The handler's time in milliseconds; 0 unless the route has its own. */
  readonly handlerTimeout: number
  /** False where no encoder of its scopes sees its replies. */
  readonly compress: boolean
  readonly limits: RouteLimits
  /** What makes it a route of WebSockets. It is absent for any other. */
  readonly socket?: SocketDefinition
}

/** A route of WebSockets. Its method is GET, and only requests that ask for a WebSocket find it. */
export interface SocketDefinition {
  readonly entry: SocketRoute
  /** The schemas of messages; null without one. */
  readonly in: Schema | null
  readonly out: Schema | null
  readonly protocols: readonly string[]
}

/** The middleware and handlers that belong to one scope. Those of the scopes around it come before its own. */
export interface ScopeLayers {
  readonly layers: PlacedLayer[]
  readonly listeners: ResponseListener[]
  notFound: ((ctx: RequestContext) => unknown) | null
  errorHandler: ((error: unknown, ctx: RequestContext) => unknown) | null
  /** True where this scope, or a scope inside it, has a route. It is absent where that is never read. */
  used?: boolean
}

/** A middleware, for all requests of its scope or for those under a path. */
export interface PlacedLayer {
  readonly layer: Layer
  /** The path without a slash at its end; null for all paths. */
  readonly under: string | null
}

/** The paths of a scope, for the replies to requests that no route takes. */
export interface PrefixScope {
  readonly prefix: string
  /** The nodes from the app's own to the innermost. */
  readonly nodes: readonly ScopeLayers[]
}
