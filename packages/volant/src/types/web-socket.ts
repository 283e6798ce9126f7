/** The types of `app.ws`: a WebSocket as its hooks see it, the hooks, and the route as a value. */
import type { ContextOf } from './context.ts'
import type { Issue } from '../errors/errors.ts'
import type {
  Contract,
  DeclaredErrors,
  Parts,
  Route,
  Schema,
  SchemaInput,
  SchemaOutput,
  With,
} from './parts.ts'

/**
 * A WebSocket of this server. `Data` is what `upgrade` returned, `Out` what `send` takes. Every method may be called at
 * any time: once the WebSocket is closed it does nothing, and `send` gives false.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- a function that is written apart takes those of any route
export interface ServerWebSocket<Data = unknown, Out = any> {
  /** What `upgrade` returned. */
  data: Data
  /**
   * An id: that of the request if it had one, else another of that kind. It is unique in this process, unless `requestId`
   * takes ids from clients (`trust`) or makes others.
   */
  readonly id: string
  /** The address of the client, as `ctx.ip` of the request. */
  readonly ip: string
  /** The subprotocol that was chosen; empty without one. */
  readonly protocol: string
  /** 1 while it is open, 2 once either side has begun to close it, 3 when it is closed. */
  readonly readyState: 1 | 2 | 3
  /** How many bytes wait to be sent. */
  readonly bufferedAmount: number
  /** The topics that it is subscribed to. */
  readonly topics: readonly string[]
  /**
   * Sends a message: text, or bytes, which may be changed afterwards; with a schema `out` a value of it, as JSON. Gives false
   * where more than 64 KiB wait to be sent, and `drain` is called once they are sent; and where it is not open, so that
   * nothing was sent. Throws `E_SOCKET_MESSAGE` for any other value, and what a reply throws that is not what its schema
   * says.
   */
  send(message: Out): boolean
  /** Sends a value as JSON text. Gives what `send` gives. Throws `E_NOT_SERIALISABLE`. */
  json(value: [unknown] extends [Out] ? unknown : Out extends string | Uint8Array ? unknown : Out): boolean
  /**
   * Closes it: the client is told code and reason, and has `closeTimeout` to answer. Default 1000 without a reason. Throws
   * `E_SOCKET_CLOSE` for a code other than 1000 to 1003, 1007 to 1014 and 3000 to 4999, and for more than 123 bytes of
   * reason (RFC 6455 §5.5, §7.4).
   */
  close(code?: number, reason?: string): void
  /** Ends the connection at once, without telling the client. `close` is called with 1006. */
  terminate(): void
  /**
   * Has it get what is published to `topic`. A second time changes nothing. Throws `E_SOCKET_TOPIC` for anything but a text
   * of 1 to 1,024 characters, and past `maxTopics`.
   */
  subscribe(topic: string): void
  /** Ends the subscription to `topic`. Subscriptions also end when it is closed. */
  unsubscribe(topic: string): void
  /** True where it is subscribed to `topic`. */
  isSubscribed(topic: string): boolean
  /**
   * Sends a message to all WebSockets of the app that are subscribed to `topic`, but not to this one unless `self` is
   * true; with a bus to those of other processes, too. It need not be subscribed itself, and in the hook `close` it still
   * may publish. Throws what `send` throws, and `E_SOCKET_TOPIC` for what is no topic.
   */
  publish(topic: string, message: Out, options?: { readonly self?: boolean | undefined }): void
}

/** The options of `publish` of apps and routes. */
export interface PublishOptions {
  /** True sends the message to the WebSockets of this process alone, and not over the bus of the app. Default false. */
  readonly local?: boolean | undefined
}

/** The name of a hook of a WebSocket. */
export type SocketHook = 'open' | 'message' | 'drain' | 'close' | 'invalid' | 'dropped' | 'error'

/** A message that is not what the schema `in` says, as the hook `invalid` gets it. */
export interface InvalidMessage {
  /** The code that it is closed with unless there is a hook: 1003 for bytes, 1007 for no JSON, 1008 for another shape. */
  readonly code: 1003 | 1007 | 1008
  /** What is wrong, in words that the client may see. */
  readonly reason: string
  /** What the schema found; empty where the message is no JSON. `in` is `message`. */
  readonly issues: readonly Issue[]
  /** The message as it came. */
  readonly message: string | Uint8Array
}

