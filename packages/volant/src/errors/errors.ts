/**
 * Every error that the framework raises itself, by code. `HTTPError` becomes a reply. `VolantError` reports a mistake
 * in the program (a second reply, a bad option) and becomes a 500 if nothing catches it. The file is long because it is
 * one table: each code has its status, meaning and remedy.
 */
import { phrases } from './phrases.ts'
import { briefValue } from './brief-value.ts'

/** A row of the error table. `status` is the status of the reply; it is 0 for errors that are never a reply. */
interface ErrorRow {
  readonly status: number
  readonly meaning: string
  /** The remedy, where it does not follow from the meaning. */
  readonly remedy?: string
}

/** The framework's codes with their status and meaning. The reference page is made from this table. */
export const errorTable = {
  E_BAD_REQUEST: { status: 400, meaning: 'The request is malformed.' },
  E_BATCH_SIZE: {
    status: 400,
    meaning: 'The tRPC batch has more calls than maxBatchSize.',
    remedy: 'Give maxItems to the link of the client, or raise maxBatchSize of trpc().',
  },
  E_BODY_ENCODING: { status: 400, meaning: 'The body is not valid UTF-8.' },
  E_BODY_MALFORMED: {
    status: 400,
    meaning: 'The body is not what its content type says.',
    remedy: 'The client sent broken JSON or a broken form, or named the wrong content type.',
  },
  E_BODY_TOO_LARGE: {
    status: 413,
    meaning: 'The body is larger than maxBodySize.',
    remedy: 'Raise maxBodySize of this route, not of the app; stream large uploads with bodyMode.',
  },
  E_BODY_TOO_MANY_KEYS: {
    status: 400,
    meaning: 'The form has more than maxFormKeys keys.',
    remedy: 'Raise maxFormKeys of this route.',
  },
  E_BODY_TYPE: {
    status: 415,
    meaning: 'The body has a content type, charset or encoding that is not read.',
    remedy:
      'The client should send JSON, a form, text or bytes in UTF-8, and uncompressed unless decompress() of volant/compress is used. multipart/form-data is read by `await ctx.form()`, or part by part with `ctx.parts()`; ctx.bodyBytes has a body of any type.',
  },
  E_CODING_SYNTAX: { status: 400, meaning: 'Transfer-Encoding is malformed.' },
  E_CODING_UNKNOWN: { status: 501, meaning: 'Transfer-Encoding has a coding other than chunked.' },
  E_CODING_VERSION: { status: 400, meaning: 'Transfer-Encoding in HTTP/1.0.' },
  E_CREDENTIALS_MALFORMED: {
    status: 400,
    meaning: 'The credentials of the request cannot be read.',
    remedy:
      'Authorization may be sent once, as `Bearer` or `Basic` with one token after it. The detail says what is wrong.',
  },
  E_CSRF: {
    status: 403,
    meaning:
      'A page of another origin sent the request, or it does not have the token of its form; the detail says which.',
    remedy:
      'csrf({ origins }) lists the origins whose pages may send requests. A form with a token that is old is loaded again.',
  },
  E_EXPECTATION: { status: 417, meaning: 'Expect has a value other than 100-continue.' },
  E_FIELD_LINE_TOO_LONG: {
    status: 431,
    meaning: 'A header line is longer than maxHeaderLine.',
    remedy: 'Usually a cookie that has grown: make it smaller, or raise maxHeaderLine.',
  },
  E_FORBIDDEN: {
    status: 403,
    meaning: 'The credentials do not allow this request.',
    remedy: 'The detail names the scope or the role that is needed.',
  },
  E_FORM_TOO_LARGE: {
    status: 413,
    meaning: 'A form has too many parts or files, or one of them is too large; the detail names the limit.',
    remedy:
      'Raise maxFormParts, maxFormFiles, maxFileSize or maxFieldSize of this route, or of the call that reads the form.',
  },
  E_HANDLER_TIMEOUT: {
    status: 503,
    meaning: 'The handler did not reply within handlerTimeout, or within the time of timeout().',
    remedy: 'Find what the handler waits for, pass it ctx.signal, or raise handlerTimeout of this route.',
  },
  E_HEADERS_TIMEOUT: { status: 408, meaning: 'The request head did not arrive within headersTimeout.' },
  E_HEAD_TOO_LARGE: {
    status: 431,
    meaning: 'The request head is larger than maxHeaderSize.',
    remedy: 'Usually cookies: make them smaller, or raise maxHeaderSize.',
  },
  E_HOST_MISSING: { status: 400, meaning: 'Host is missing.' },
  E_HOST_NOT_ALLOWED: {
    status: 421,
    meaning: 'The host that the request names is none of those this server answers for.',
    remedy:
      'Ask by a name that allowedHosts() or httpsRedirect() has. Behind a proxy, let trustProxy name it, or let it pass Host on.',
  },
  E_HOST_REPEATED: { status: 400, meaning: 'Host is given more than once.' },
  E_HOST_SYNTAX: { status: 400, meaning: 'Host is malformed.' },
  E_HTTPS_REQUIRED: {
    status: 403,
    meaning: 'The request came by http:, and its method is none that is redirected.',
    remedy:
      'Ask by https:. What this request said was readable on its way: replace a password that was in it.',
  },
  E_IDEMPOTENCY_BUSY: {
    status: 409,
    meaning: 'A request with the same Idempotency-Key is still at work.',
    remedy: 'Retry-After says when to ask again.',
  },
  E_IDEMPOTENCY_KEY: {
    status: 400,
    meaning: 'Idempotency-Key is missing where it is required, or is not one text of 1 to 255 characters.',
    remedy:
      'A client makes a UUID for each request that is to run once, and sends it again with its repetitions.',
  },
  E_IDEMPOTENCY_LOST: {
    status: 409,
    meaning: 'The request with this Idempotency-Key was carried out, and its reply was not kept.',
    remedy:
      'Replies that are streams, files or longer than maxReplySize of idempotency() are not kept. The client asks for the result in another way.',
  },
  E_IDEMPOTENCY_REUSED: {
    status: 422,
    meaning: 'The Idempotency-Key came with another request before.',
    remedy:
      'A repetition has the same method, URL and body, byte by byte; what makes another body each time needs the option fingerprint.',
  },
  E_IDEMPOTENCY_STORE: {
    status: 503,
    meaning: 'The store of idempotency keys does not answer, or lost a key while its request ran.',
    remedy:
      "The error that was reported says what the store did. With onStoreError: 'allow' requests run meanwhile, and so do their repetitions.",
  },
  E_IP_DENIED: {
    status: 403,
    meaning: 'The address of the client is not allowed.',
    remedy: 'Behind a proxy, ctx.ip is the address of the proxy until trustProxy names it.',
  },
  E_JSON_DEPTH: {
    status: 400,
    meaning: 'The JSON body is nested deeper than maxJsonDepth.',
    remedy: 'Raise maxJsonDepth of this route if such data is expected.',
  },
  E_JSON_PROTO: { status: 400, meaning: 'The JSON body has a key named __proto__.' },
  E_KEY_SET: {
    status: 503,
    meaning: 'Tokens cannot be verified, because the key set of their issuer cannot be had.',
    remedy:
      'The error that was reported says what happened to the request for it. Retry-After says when it is asked for again.',
  },
  E_METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path exists, but not for this method.',
    remedy: 'Allow names the methods there are.',
  },
  E_METHOD_UNKNOWN: {
    status: 501,
    meaning: 'The method is not one the server knows.',
    remedy: 'If routes are to have it, name it in the router option methods.',
  },
  E_MISDIRECTED: {
    status: 421,
    meaning: 'The request came by a connection that has the certificate of another host.',
    remedy:
      "Clients of HTTP/2 repeat it on a connection of its own. A proxy should send the request's host as server name (SNI).",
  },
  E_NOT_FOUND: {
    status: 404,
    meaning: 'No route has this path.',
    remedy:
      'app.routes() lists the routes. Case and a slash at the end count unless the router option says otherwise.',
  },
  E_ORIGIN_NOT_ALLOWED: {
    status: 403,
    meaning: 'A page of another origin asked for the WebSocket.',
    remedy:
      'app.ws(path, { origins }) lists the origins whose pages may. Behind a proxy that changes Host, createApp({ trustProxy }) has this server know its own name.',
  },
  E_NO_WORKER: {
    status: 503,
    meaning: 'No worker of the supervisor has been ready for 10 s, or all of them were told to leave.',
    remedy: 'The lines of the supervisor on stderr say why workers ended, hang, or do not start.',
  },
  E_OVERLOADED: {
    status: 503,
    meaning: 'The server is past maxInFlight or maxBufferedBodies.',
    remedy:
      'The server is too slow for its load, or handlers hang: look at app.stats() before raising a limit.',
  },
  E_PARAM_TOO_LONG: {
    status: 414,
    meaning: 'A path parameter is longer than maxParamLength.',
    remedy: 'Raise maxParamLength.',
  },
  E_PASSWORD_QUEUE: {
    status: 503,
    meaning: 'Too many passwords wait to be hashed or checked.',
    remedy: 'Put rateLimit() in front of the sign-in. Two are hashed at once, and a hundred wait.',
  },
  E_PRECONDITION: {
    status: 412,
    meaning: 'The content is not what If-Match or If-Unmodified-Since asks for.',
  },
  E_PROFILE_RUNNING: {
    status: 409,
    meaning: 'A CPU profile is being taken, and the process takes one at a time.',
    remedy: 'Ask again when it has ended.',
  },
  E_QUERY_TOO_MANY_KEYS: {
    status: 400,
    meaning: 'The query has more than maxQueryKeys keys.',
    remedy: 'Raise maxQueryKeys of this route.',
  },
  E_RANGE: { status: 416, meaning: 'The file has none of the bytes Range asks for.' },
  E_RATE_LIMITED: {
    status: 429,
    meaning: 'The client sent more requests than a limit allows.',
    remedy: 'Retry-After says when the next one may come.',
  },
  E_RATE_LIMIT_STORE: {
    status: 503,
    meaning: "The store of a rate limit does not answer, and its onStoreError is 'deny'.",
    remedy:
      'The error that was reported says what the store did. With local or allow requests pass meanwhile.',
  },
  E_REQUEST_TIMEOUT: {
    status: 408,
    meaning: 'The request did not arrive within requestTimeout.',
    remedy: 'The network or the client is slow; raise requestTimeout for large uploads.',
  },
  E_SESSION_ENDED: {
    status: 409,
    meaning:
      'The session ended while the request ran, or a sign-in took its place: what the request changed in it was not kept.',
    remedy: 'The client asks again, with the cookie that it has by then.',
  },
  E_SESSION_STORE: {
    status: 503,
    meaning: 'The store of sessions does not answer.',
    remedy: 'The error that was reported says what the store did. Retry-After says when to ask again.',
  },
  E_SERVER_CLOSING: {
    status: 503,
    meaning: 'The server is closing, and opens no WebSocket any more.',
    remedy: 'Connect again: another process, or the next one, answers.',
  },
  E_SOCKETS_MISSING: {
    status: 501,
    meaning:
      'What answers this request cannot open a WebSocket: app.inject and app.fetch cannot, nor can the adapter in use.',
    remedy: 'Listen on a free port (port 0) in tests; docs/adapters.md says which adapters have WebSockets.',
  },
  E_STORAGE_FULL: {
    status: 507,
    meaning: 'A file of a form cannot be stored: the disk is full, or the quota of its user.',
    remedy: 'Make room. The error has that of the system as its cause.',
  },
  E_TARGET_TOO_LONG: {
    status: 414,
    meaning: 'The target is longer than maxUrlLength.',
    remedy: 'Send data in a body rather than in the query, or raise maxUrlLength.',
  },
  E_TLS_REQUIRED: {
    status: 400,
    meaning: 'A request without TLS came to a port that speaks TLS.',
    remedy: 'Ask for https:, not http:. redirectHttp of listen() redirects clients from a second port.',
  },
  E_TOO_BUSY: {
    status: 503,
    meaning: 'The process is past a limit of tooBusy().',
    remedy: 'Retry-After says when to ask again; stats() of the middleware says which limit it is past.',
  },
  E_TOO_MANY_FIELDS: {
    status: 431,
    meaning: 'The request has more than maxHeaders header fields.',
    remedy: 'Raise maxHeaders if a proxy adds so many.',
  },
  E_TOO_MANY_SOCKETS: {
    status: 429,
    meaning: 'The client has maxSocketsPerAddress open WebSockets.',
    remedy:
      'Close some of them, or raise maxSocketsPerAddress. Behind a proxy, trustProxy tells clients apart.',
  },
  E_UNAUTHORIZED: {
    status: 401,
    meaning: 'The request needs credentials, or those that it has are not accepted.',
    remedy: 'WWW-Authenticate names the ways to authenticate. Sign in again where a token has expired.',
  },
  E_UPGRADE_REQUIRED: {
    status: 426,
    meaning:
      'The request asks for a WebSocket (Upgrade: websocket) at a path that has none, or asks without Upgrade for a path that has only that.',
    remedy: 'Upgrade of the reply names the protocol to ask for. app.ws(path, …) registers a WebSocket.',
  },
  E_VALIDATION: {
    status: 400,
    meaning: 'The request is not what its schemas ask for; `errors` says where.',
    remedy: 'Correct what `errors` names.',
  },
  E_VERSION_UNKNOWN: { status: 505, meaning: 'The HTTP version is neither 1.0 nor 1.1.' },
  E_WEBSOCKET_HANDSHAKE: {
    status: 400,
    meaning:
      'The request asks for a WebSocket and has a body, or a malformed Sec-WebSocket-Protocol; the detail says which.',
  },
  E_WEBSOCKET_KEY: {
    status: 400,
    meaning: 'Sec-WebSocket-Key is missing, repeated, or not 16 bytes in base64.',
  },
  E_WEBSOCKET_VERSION: {
    status: 426,
    meaning: 'Sec-WebSocket-Version is not 13, the one of RFC 6455.',
    remedy: 'Use a client of RFC 6455, as all of today are.',
  },

  E_ABORTED: {
    status: 0,
    meaning: 'The client left before its body was complete.',
    remedy: 'Nothing: stop working on the request.',
  },
  E_ADAPTER: {
    status: 0,
    meaning: 'The adapter asked for cannot be used here.',
    remedy: 'The message says why. Leave the adapter option out to run on node:http in its place.',
  },
  E_ALREADY_LISTENING: {
    status: 0,
    meaning: 'listen() was called before; an app has one server.',
    remedy: 'Make a second app for a second address. An app that was closed does not listen again.',
  },
  E_ALREADY_REPLIED: {
    status: 0,
    meaning: 'The request has its reply already; the first one stands, and this is dropped.',
    remedy:
      'Return after replying, and do not both reply and return a value. A handler that returns nothing has replied 204: return or await what it starts. A header or status that depends on the reply is set in an onSend hook, see docs/guide/06-middleware.md#onsend.',
  },
  E_AUTH_MISSING: {
    status: 0,
    meaning: 'requireScope() or requireRole() ran without an authentication in front of it.',
    remedy:
      'Put bearer(), anyOf() or another authentication in front: app.with(bearer(…)).with(requireScope(…)).',
  },
  E_BAD_COOKIE: { status: 0, meaning: 'A cookie to be set has a forbidden name, value or option.' },
  E_BAD_EVENT: {
    status: 0,
    meaning: 'A server-sent event has a field that cannot be sent.',
    remedy: 'Line breaks belong in data alone, and an id has no NUL. The message names the field.',
  },
  E_BAD_HEADER: {
    status: 0,
    meaning: 'A reply header has a forbidden name or value.',
    remedy:
      "Check or encode values that come from outside. Date, Content-Length and Connection are the server's.",
  },
  E_BAD_HANDLER: {
    status: 0,
    meaning: 'A handler or middleware is not a function, or one of another framework.',
    remedy:
      'The message says which one: often an import that is undefined, or a call where its function was meant.',
  },
  E_BAD_OPTION: {
    status: 0,
    meaning: 'An option has a value that makes no sense.',
    remedy: 'The message names the option, what it was given and what it takes.',
  },
  E_BAD_SCHEMA: {
    status: 0,
    meaning: 'A schema is neither a Standard Schema nor JSON Schema, or there is a mistake in it.',
    remedy:
      "Give the schema itself, of a library with '~standard' (Zod from 3.24 on, Valibot 1, ArkType 2), or JSON Schema (TypeBox). The message says where the mistake is.",
  },
  E_BAD_STATUS: {
    status: 0,
    meaning: 'A status is not an integer in the range it may have.',
    remedy: 'Replies have 200 to 599, errors 400 to 599.',
  },
  E_CONNECT_UNSUPPORTED: {
    status: 0,
    meaning: 'A connect or Express middleware called something that fromConnect does not support.',
    remedy:
      'The message names it, and what to do in its place; docs/guide/26-connect-middleware.md lists all.',
  },
  E_NOT_IMPLEMENTED: {
    status: 0,
    meaning: 'A contract that the app exposes has no handler.',
    remedy: 'app.implement(contract, handler) for each of those the message names.',
  },
  E_OPERATION_ID: {
    status: 0,
    meaning: 'Two routes have the same operationId.',
    remedy: 'The message names both routes: give one of them another operationId.',
  },
  E_RESPONSE_INVALID: {
    status: 0,
    meaning: 'A reply, or the data of an error, is not what its schema says.',
    remedy: 'The message says where and what was expected: correct the handler, or the schema.',
  },
  E_RESPONSE_STATUS: {
    status: 0,
    meaning: 'A handler replied with a status its route does not declare.',
    remedy: 'Add it to `response`, null for a reply without content; errors are declared in `errors`.',
  },
  E_RESPONSE_UNDECLARED: {
    status: 0,
    meaning: 'A reply has a property its schema does not name.',
    remedy:
      'Declare it or leave it out. In production such properties are not sent and nothing is thrown; `undeclaredProperties` of createApp decides.',
  },
  E_UNDECLARED_ERROR: {
    status: 0,
    meaning: 'ctx.fail was given a code that neither the route nor its middleware declares.',
    remedy: 'Add the code to `errors` of the route, or of the middleware in front of it.',
  },
  E_BODY_STREAMED: { status: 0, meaning: 'The body of this route is a stream: use ctx.bodyStream.' },
  E_BODY_USED: {
    status: 0,
    meaning: 'The body was already read as a stream.',
    remedy: 'Read the body once, or keep what was read.',
  },
  E_BODY_UNREAD: {
    status: 0,
    meaning:
      'The body is not there yet: the authentication or the beforeBody check of its route comes first.',
    remedy: 'Look at the body in the handler, or in middleware behind these.',
  },
  E_BUS: {
    status: 0,
    meaning: 'Messages do not reach other processes, or do not come from them. It is reported, never thrown.',
    remedy:
      'The message says why, and the stats of the bus say how many. What was lost is a gap for those who missed it.',
  },
  E_LISTEN: {
    status: 0,
    meaning: 'The address cannot be listened on.',
    remedy: 'The message says what the system says of it: take another port or address, or end who has it.',
  },
  E_MIDDLEWARE_CONFLICT: {
    status: 0,
    meaning: 'Two middlewares of one chain would both encode its replies.',
    remedy: 'The message names both places: keep one of them.',
  },
  E_NEXT_MISSING: {
    status: 0,
    meaning: 'A middleware neither called next() nor replied.',
    remedy: 'Return or await next(); a check without next is before(fn).',
  },
  E_NEXT_LATE: {
    status: 0,
    meaning: 'A middleware called next() when it was done and the request had its reply.',
    remedy: 'Return or await what calls next(): make a promise of a callback, and await that.',
  },
  E_NEXT_TWICE: {
    status: 0,
    meaning: 'A middleware called next() more than once.',
    remedy: 'Call next() once; `await` it, or return it.',
  },
  E_NOT_SERIALISABLE: {
    status: 0,
    meaning: 'A value cannot be written as JSON, or a chunk is neither string nor bytes.',
    remedy:
      'The message says where it is. Convert Map, Set, BigInt and functions before, leave cycles out; give a schema or a toJSON.',
  },
  E_PASSWORD_HASH: {
    status: 0,
    meaning: 'A hash of a password cannot be read or checked.',
    remedy:
      'The message says why: it is of another format, it would cost too much, or this version of Node.js has no argon2.',
  },
  E_PROCEDURE_CONTEXT: {
    status: 0,
    meaning: 'The context of a procedure has no such member.',
    remedy:
      'A procedure takes its input and returns its output, however it is called; middleware throws errors. What concerns the request as a whole is middleware of the app.',
  },
  E_REPLY_TOO_LARGE: {
    status: 0,
    meaning: 'A reply that is not a stream is larger than maxBufferedReplies; 500 was sent in its place.',
    remedy: 'Stream it with ctx.stream or ctx.file, or raise maxBufferedReplies.',
  },
  E_RESET: {
    status: 0,
    meaning: 'The reply was cut off: its source failed after the head was sent.',
    remedy: 'Its cause was reported before.',
  },
  E_ROUTE_CONFLICT: {
    status: 0,
    meaning: 'There is a route for the same method and the same paths.',
    remedy: 'A RouteConflictError, which names both: remove one of them, or make their static text differ.',
  },
  E_ROUTE_PATTERN: {
    status: 0,
    meaning: 'A pattern cannot be a route.',
    remedy: 'A RoutePatternError; the message says what is wrong with the pattern.',
  },
  E_SESSION_LATE: {
    status: 0,
    meaning: 'A session was changed after the reply had left, with which it would have been written.',
    remedy: 'Change it before replying: a stream has left once its first bytes are sent.',
  },
  E_SESSION_TOO_LARGE: {
    status: 0,
    meaning: 'A session has more bytes than a cookie, or the store, may have.',
    remedy:
      'Keep an id in the session, and the rest in the database; a sealed cookie has 4,096 bytes at most.',
  },
  E_SESSION_UNREAD: {
    status: 0,
    meaning: 'A session was used that was not read from its store.',
    remedy: 'Call `await ctx.state.session.load()` before, or leave the option lazy out.',
  },
  E_SOCKET_CLOSE: {
    status: 0,
    meaning: 'A WebSocket was to be closed with a code or reason that no close frame can have.',
    remedy: 'Codes are 1000 to 1003, 1007 to 1014 and 3000 to 4999; a reason has at most 123 bytes of UTF-8.',
  },
  E_SOCKET_MESSAGE: {
    status: 0,
    meaning: 'A message is neither text nor bytes.',
    remedy: 'ws.json(value) sends any value as JSON. A route with a schema `out` sends values of it.',
  },
  E_SOCKET_TOPIC: {
    status: 0,
    meaning:
      'A topic is not a text of 1 to 1,024 characters, or a WebSocket subscribed to more than maxTopics.',
    remedy: 'Unsubscribe from topics that are not needed any more, or raise maxTopics.',
  },
  E_STARTED: {
    status: 0,
    meaning: 'Something was registered after the app had started to listen, or was closed.',
    remedy: 'Register before listen(); an async plugin may register until it resolves.',
  },
  E_UNSUPPORTED: {
    status: 0,
    meaning: 'The adapter in use cannot do this.',
    remedy: 'Leave the call out, or use an adapter that can; docs/adapters.md has the table.',
  },
} as const satisfies Record<string, ErrorRow>

