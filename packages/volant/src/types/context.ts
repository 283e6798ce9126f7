/** The context of a request as its handlers and middleware see it. */
import type { X509Certificate } from 'node:crypto'
import type { EventsOptions, EventsSource } from './events.ts'
import type { CookieOptions, FileOptions, Hints, Source, StreamOptions } from './reply-options.ts'
import type { Form, FormLimits, FormPart } from './form.ts'
import type { Log } from './log.ts'
import type {
  AnyParts,
  FailArguments,
  Failing,
  JSONArguments,
  Parts,
  Replied,
  ReplyArguments,
  StatusOf,
} from './parts.ts'

/**
 * The context of a request. `Context` is that of any route; `Context<{ params: { id: string }; body: User }>` is one
 * whose parts are known. A handler written where it is registered gets its types from pattern, schemas and middleware.
 */
export type Context<T extends Partial<Parts> = {}> = ContextOf<Full<T>>

type Full<T> = [keyof T] extends [never]
  ? AnyParts
  : {
      params: Part<T, 'params'>
      query: Part<T, 'query'>
      headers: Part<T, 'headers'>
      cookies: Part<T, 'cookies'>
      body: Part<T, 'body'>
      state: Part<T, 'state'>
      responses: Part<T, 'responses'>
      errors: Part<T, 'errors'>
    }

type Part<T, K extends keyof Parts> = K extends keyof T ? T[K] : AnyParts[K]

/** The result of a TLS handshake. */
export interface TlsConnection {
  /** The version of TLS. */
  readonly version: 'TLSv1.2' | 'TLSv1.3'
  /** The OpenSSL name of the cipher suite. */
  readonly cipher: string
  /** The protocol that the client chose (ALPN): `h2` or `http/1.1`; null if it did not choose. */
  readonly alpn: string | null
  /** The host that the client asked for (SNI), in lower case; null if it asked for none. */
  readonly serverName: string | null
  /** True if the client resumed an earlier session. */
  readonly resumed: boolean
  /** The certificate of the client, issued by an authority of `ca`; null if it sent none. */
  readonly peer: X509Certificate | null
}

/**
 * A handler sees its request through a context, and replies with it. `T` types the parts of the request.
 *
 * A reply is sent the moment it is given: headers and status come before it, and `await next()` in a middleware
 * returns after it. The first reply stands: what comes after it, a second reply or a header, is dropped and reported as
 * `E_ALREADY_REPLIED`. Replies to a client that left are dropped.
 */
export interface ContextOf<T extends Parts> {
  /** The method of the request, in upper case. */
  readonly method: string
  /**
   * The canonical path, as the router matched it: unreserved characters are decoded, other escapes are in upper-case
   * hex.
   */
  readonly path: string
  /** `path`, followed by the query as it was sent if there is one. */
  readonly url: string
  /** The HTTP version of the request. */
  readonly httpVersion: '1.0' | '1.1' | '2'
  /** The pattern of the route with the prefixes of its scopes. It is null where no route was found. */
  readonly pattern: string | null
  /**
   * The decoded parameters of the pattern, on an object without prototype. An absent optional parameter has no
   * property.
   */
  readonly params: T['params']
  /**
   * The query, on an object without prototype. A repeated name has an array of values. Throws 400 past `maxQueryKeys`.
   */
  readonly query: T['query']
  /**
   * The request's headers by lower-case name, on an object without prototype; repeated headers are joined.
   * `headers.host` is Host as it was sent; use `ctx.host` for the host that the framework works with.
   */
  readonly headers: T['headers']
  /** The cookies by name, decoded. Of cookies with one name the first is taken. */
  readonly cookies: T['cookies']
  /**
   * The address of the client: with `trustProxy` the first address that is not a trusted proxy's, else that of the
   * peer. It is empty on a Unix socket.
   */
  readonly ip: string
  /** The addresses from the client to the peer of the connection. There is more than one only with `trustProxy`. */
  readonly ips: readonly string[]
  /** The protocol is `https` if the connection is encrypted, unless a trusted proxy says which one the client used. */
  readonly protocol: 'http' | 'https'
  /**
   * The result of the connection's TLS handshake, and the certificate of the client. It is null if the connection to
   * this server is not encrypted, even if a proxy reports https.
   */
  readonly tls: TlsConnection | null
  /**
   * The name or address that the client addressed, with its port if it gave one. It is what a trusted proxy says, else
   * the authority of a target in absolute form (`GET http://a/x`, RFC 9112 §3.2.2), else Host. Its case is kept. It may
   * be empty.
   */
  readonly host: string
  /**
   * The id of the last event that the client saw before it connected again: Last-Event-ID. It is undefined at the first
   * connection. The client can send any text.
   */
  readonly lastEventId: string | undefined
  /** The id of the request. It is unique in this process and, by its random prefix, among processes. */
  readonly id: string
  /**
   * The app's logger, with the id of this request in each line: `ctx.log.info({ orderId }, 'paid')`,
   * `ctx.log.error(error, 'failed')`. It is made when it is first read.
   */
  readonly log: Log
  /** The values that middleware passes on, typed by what the middleware of the scope declare. */
  readonly state: T['state']
  /**
   * This signal is aborted once: when the client closes or resets the connection, when the handler's time is over, or
   * when the app closes. A closing app aborts it at once if the reply is a stream without a length that has begun, else
   * after `shutdownTimeout`, since the handler may still reply. Its reason is an `AbortError`.
   */
  readonly signal: AbortSignal
  /**
   * The request as a web `Request`. It shares its body with this context: read one or the other. `formData()` rejects
   * with 415 `E_BODY_TYPE` for a body that is not a form. `formData()` and `json()` reject with 400 `E_BODY_MALFORMED`
   * for a broken one.
   */
  readonly request: Request

