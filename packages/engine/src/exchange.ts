/**
 * The Exchange contract: one request and its reply, as an adapter offers it to the framework.
 *
 * An adapter (native, node:http, uWebSockets.js) implements these three interfaces and nothing else;
 * `volant` knows no adapter beyond them. Anything a user can observe is defined in `conformance/adapters`,
 * which runs on every adapter.
 */
import type { AsyncResource } from 'node:async_hooks'
import { contentTypes as layoutContentTypes } from './generated/layout.ts'
import type { ServerSocket, SocketEvents, SocketRoute } from './socket.ts'
import type { TlsConfig, TlsInfo } from './tls.ts'

/** The content types that the framework sets itself. With `custom` the header list has the type, or there is none. */
export const ContentType = { custom: 0, json: 1, text: 2, html: 3, bytes: 4, problem: 5, svg: 6 } as const
export type ContentType = (typeof ContentType)[keyof typeof ContentType]

/** The header value behind each `ContentType`, by numeric id; `null` for `custom`. */
export const contentTypes: readonly (string | null)[] = layoutContentTypes.map((type) => type || null)

/** Names the way in which the request's body reaches the handler. */
export const BodyKind = { none: 0, complete: 1, stream: 2 } as const
export type BodyKind = (typeof BodyKind)[keyof typeof BodyKind]

/**
 * The reason why an exchange ended before its reply was sent. After `timeout` (503) and `upload` (408, its streamed
 * body came too slowly) the adapter has replied in the handler's place.
 */
export type AbortReason = 'client' | 'timeout' | 'shutdown' | 'error' | 'upload'

/** Receives a streamed body. Nothing is called after `end` or `fail`. */
export interface BodySink {
  /** True where the sink copies what it keeps, so that an adapter may lend it the bytes. */
  readonly borrows?: boolean
  /** `bytes` is a copy that belongs to the sink, unless it `isLent`: then it is valid during the call alone. */
  chunk(bytes: Buffer, isLent?: boolean): void
  /** `trailers` are the trailer fields, if there are any: name, value, name, value, …; the names are as sent. */
  end(trailers?: string[]): void
  /**
   * The client left, sent malformed chunks (`status` 400), was slower than `requestTimeout` allows (`status` 408), or
   * went past the route's body limit (`status` 413).
   */
  fail(error: Error & { status?: number; code?: string }): void
}

/** A request and its reply. It lives until the reply is complete and the connection has let go of it. */
export interface Exchange extends AsyncResource {
  /**
   * True while handlers still run, since some go on after their reply and read the request. Once the reply is given and
   * this is not set, an adapter may forget the request: a part that was not read before is then empty, except `method`,
   * `httpVersion` and `bodyKind`.
   */
  retained?: boolean
  /**
   * True where the async context that it was made in is the request's own: instrumentation of node:http has set one, or
   * a caller in this process. Elsewhere that context is of whoever called `listen`.
   */
  readonly inheritsContext?: boolean
  /** The request method in upper case. */
  readonly method: string
  /** The canonical path: RFC 3986 unreserved characters decoded, other escapes in upper-case hex, ASCII. */
  readonly path: string
  /** The query as sent, without `?`; empty if there is none. */
  readonly query: string
  readonly httpVersion: '1.0' | '1.1' | '2'
  /**
   * The host and port that the client asked for, as sent: the authority of the target if it has one, whatever Host says
   * (RFC 9112 §3.2.2), else the value of Host; empty without either.
   */
  readonly authority: string
  /** The address of the peer, or an empty string on a Unix socket. */
  readonly remoteAddress: string
  /** True where the connection is encrypted; false or absent otherwise. */
  readonly encrypted?: boolean
  /**
   * Gives the result of the connection's TLS handshake; null or absent if the connection is not encrypted, or closed.
   */
  tls?(): TlsInfo | null

  /** Gives one field by its lower-case name, combined as `headers()` does. */
  header(name: string): string | undefined
  /**
   * Gives all fields by lower-case name on an object without prototype. Repeated fields are joined with `, ` (`cookie`
   * with `; `). Of fields that node:http keeps once (`host`, `content-type`, `authorization`, …) the first stands.
   */
  headers(): Record<string, string>
  /** Gives the fields in the order received: name, value, name, value, …; names are as sent. */
  rawHeaders(): string[]
  /** True where the request has more than one field of this lower-case name. */
  isRepeated(name: string): boolean
  /** Gives the decoded path parameter `index`, in pattern order; `undefined` for an absent optional one. */
  param(index: number): string | undefined