/** A code of `errorTable`. */
export type ErrorCode = keyof typeof errorTable

/** A mistake in the program, with a code of `errorTable`. It is never shown to clients. */
export class VolantError extends Error {
  /** The code, one of `errorTable`. */
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string = errorTable[code].meaning, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'VolantError'
    this.code = code
  }
}

/** The options of an `HTTPError` beside its status and message. */
export interface HTTPErrorOptions {
  /** A machine-readable name. It is `code` in the reply's body. */
  code?: string | undefined
  /** The headers of the reply, for example `{ 'retry-after': '5' }`. */
  headers?: Record<string, string> | undefined
  /** Any value that JSON can carry. It is `data` in the reply's body. */
  data?: unknown
  /** The error behind this one. It is never sent. */
  cause?: unknown
  /** True sends message, code and data. Default: true for 4xx, false for 5xx. */
  expose?: boolean | undefined
}

/**
 * An error that a handler or middleware throws to reply with it (RFC 9457). `status` is an integer from 400 to 599;
 * `message` defaults to the status phrase.
 */
export class HTTPError extends Error {
  /** The status, from 400 to 599. */
  readonly status: number
  /** The machine-readable name, `code` in the reply. */
  readonly code: string | undefined
  /** The headers of the reply. */
  readonly headers: Record<string, string> | undefined
  /** The `data` in the reply. */
  readonly data: unknown
  /** True where message, code and data are sent. */
  readonly expose: boolean

