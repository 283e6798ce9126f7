export type { Address, Limits, ListenOptions, Method, RouterOptions, ServerStats } from '@volant/engine'
export { type App, createApp } from './app.ts'
export type { AdapterType } from './adapters/choose.ts'
export type { Context, ContextOf } from './context.ts'
export type { APITree } from './api-tree.ts'
export { contract, type ContractVerb } from './contract.ts'
export type { CookieOptions } from './cookie.ts'
export type { ClientRoute, ClientRoutes } from './client/table.ts'
export type { Handlers, Implement } from './implement.ts'
export type { UndeclaredProperties } from './responses.ts'
export type { Hints } from './early-hints.ts'
export {
  type ErrorCode,
  errorTable,
  HTTPError,
  type HTTPErrorOptions,
  type Issue,
  ValidationError,
  VolantError,
} from './errors.ts'
export type { FileOptions } from './file.ts'
export { checkHeader } from './header.ts'
export type { InjectHeaders, InjectReply } from './inject.ts'
export type { InjectOptions } from './inject-request.ts'
export { type LimitOptions, type LimitRow, limitTable } from './limits.ts'
export { before, type Declaration, middleware, type SecuritySchemes } from './middleware.ts'
export { cors, type CorsOptions, type OriginCheck } from './middleware/cors.ts'
export { csp, type Csp, type CspDirectives, type CspOptions } from './middleware/csp.ts'
export type { LogStream } from './middleware/log-destination.ts'
export type { LogField } from './middleware/log-line.ts'
export { type EventLogger, logger, type LoggerOptions } from './middleware/logger.ts'
export { requestId, type RequestIdOptions } from './middleware/request-id.ts'
export {
  type ReferrerPolicy,
  securityHeaders,
  type SecurityHeadersOptions,
  type StrictTransportSecurity,
} from './middleware/security-headers.ts'
export type { ResponseInfo, ResponseListener } from './observe.ts'
export type { AppOptions } from './options.ts'
export { type PatternReason, RoutePatternError } from './path.ts'
export { type Problem, problemOf } from './problem.ts'
export { health, type HealthCheck, type HealthOptions } from './plugins/health.ts'
export {
  type Metrics,
  metrics,
  type MetricsOptions,
  type MetricsSnapshot,
  type RouteFigures,
} from './plugins/metrics.ts'
export type {
  OpenAPIComponents,
  OpenAPIDocument,
  OpenAPIInfo,
  OpenAPIMedia,
  OpenAPIOperation,
  OpenAPIParameter,
  OpenAPIPathItem,
  OpenAPIReference,
  OpenAPIRequestBody,
  OpenAPIResponse,
  OpenAPIServer,
  OpenAPITag,
} from './openapi/document.ts'
export { openapiOf, type OpenAPIOptions, type Routed } from './openapi/emit.ts'
export { openapi, type OpenAPIPluginOptions } from './plugins/openapi.ts'
export type { Pairs } from './query.ts'
export type { Chunk, Source, StreamOptions } from './stream-reply.ts'
export type { RouteInfo } from './route-info.ts'
export { RouteConflictError } from './router.ts'
export { Scope } from './scope.ts'
export type { JSONSchema, Schema, SchemaInput, SchemaOutput } from './schema/infer.ts'
export type { TrustedPeers, TrustProxyOptions } from './trust.ts'
export type {
  AnyParts,
  Contract,
  DeclaredError,
  DeclaredErrors,
  Effect,
  Examples,
  ErrorHandler,
  FittingMiddleware,
  Handler,
  LooseErrors,
  LooseResponses,
  LooseState,
  Middleware,
  Next,
  Outputs,
  ParamsOf,
  Parts,
  Plugin,
  Replied,
  Responses,
  RootParts,
  Route,
  RouteOptions,
  RouteParts,
  Schemas,
  With,
} from './types.ts'
export type { Verb } from './verb.ts'
export { validate } from './validation.ts'