  readonly bodyKind: BodyKind
  /** The length in bytes of a `complete` body; 0 for `none`; −1 while unknown. */
  readonly bodyLength: number
  /** Gives a `complete` body decoded as UTF-8 (invalid sequences become U+FFFD). */
  bodyText(): string
  /** Gives a copy of a `complete` body. */
  bodyBytes(): Buffer
  /** Starts a `stream` body. At most `window` bytes are delivered until `credit` grants more. */
  readBody(sink: BodySink, window: number): void
  /** Grants the client `bytes` more of the streamed body. */
  credit(bytes: number): void

  /** True once `end` or `start` was called, or the exchange was aborted. */
  readonly replied: boolean
  /** True once the client left, a time limit passed or the server reset the connection. */
  readonly aborted: boolean
  /**
   * True once the client closed its sending side while the exchange was open. It may still read, so the reply is
   * sent as usual and `aborted` stays false. A client that is gone looks the same until something is sent to it.
   */
  readonly halfClosed: boolean
  /**
   * The adapter calls this inside the exchange's async context when `halfClosed` becomes true, and when `aborted`
   * becomes true: at most once for each. `ctx.signal` is aborted by the first of the two.
   */
  onAbort: ((reason: AbortReason) => void) | null
  /** The adapter calls this when a `write` that returned false may be followed by another. */
  onDrain: (() => void) | null

  /**
   * Sends an interim reply ahead of the final one (RFC 9110 §15.2): `status` is 103, `headers` are as `end` takes them.
   * It may be called several times. It is ignored when already replied or aborted, and for HTTP/1.0. It is dropped when
   * 16 KiB of them would wait, because the client reads slowly or the replies before this one are not given. Throws
   * `E_UNSUPPORTED` on an adapter that cannot send it.
   */
  inform(status: number, headers: string[]): void
  /**
   * Sends the whole reply. `headers` is a flat list: name, value, name, value, …, already checked by `checkHeader`;
   * an empty name stands before what `packHeaders` made.
   * The adapter adds Date, Content-Length, Connection and, unless it is `custom`, Content-Type, and to a 426 Upgrade,
   * which names HTTP/1.1 (RFC 9110 §15.5.22), or `websocket` where `headers` have Sec-WebSocket-Version; it leaves the
   * body out for HEAD, 204 and 304.
   * Content-Length, Transfer-Encoding, Connection, Keep-Alive and Upgrade in `headers` are not allowed.
   * It is ignored when already replied or aborted: the first reply stands.
   */
  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void
  /** Sends the head of a streamed reply. A `length` of −1 is unknown (chunked, or close-delimited for HTTP/1.0). */
  start(status: number, type: ContentType, headers: string[] | null, length: number): void
  /**
   * Sends a part of the body. False when more than 64 KiB wait to be sent: wait for `onDrain`, and leave the bytes as
   * they are until then. After true the caller may reuse them.
   */
  write(chunk: string | Uint8Array): boolean
  /**
   * Ends a streamed reply. With a declared length that was not reached the connection is reset. `isLast` says that the
   * server closes: if nothing was received behind the request, the connection ends with this reply, whose head could not
   * say so. An adapter that cannot do that leaves the connection idle.
   *
   * `trailers` is a flat list like the `headers` of `end`, of fields that RFC 9110 §6.5.1 allows as trailers. They are
   * dropped if the reply cannot have them: with a declared length, in HTTP/1.0, to HEAD, and with status 204 and 304.
   */
  finish(isLast?: boolean, trailers?: string[] | null): void
  /** False if the adapter does not support trailer fields. Fields that are given to `finish` are dropped then. */
  readonly sendsTrailers?: boolean
  /** Resets the connection, as is due when a streamed reply fails after its head was sent. */
  destroy(): void
  /**
   * Replies 101 and makes a WebSocket of the connection (RFC 6455 §4.2.2), or over HTTP/2 replies 200 and makes one of the
   * stream (RFC 8441 §5). The route has `socket`, and the caller has checked the handshake: version 13, no body, and for
   * HTTP/1.1 a key of 16 bytes. `headers` are as `end` takes them, Sec-WebSocket-Protocol among them; the adapter adds
   * Sec-WebSocket-Extensions and, for HTTP/1.1, Upgrade, Connection and Sec-WebSocket-Accept. Gives null when already
   * replied or aborted. It is absent where an adapter has no sockets.
   */
  accept?(headers: string[] | null, events: SocketEvents): ServerSocket | null
}