  /**
   * The body, parsed by its content type: JSON, form, text or bytes. It is undefined without a body, and is read
   * synchronously. Throws 400 if it is malformed and 415 for any other content type. Assign to it to pass on a checked
   * value.
   */
  body: T['body']
  /** The body decoded as UTF-8, whatever its type is. */
  readonly bodyText: string
  /** The bytes of the body, whatever its type is. */
  readonly bodyBytes: Buffer
  /**
   * The body as it arrives, on routes with `bodyMode: 'stream'`. On other routes it is the complete body in one chunk.
   */
  readonly bodyStream: ReadableStream<Uint8Array>

  /**
   * The trailer fields of the request by lower-case name, on an object without prototype; values of repeated fields are
   * joined. They come behind the body: before `ctx.bodyStream` has ended there are none. Bodies that are not streamed
   * have none either, and on the adapter uwebsockets no body has any. Fields of framing, routing, authentication and
   * the content are refused or left out (RFC 9110 §6.5.1).
   */
  readonly trailers: Readonly<Record<string, string | undefined>>

  /**
   * Reads a form of type multipart/form-data or application/x-www-form-urlencoded into memory: `const { title, photo } =
   * await ctx.form()`. Fields are text, files are a `File`, and a repeated name has an array. It may be called again,
   * and gives the same form. Rejects with 415 `E_BODY_TYPE` for another type, 400 `E_BODY_MALFORMED` for a broken form,
   * 413 `E_FORM_TOO_LARGE` for one past a limit.
   */
  form(options?: FormLimits): Promise<Form>
  /**
   * Gives the parts of a form of type multipart/form-data one after the other: `for await (const part of ctx.parts())`.
   * With `bodyMode: 'stream'` they come as they arrive, however large they are, and as fast as they are read. The loop
   * throws what `form` rejects with, and `E_ABORTED` when the client leaves.
   */
  parts(options?: FormLimits): AsyncGenerator<FormPart, void, undefined>

  /** Gives all values of a name in the query, in their order, or an empty array. Schemas do not change them. */
  queryAll(name: string): string[]
  /**
   * Gives the one of `types` that the client prefers, or false: `ctx.accepts('json', 'html')`. It takes full media
   * types and the names css, csv, form, html, js, json, pdf, problem, svg, text and xml. Without Accept every type is
   * acceptable. The reply then depends on the request: `ctx.append('vary', 'accept')`.
   */
  accepts<const T extends string>(...types: T[]): T | false
  /** Gives the one of `tags` that the client prefers, or false. `en` also serves a client that asked for `en-GB`. */
  acceptsLanguages<const T extends string>(...tags: T[]): T | false
  /** Gives the one of `codings` that the client prefers, or false: `ctx.acceptsEncodings('br', 'gzip', 'identity')`. */
  acceptsEncodings<const T extends string>(...codings: T[]): T | false

