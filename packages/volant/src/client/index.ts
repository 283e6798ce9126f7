/** `volant/client`: calls an API from browsers, Node.js, Bun and Deno. Nothing of the server is imported. */
export { type ClientOptions, createClient } from './client.ts'
export { ClientError, type ClientErrorOptions } from './error.ts'
export type { Jsonified } from './jsonified.ts'
export type { ClientProblem } from './reply.ts'
export type { ClientHeaders, SendOptions } from './send.ts'
export type { ClientRoute, ClientRoutes } from './table.ts'
export type {
  Call,
  Callable,
  CallOptions,
  Client,
  ClientIssue,
  Failure,
  HeaderValue,
  InputOf,
  Invalid,
  LooseInput,
  LooseResult,
  Operation,
  PathValue,
  QueryValue,
  ResultOf,
  RetryOptions,
  Success,
} from './types.ts'