/**
 * The form in which a route wants its body, which decides when a request is dispatched: with its whole body, with its head,
 * or, for `late`, with its head unless the whole body came with it.
 */
export const BodyMode = { buffer: 0, stream: 1, late: 2 } as const
export type BodyMode = (typeof BodyMode)[keyof typeof BodyMode]

/**
 * The methods of every server by bit and index. Their order is part of the layout shared with the engine. The methods of
 * `RouterOptions.methods` come after them.
 */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'] as const
/** The methods a route of every app may have; the router option `methods` adds others. */
export type Method = (typeof methods)[number]
/** The number of further methods that a server may have: a set of methods is 32 bits. */
export const mostRegistered = 24
/** The length of the longest method that the engine reads. */
export const longestMethod = 32

/** A row of the route table that an adapter is given at `listen`. Its index in the table is the route id. */
export interface RouteEntry {
  /** The method, one of `methods` or of `RouterOptions.methods`. */
  readonly method: string
  readonly pattern: string
  readonly bodyMode: BodyMode
  /** The most bytes of a body: the app's `maxBodySize` unless the route has its own. */
  readonly maxBodySize: number
  /**
   * The time limit of a request in milliseconds, 0 for no limit: the app's `requestTimeout` unless the route has its
   * own.
   */
  readonly requestTimeout: number
  /**
   * Is set where the route, a GET, is for WebSockets. Such routes are in a table of their own: a request that asks for a
   * WebSocket is looked up there alone, and no other request is. Paths of the two tables never conflict.
   */
  readonly socket?: SocketRoute | undefined
}

/**
 * Stands for a route id if no route answers. `upgradeRequired` says that a client asks for a WebSocket (a GET of
 * HTTP/1.1 whose Upgrade names `websocket` and whose Connection has `upgrade`, or an extended CONNECT of HTTP/2) on a
 * path without a route that has `socket`.
 */
export const Miss = { notFound: -1, methodNotAllowed: -2, options: -3, upgradeRequired: -4 } as const

/** The router policy; the defaults are those of Fastify and Hono. */
export interface RouterOptions {
  /** True keeps `/Users` and `/users` different paths. Default true. */
  readonly caseSensitive: boolean
  /** True lets `/users/` match `/users` as well. Default false: they are different paths. */
  readonly ignoreTrailingSlash: boolean
  /**
   * The methods that routes may have beside those of `Method`, in upper case: `['PROPFIND', 'PURGE']`. At most 24
   * names of up to 32 characters are allowed (RFC 9110 §5.6.2). Requests with other methods are 501. TRACE and CONNECT
   * cannot be among them; they are 405 everywhere. Default none.
   */
  readonly methods: readonly string[]
}

/** Every limit of docs/limits.md, resolved and checked, in milliseconds, bytes or counts. 0 means off where that is allowed. */
export interface Limits {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly handlerTimeout: number
  readonly sendTimeout: number
  readonly keepAliveTimeout: number
  readonly http2IdleTimeout: number
  readonly maxConnectionAge: number
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly tlsHandshakeTimeout: number
  readonly maxHandshakes: number
  readonly maxInFlight: number
  readonly maxHeaderSize: number
  readonly maxHeaderLine: number
  readonly maxHeaders: number
  readonly maxUrlLength: number
  readonly maxParamLength: number
  readonly maxQueryKeys: number
  readonly maxFormKeys: number
  readonly maxFormParts: number
  readonly maxFormFiles: number
  readonly maxFileSize: number
  readonly maxFieldSize: number
  readonly maxBodySize: number
  readonly maxBufferedBodies: number
  readonly maxBufferedReplies: number
  readonly maxPipelined: number
  readonly maxStreams: number
  readonly maxStreamResets: number
  readonly maxChunkExtensions: number
  readonly maxChunkExtensionsTotal: number
  readonly maxJsonDepth: number
  readonly drainLimit: number
  readonly drainTimeout: number
  readonly drainIdle: number
  readonly shutdownTimeout: number
  readonly maxMessageSize: number
  readonly maxFragments: number
  readonly socketIdleTimeout: number
  readonly maxSocketBuffer: number
  readonly closeTimeout: number
  readonly maxTopics: number
  readonly maxSocketsPerAddress: number
}