  /** True once there is a reply. */
  readonly replied: boolean
  /** Gives the status that was set or sent. It is 200 unless another was set. */
  status(): number
  /** Sets the status of the reply to come: an integer from 200 to 599. */
  status(code: number): this
  /**
   * Sets a header of the reply to come and replaces earlier values of the name. Vary is the exception: names are added
   * to it, since the reply still depends on what was named before. Throws `E_BAD_HEADER`.
   */
  header(name: string, value: string | number): this
  /** Adds a header beside those of the same name, for example a second Set-Cookie. */
  append(name: string, value: string | number): this
  /**
   * Sets a cookie; its value is percent-encoded. Unless `options` say otherwise it has Path=/, HttpOnly and
   * SameSite=Lax, and Secure if the request came over TLS. Throws `E_BAD_COOKIE`, also for cookies that browsers would
   * drop.
   */
  cookie(name: string, value: string, options?: CookieOptions): this
  /** Deletes a cookie. Give the path and domain that it was set with, if any. */
  clearCookie(name: string, options?: CookieOptions): this
  /**
   * Sets a trailer, a field that is sent behind the body: `ctx.trailer('x-checksum', hash.digest('hex'))`. It may be
   * called until the body has ended, and replaces earlier values of the name; an array is sent as several fields. A
   * reply with trailers is sent without Content-Length, over HTTP/1.1 in chunks. Trailers are dropped if a reply cannot
   * have them: in HTTP/1.0, to HEAD, with status 204, 205 or 304, or a stream with a declared length. They are also
   * dropped if an error is answered instead of the reply. Throws `E_BAD_HEADER`, also for fields that must be in the
   * head (RFC 9110 §6.5.1), and `E_UNSUPPORTED` on the adapter uwebsockets.
   */
  trailer(name: string, value: string | number | readonly string[]): this
  /**
   * Sends 103 Early Hints (RFC 8297): headers that a browser may act on while the handler still works, mostly Link
   * fields that preload. It may be called several times. Hints are not part of the reply, which must repeat the headers
   * it needs. Clients of HTTP/1.0 get no hints, and hints that would wait behind 16 KiB of others are dropped. Throws
   * `E_BAD_HEADER`, and `E_UNSUPPORTED` on the adapter uwebsockets.
   */
  earlyHints(headers: Hints): void

  /**
   * Replies with JSON. Throws `E_NOT_SERIALISABLE` for a value that JSON cannot carry; the request then still has no
   * reply. Where the route declares `response`, the value is checked as a returned one is.
   */
  json(...value: JSONArguments<T['responses']>): Replied<StatusOf<T['responses']>>
  /** Replies with text/plain in UTF-8. */
  text(value: string, status?: number): void
  /** Replies with text/html in UTF-8. It escapes nothing. */
  html(value: string, status?: number): void
  /** Replies with bytes, as application/octet-stream unless a content type was set. */
  bytes(value: Uint8Array | ArrayBuffer, status?: number): void
  /**
   * Streams chunks with back-pressure and cancels the source when the client disconnects. The head is sent at once; the
   * head for a generator that a handler returns waits for the first chunk.
   */
  stream(source: Source, options?: StreamOptions): void
  /**
   * Replies with server-sent events: text/event-stream, which no cache keeps and no proxy gathers. The source is a
   * generator or another iterable of events, or a function that gets the stream and sends by itself:
   *
   *     ctx.sse(async function* () { for await (const price of prices(ctx.signal)) yield price })
   *     ctx.sse((stream) => bus.subscribe((price) => stream.send({ event: 'price', data: price })))
   *
   * A text is sent as it is, another value as JSON, `{ data, event, id, retry, comment }` as the event it describes. The
   * generator waits while the client reads slowly, and is ended when the client disconnects. An error of it is reported,
   * and the connection is reset: browsers then connect again, with Last-Event-ID. When the app closes, the stream ends
   * after a `retry` that spreads the clients. Throws `E_BAD_OPTION`; what the function throws has a reply.
   */
  sse(source: EventsSource, options?: EventsOptions): void
  /**
   * Replies with a file; return or await the promise. The extension decides Content-Type. ETag, Last-Modified,
   * conditional requests and single ranges are handled, unless a status other than 200 was set. Rejects with 404
   * `E_NOT_FOUND` for a path that is not a file, 412 `E_PRECONDITION`, 416 `E_RANGE`. A path that came from the client
   * needs `root`: `ctx.file(ctx.params.rest, { root: 'public' })`; without it a client can ask for any file.
   */
  file(path: string | URL, options?: FileOptions): Promise<void>
  /**
   * Redirects to `location` with status 302. Where the route declares `response`, it has to declare the status: `302:
   * null`. Characters that a URL may not have are escaped; control characters are refused. The target is not checked: a
   * location that came from the client sends its user to any site (`//evil.example` is one).
   */
  redirect(location: string): Replied<302>
  /** Redirects with `status`. */
  redirect<S extends 301 | 302 | 303 | 307 | 308>(location: string, status: S): Replied<S>
  /**
   * Replies with any value that a handler may return. Where the route declares `response`, it takes a declared status
   * and a value of that status. Throws `E_RESPONSE_STATUS`, `E_RESPONSE_INVALID`, `E_RESPONSE_UNDECLARED`.
   */
  reply(...value: ReplyArguments<T['responses']>): Replied<StatusOf<T['responses']>>
  /**
   * Throws an `HTTPError` that the route or a middleware in front of it declares: `ctx.fail('USER_NOT_FOUND', { id })`,
   * `find(id) ?? ctx.fail('GONE')`. With `throw` or `return` in front the compiler knows that nothing follows. The
   * message is the declared description unless one is given. Throws `E_UNDECLARED_ERROR` for another code, and
   * `E_RESPONSE_INVALID` for data that its schema rejects.
   */
  fail(this: Failing<T['errors']>, ...error: FailArguments<T['errors']>): never
}
