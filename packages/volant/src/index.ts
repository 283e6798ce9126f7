import './hints/misuse.ts'
export type { Address, Limits, Method, RouterOptions, ServerStats, TlsVersion } from '@volant/engine'
export { type App, createApp } from './app/app.ts'
export type { AdapterType } from './adapters/choose.ts'
export type { Context, ContextOf, TlsConnection } from './types/context.ts'
export type { APITree } from './contract/api-tree.ts'
export { contract, type ContractVerb } from './contract/contract.ts'
export type { Handlers, Implement } from './contract/implement.ts'
export type { UndeclaredProperties } from './contract/reply-body.ts'
export {
  type ErrorCode,
  errorTable,
  HTTPError,
  type HTTPErrorOptions,
  type Issue,
  ValidationError,
  VolantError,
} from './errors/errors.ts'
export { encodeEvent, eventText } from './events/event.ts'
export type {
  EncodedEvent,
  EventSender,
  EventsOptions,
  EventsSource,
  EventStream,
  ServerSentEvent,
} from './types/events.ts'
export { checkHeader } from './reply/header.ts'
export type { InjectHeaders, InjectReply } from './testing/inject.ts'
export type { InjectOptions } from './testing/inject-request.ts'
export { type LimitOptions, type LimitRow, limitTable } from './options/limits.ts'
export { before, middleware } from './dispatch/declare.ts'
export { cors, type CorsOptions, type OriginCheck } from './middleware/cors.ts'
export { csp, type Csp, type CspDirectives, type CspOptions } from './middleware/csp.ts'
export { etag, type EtagOptions } from './middleware/etag.ts'
export type { LogStream } from './log/destination.ts'
export type { LogField } from './middleware/log-line.ts'
export { type EventLogger, logger, type LoggerOptions } from './middleware/logger.ts'
export { requestId, type RequestIdOptions } from './middleware/request-id.ts'
export {
  type ReferrerPolicy,
  securityHeaders,
  type SecurityHeadersOptions,
  type StrictTransportSecurity,
} from './middleware/security-headers.ts'
export type { LogOptions } from './log/options.ts'
export type { Log, LogLevel, LogMethod } from './types/log.ts'
export type { AppOptions } from './app/app-options.ts'
export type { ListenOptions, RedirectOptions } from './app/listen-options.ts'
export type { CertificateText } from './tls/certificates.ts'
export type { TlsCertificateOptions, TlsOptions } from './tls/options.ts'
export { type PatternReason, RoutePatternError } from './routing/path.ts'
export { type Problem, problemOf } from './errors/problem.ts'
export { health, type HealthCheck, type HealthOptions } from './plugins/health.ts'
export {
  type Metrics,
  metrics,
  type MetricsOptions,
  type MetricsSnapshot,
  type RouteFigures,
} from './plugins/metrics.ts'
export type { ClusterFigures } from './plugins/shared-metrics.ts'
export type {
  OpenAPIComponents,
  OpenAPIDocument,
  OpenAPIHeader,
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
} from './openapi/types.ts'
export { asyncapiOf } from './openapi/asyncapi.ts'
export type {
  AsyncAPIChannel,
  AsyncAPIComponents,
  AsyncAPIDocument,
  AsyncAPIInfo,
  AsyncAPIMessage,
  AsyncAPIOperation,
  AsyncAPIParameter,
  AsyncAPIReference,
  AsyncAPIServer,
} from './openapi/asyncapi-types.ts'
export { openapiOf, type Routed } from './openapi/document.ts'
export type { OpenAPIOptions } from './openapi/options.ts'
export { openapi, type OpenAPIPluginOptions } from './plugins/openapi.ts'
export type { RouteInfo } from './app/route-info.ts'
export { type Plugin, Scope } from './app/scope.ts'
export type { StaticFile, StaticOptions } from './static/options.ts'
export type { JSONSchema, Schema, SchemaInput, SchemaOutput } from './types/schema.ts'
export type { TrustedPeers, TrustProxyOptions } from './request/trust.ts'
export type {
  AnyParts,
  Contract,
  DeclaredError,
  DeclaredErrors,
  Effect,
  ErrorHandler,
  Examples,
  FittingMiddleware,
  Handler,
  LooseErrors,
  LooseResponses,
  LooseState,
  Middleware,
  Next,
  Outputs,
  Pairs,
  ParamsOf,
  Parts,
  Replied,
  Responses,
  RootParts,
  Route,
  RouteOptions,
  RouteParts,
  Schemas,
  With,
} from './types/parts.ts'
export type { Verb } from './app/verb.ts'
export type {
  Chunk,
  CookieOptions,
  FileOptions,
  Hints,
  Source,
  StreamOptions,
} from './types/reply-options.ts'
export type { Declaration, ResponseInfo, ResponseListener, SecuritySchemes } from './types/declaration.ts'
export type { Form, FormLimits, FormPart, FormType, FormValue, SavedFile } from './types/form.ts'
export type { OutgoingHeaders, OutgoingReply, SendHook } from './types/send-hook.ts'
export type { ClientRoute, ClientRoutes } from './types/client-routes.ts'
export type {
  BehindSocket,
  DataOf,
  HooksBehind,
  ImplementedSocket,
  InvalidMessage,
  PublishOptions,
  Received,
  Sent,
  ServerWebSocket,
  SocketContract,
  SocketContractOptions,
  SocketDeclared,
  SocketHook,
  SocketSchemas,
  SocketSettings,
  WebSocketOptions,
  WebSocketRoute,
} from './types/web-socket.ts'
export type { WebSocketVerb } from './app/web-socket-verb.ts'
export { validate } from './middleware/validate.ts'
export { RouteConflictError } from './routing/shapes.ts'
