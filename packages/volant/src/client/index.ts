/** `volant/client` calls an API from browsers, Node.js, Bun and Deno. It imports nothing of the server. */
export { type ClientOptions, createClient } from './client.ts'
export { connect } from './connect.ts'
export { ClientError, type ClientErrorOptions } from './error.ts'
export type { Jsonified } from '../types/jsonified.ts'
export type { ClientProblem } from './reply.ts'
export type { ClientSocket } from './socket.ts'
export type {
  ConnectOptions,
  HeartbeatOptions,
  LooseSocketInput,
  PlatformSocket,
  RawMessage,
  ReconnectOptions,
  SocketClose,
  SocketEvents,
  SocketInput,
  SocketOpen,
  SocketOperation,
  SocketState,
  WebSocketClass,
} from './socket-types.ts'
export type { ClientHeaders, SendOptions } from './send.ts'
export type {
  Call,
  CallOptions,
  Client,
  HeaderValue,
  InputOf,
  LooseInput,
  LooseResult,
  QueryValue,
  ResultOf,
  RetryOptions,
  SocketOf,
} from './types.ts'
export type {
  Callable,
  ClientIssue,
  Failure,
  Invalid,
  Operation,
  PathValue,
  Socket,
  Success,
} from '../types/operation.ts'
export type { ClientRoute, ClientRoutes } from '../types/client-routes.ts'