/** The framework, as an adapter calls it. */
export interface Host {
  readonly routes: readonly RouteEntry[]
  readonly router: RouterOptions
  readonly limits: Limits
  /**
   * Runs the handlers of route `id`, or of a `Miss`. `allow` is the bit set (by index in `methods`, then
   * `router.methods`) of the methods that the path allows, for 405 and OPTIONS. It never throws. The adapter calls it
   * once per request inside its own callback; the host enters the exchange's async context itself.
   */
  dispatch(exchange: Exchange, id: number, allow: number): void
}

/** A listener of the supervisor, and the socket by which it passes the connections. */
export interface PassedListener {
  readonly listener: number
  readonly port: number | null
  readonly host: string | null
  readonly path: string | null
  /** The descriptor of the socket that connections come by. */
  readonly connections: number
}

/** The address to listen at: `port` (0 picks a free one) and `host`, or `path` for a Unix socket. */
export interface ListenOptions {
  /** The port, 0 to 65535; 0, the default, picks a free one. */
  port?: number | undefined
  /** The host. Default `::` with dual stack where the machine has IPv6, else `0.0.0.0`. */
  host?: string | undefined
  /** The path of a Unix socket; a stale socket file is replaced, a live one is EADDRINUSE. */
  path?: string | undefined
  /** The descriptor of a socket that listens already, in place of an address. The server closes it. */
  fd?: number | undefined
  /**
   * A listener of the supervisor, in place of an address: the server gets its connections. `native` alone takes it.
   */
  passed?: PassedListener | undefined
  /** The length of the accept queue; default 511. */
  backlog?: number | undefined
  /** True refuses IPv4 on `::`. Default false. */
  ipv6Only?: boolean | undefined
  /**
   * True shares the port with other processes of this user that set it too (SO_REUSEPORT): the kernel spreads new
   * connections over them. It needs Linux; `node-http` needs Node.js 22.12 or 23.1. Where it is missing `listen`
   * rejects with `E_UNSUPPORTED`. Default false.
   */
  reusePort?: boolean | undefined
  /** Encrypts connections. Default: they are not encrypted. */
  tls?: TlsConfig | undefined
  /**
   * True speaks HTTP/2 as well as HTTP/1.1: with clients that choose it by ALPN if there is TLS, else with clients that
   * send its preface (RFC 9113 §3.3).
   */
  http2?: boolean | undefined
}

/** The address that a server listens at. */
export interface Address {
  /** The port; null for a Unix socket. */
  port: number | null
  /** The address it is bound to; null for a Unix socket. */
  host: string | null
  /** The socket file, `''` where it cannot be found; null for TCP. */
  path: string | null
  /** The URL: `http://host:port`, with TLS `https://host:port`, or `unix:path`. */
  url: string
}

/** The counters since start. Those that an adapter cannot know are absent. */
export interface ServerStats {
  /** The connections that are open now. */
  connections: number
  /** The requests without a complete reply. */
  inFlight: number
  /** The requests that were handed to handlers since start. */
  requests: number
  /** The requests that were refused before JavaScript saw them: malformed, past a limit, or one too many. */
  refused?: number
  /**
   * The connections and HTTP/2 streams that were reset because the bytes that wait to be sent had reached
   * `maxBufferedReplies`.
   */
  dropped?: number
  /** The panics caught in the engine; each closed one connection. */
  panics?: number
  /** The WebSockets that are open now. They are among the connections, and no longer in flight. */
  sockets?: number
}

/** A server of one app. */
export interface Server {
  listen(options: ListenOptions): Promise<Address>
  /**
   * Makes new connections use `config`. Open connections do not change. Throws `E_BAD_OPTION` if a certificate or a key
   * cannot be used; then nothing changes. Absent if the adapter has no TLS.
   */
  setTls?(config: TlsConfig): void
  /**
   * Accepts the connections that wait, and then no more. The last reply of each connection says `Connection: close`. Idle
   * connections are closed after `drainIdle` ms, by default the limit, once they were read again. Resolves as soon as
   * no connection is left; after `shutdownTimeout` the rest is reset. Calling it again returns the same promise.
   * WebSockets are closed with 1001 as soon as it is called.
   */
  close(drainIdle?: number): Promise<void>
  /** Sends a message to all sockets of this server that are subscribed to `topic`. Absent where an adapter has no sockets. */
  publish?(topic: string, data: string | Uint8Array): void
  stats(): ServerStats
  ref(): void
  unref(): void
}

export interface Adapter {
  /** The limits that this adapter cannot enforce. Who sets one is warned at start; docs/limits.md has the table. */
  readonly unenforced: readonly (keyof Limits)[]
  readonly name: 'native' | 'node-http' | 'uwebsockets'
  createServer(host: Host): Server
}