/** The type of `ws.data`: what `upgrade` returns where it does not refuse. */
export type DataOf<R> = [Exclude<Awaited<R>, void | Response | Error>] extends [never]
  ? undefined
  : Exclude<Awaited<R>, void | Response | Error>

/** The type of received messages. */
export type Received<In> = [In] extends [undefined] ? string | Buffer : SchemaOutput<In>

/** The type of sent messages. */
export type Sent<Out> = [Out] extends [undefined] ? string | Uint8Array : SchemaInput<Out>

/** The schemas of a WebSocket's request. */
export interface SocketSchemas {
  /** The schema of the path's parameters. */
  params: Schema | undefined
  /** The schema of the query. */
  query: Schema | undefined
  /** The schema of the headers. */
  headers: Schema | undefined
  /** The schema of the cookies. */
  cookies: Schema | undefined
}

/** The declared schemas alone, and what else callers need to know. */
export type SocketDeclared<S extends SocketSchemas, In, Out> = {
  [K in keyof S as [S[K]] extends [undefined] ? never : K]: S[K]
} & ([In] extends [undefined] ? {} : { in: In }) &
  ([Out] extends [undefined] ? {} : { out: Out })

/** The parts of a context behind the schemas and errors of a WebSocket's options. */
export type BehindSocket<B extends Parts, S extends SocketSchemas, E extends DeclaredErrors> = With<
  B,
  unknown,
  { [K in keyof S as [S[K]] extends [undefined] ? never : K]: SchemaOutput<S[K]> } & ([keyof E] extends [
    never,
  ]
    ? {}
    : { errors: E })
>

/** The limits of a WebSocket's route, and how it sends. */
export interface SocketSettings {
  /**
   * The origins whose pages may connect: `['https://app.example']`, or `'*'` for all. Default: that of this server alone
   * (`ctx.host`). A request without Origin, as programs send it, passes.
   */
  origins?: '*' | readonly string[] | undefined
  /** The subprotocols. The first of those that the client asks for is chosen; without a common one there is none. */
  protocols?: readonly string[] | undefined
  /**
   * True compresses messages from 1,024 bytes on where the client can (RFC 7692); `{ threshold }` from that many bytes on.
   * Default false: it takes time, and helps to guess secrets that are sent beside text of the client (BREACH).
   */
  compress?: boolean | { readonly threshold?: number | undefined } | undefined
  /** The most bytes of a message. Default: the app's `maxMessageSize`. */
  maxMessageSize?: number | undefined
  /**
   * The milliseconds without a frame of the client, at least 1,000, or 0 for no limit. Default: the app's
   * `socketIdleTimeout`. Values in seconds, as Bun and uWebSockets.js take them, are refused.
   */
  idleTimeout?: number | undefined
  /** The most bytes that wait to be sent. Default: the app's `maxSocketBuffer`. */
  maxSocketBuffer?: number | undefined
  /** What happens past `maxSocketBuffer`: it is closed with 1013, the default, or the message is dropped. */
  whenFull?: 'close' | 'drop' | undefined
  /** The time in milliseconds for middleware and `upgrade`. Default: the app's `handlerTimeout`. */
  handlerTimeout?: number | undefined
  /** The most keys of the query. Default: the app's `maxQueryKeys`. */
  maxQueryKeys?: number | undefined
  /** The most levels of nesting in a message of JSON. Default: the app's `maxJsonDepth`. */
  maxJsonDepth?: number | undefined
}

/** What a WebSocket's route shares with other routes: its words in the API's document, and its errors. */
export type SocketContract = Pick<
  Contract,
  'operationId' | 'summary' | 'description' | 'tags' | 'deprecated' | 'hidden' | 'security'
>

/** The options of `app.ws`. Hooks may be async, and are not awaited. Write `upgrade` before those that take `ws`. */
export interface WebSocketOptions<
  B extends Parts,
  Params extends Schema | undefined,
  Query extends Schema | undefined,
  Headers extends Schema | undefined,
  Cookies extends Schema | undefined,
  Errors extends DeclaredErrors,
  In extends Schema | undefined,
  Out extends Schema | undefined,
  R,