  constructor(status: number, message?: string, options: HTTPErrorOptions = {}) {
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new VolantError(
        'E_BAD_STATUS',
        `HTTPError takes a status from 400 to 599, not ${briefValue(status)}`,
      )
    }
    super(
      message ?? phrases[status] ?? 'Error',
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'HTTPError'
    this.status = status
    this.code = options.code
    this.headers = options.headers
    this.data = options.data
    this.expose = options.expose ?? status < 500
  }
}

/** A mistake in a request. */
export interface Issue {
  /** The part of the request: `params`, `query`, `headers`, `cookies` or `body`. */
  readonly in: string
  /** The position in the part, as a JSON Pointer in a URI fragment (RFC 6901 §6), for example `#/address/city`. */
  readonly pointer: string
  /** The message of the schema. */
  readonly detail: string
}

/** The error of a request that does not pass its schemas: a 400 that lists the issues of all parts in `errors`. */
export class ValidationError extends HTTPError {
  /** The issues, at most 100. */
  readonly issues: readonly Issue[]

  /** `note` is added to the message, for example how the body was read. */
  constructor(issues: readonly Issue[], note?: string) {
    super(400, `The request is not valid${note === undefined ? '' : `; ${note}`}`, { code: 'E_VALIDATION' })
    this.name = 'ValidationError'
    this.issues = issues
  }
}

/**
 * Gives the `HTTPError` for a code of the table that has a status. Its stack has no frames: they would be those of the
 * framework, and cost 7 µs, ten times the rest of the error, where a flood is to be refused.
 */
export function refusal(
  code: ErrorCode,
  detail?: string,
  headers?: Record<string, string>,
  cause?: unknown,
): HTTPError {
  const { stackTraceLimit } = Error
  // A frozen Error takes no notice of `set`.
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    const { status, meaning } = errorTable[code]
    return new HTTPError(status, detail ?? meaning, { code, headers, cause, expose: true })
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }
}