>
  extends SocketSettings, SocketContract {
  /** The schema of the path's parameters. */
  params?: Params
  /** The schema of the query. */
  query?: Query
  /** The schema of the headers. */
  headers?: Headers
  /** The schema of the cookies. */
  cookies?: Cookies
  /** The errors that `ctx.fail` throws in `upgrade`, by code. */
  errors?: Errors
  /** The schema of received messages, which are JSON text then. It has to answer at once, without a promise. */
  in?: In
  /** The schema of sent messages, which are JSON text then. It has to answer at once, without a promise. */
  out?: Out
  /**
   * Runs when middleware and schemas have let the request pass. What it returns becomes `ws.data`. If it replies or throws,
   * the WebSocket is refused.
   */
  upgrade?: (
    ctx: ContextOf<
      BehindSocket<B, { params: Params; query: Query; headers: Headers; cookies: Cookies }, Errors>
    >,
  ) => R
  /** Runs when the WebSocket is open, before its first message. */
  open?: (ws: ServerWebSocket<DataOf<R>, Sent<Out>>) => unknown
  /** Runs for each message: text as a string, bytes as a Buffer; with `in`, what the schema made of it. */
  message?: (ws: ServerWebSocket<DataOf<R>, Sent<Out>>, message: Received<In>) => unknown
  /** Runs when all that waited was sent, after a `send` that gave false. */
  drain?: (ws: ServerWebSocket<DataOf<R>, Sent<Out>>) => unknown
  /**
   * Runs when it is closed, by either side. `code` is the client's, or that of the server where that closed first; 1005
   * without one, 1006 where the connection was lost.
   */
  close?: (ws: ServerWebSocket<DataOf<R>, Sent<Out>>, code: number, reason: string) => unknown
  /** Runs in place of `message` where that is not what `in` says. Without it the WebSocket is closed. */
  invalid?: (ws: ServerWebSocket<DataOf<R>, Sent<Out>>, problem: InvalidMessage) => unknown
  /** Runs when messages to it were dropped, since `whenFull` is `drop`. */
  dropped?: (ws: ServerWebSocket<DataOf<R>, Sent<Out>>, count: number) => unknown
  /** Runs when another hook threw or rejected. Without it the error is reported and the WebSocket closed with 1011. */
  error?: (ws: ServerWebSocket<DataOf<R>, Sent<Out>>, error: unknown) => unknown
}

/** The result of `app.ws`: a route as a value, and what publishes to its WebSockets. */
export interface WebSocketRoute<
  P extends string = string,
  Options = unknown,
  Message = unknown,
  Base = unknown,
  Behind = unknown,
> extends Route<'WS', P, Options, unknown, Base, Behind> {
  /**
   * Sends a message to all WebSockets of the app that are subscribed to `topic`; with a schema `out` a value of it. It is
   * checked once. With a bus those of other processes get it, too. Nobody here gets it before the app listens, and after
   * it has closed. Throws as `ws.publish` does.
   */
  publish(topic: string, message: Message, options?: PublishOptions): void
}

/** The options of a WebSocket's contract: what its callers see. */
export interface SocketContractOptions extends SocketContract, Pick<SocketSettings, 'protocols'> {
  /** The schema of the path's parameters. */
  params?: Schema | undefined
  /** The schema of the query. */
  query?: Schema | undefined
  /** The schema of the headers. */
  headers?: Schema | undefined
  /** The schema of the cookies. */
  cookies?: Schema | undefined
  /** The errors that `ctx.fail` throws in `upgrade`, by code. */
  errors?: DeclaredErrors | undefined
  /** The schema of received messages, which are JSON text then. */
  in?: Schema | undefined
  /** The schema of sent messages, which are JSON text then. */
  out?: Schema | undefined
}

/** A schema of a contract's options. */
type Own<O, K extends string> = O extends { readonly [P in K]: infer S extends Schema } ? S : undefined

type OwnErrors<O> = O extends { errors: infer E extends DeclaredErrors } ? E : {}

/** The hooks and limits of a WebSocket whose contract has the options `O`; `B` are the parts in front of them. */
export type HooksBehind<B extends Parts, O, R> = Omit<
  WebSocketOptions<
    B,
    Own<O, 'params'>,
    Own<O, 'query'>,
    Own<O, 'headers'>,
    Own<O, 'cookies'>,
    OwnErrors<O>,
    Own<O, 'in'>,
    Own<O, 'out'>,
    R
  >,
  keyof SocketContractOptions
>

/** The route of a contract that has its hooks. */
export type ImplementedSocket<P extends string, B extends Parts, T extends Parts, O> = WebSocketRoute<
  P,
  O,
  Sent<Own<O, 'out'>>,
  B,
  With<T, O>
>
