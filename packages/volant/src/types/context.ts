/** The context of a request as its handlers and middleware see it. */
import type { CookieOptions, FileOptions, Hints, Source, StreamOptions } from './reply-options.ts'
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
 * The context of a request: `Context` is that of any route, `Context<{ params: { id: string }; body: User }>` one whose
 * parts are known. Handlers written where they are registered have theirs from pattern, schemas and middleware.
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

/**
 * What a handler sees of one request, and how it replies. `T` types its parts.
 *
 * A reply is sent the moment it is given: headers and status come before it, and `await next()` in a middleware
 * returns after it. The first reply stands: what comes after it, a second reply or a header, is dropped and reported as
 * `E_ALREADY_REPLIED`. Replies to a client that left are dropped.
 */
export interface ContextOf<T extends Parts> {
  /** In upper case. */
  readonly method: string
  /** The canonical path: what the router saw. Unreserved characters are decoded, other escapes in upper-case hex. */
  readonly path: string
  /** `path`, and the query as sent if there is one. */
  readonly url: string
  /** Of the request. */
  readonly httpVersion: '1.0' | '1.1'
  /** The pattern of the route, prefixes of its scopes included; null where no route was found. */
  readonly pattern: string | null
  /** Decoded parameters of the pattern, on an object without prototype; absent optional ones are not there. */
  readonly params: T['params']
  /** The query, on an object without prototype; repeated names have arrays. Throws 400 past `maxQueryKeys`. */
  readonly query: T['query']
  /**
   * Request fields by lower-case name, on an object without prototype; repeated ones are joined. `headers.host` is what
   * was sent: `ctx.host` is the host that counts.
   */
  readonly headers: T['headers']
  /** Cookies by name, decoded; the first of a name stands. */
  readonly cookies: T['cookies']
  /**
   * Address of the client: with `trustProxy` the first that is not a trusted proxy's, else that of the peer. Empty on a
   * Unix socket.
   */
  readonly ip: string
  /** Addresses from the client to the peer of the connection; more than one only with `trustProxy`. */
  readonly ips: readonly string[]
  /** `https` if a trusted proxy says so. */
  readonly protocol: 'http' | 'https'
  /**
   * Name or address the client asked, with its port if it named one: what a trusted proxy says, else the authority of a
   * target in absolute form (`GET http://a/x`, RFC 9112 §3.2.2), else Host. As sent, case included. May be empty.
   */
  readonly host: string
  /** Unique to this request in this process and, by its random prefix, among processes. */
  readonly id: string
  /** Whatever middleware wants to hand on; typed by what the middleware of the scope declare. */
  readonly state: T['state']
  /**
   * Aborted once: when the client closes or resets the connection, when the handler's time is over, and when the app
   * closes: at once where the reply is a stream without a length that has begun, else after `shutdownTimeout`, since the
   * handler may still reply. Its reason is an `AbortError`.
   */
  readonly signal: AbortSignal
  /**
   * The request as a web `Request`. Its body is the body of this context: read one or the other. `formData()` rejects with
   * 415 `E_BODY_TYPE` for a body that is no form, and both it and `json()` with 400 `E_BODY_MALFORMED` for a broken one.
   */
  readonly request: Request

  /**
   * The body, parsed by its content type: JSON, form, text or bytes; undefined if there is none. Read synchronously.
   * Throws 400 if it is malformed, 415 if its type is none of these. Assign to it to hand on a checked value.
   */
  body: T['body']
  /** The body decoded as UTF-8, whatever its type. */
  readonly bodyText: string
  /** The body's bytes, whatever its type. */
  readonly bodyBytes: Buffer
  /** The body as it arrives, on routes with `bodyMode: 'stream'`; elsewhere the whole of it in one chunk. */
  readonly bodyStream: ReadableStream<Uint8Array>

  /** All values of a name in the query, in their order; none if it is not there. Never touched by schemas. */
  queryAll(name: string): string[]
  /**
   * The one of `types` the client likes best, or false: `ctx.accepts('json', 'html')`. Full media types and the names
   * css, csv, form, html, js, json, pdf, problem, svg, text and xml are taken; all of them if there is no Accept. The
   * reply then depends on the request: `ctx.append('vary', 'accept')`.
   */
  accepts<const T extends string>(...types: T[]): T | false
  /** The one of `tags` the client likes best, or false; `en` serves who asked for `en-GB`. */
  acceptsLanguages<const T extends string>(...tags: T[]): T | false
  /** The one of `codings` the client likes best, or false: `ctx.acceptsEncodings('br', 'gzip', 'identity')`. */
  acceptsEncodings<const T extends string>(...codings: T[]): T | false

  /** True once a reply was given. */
  readonly replied: boolean
  /** The status set so far, or sent; 200 unless set. */
  status(): number
  /** Sets the status of the reply to come: an integer from 200 to 599. */
  status(code: number): this
  /**
   * Sets a header of the reply to come, replacing what the name had; Vary is added to, since whatever wrote it still
   * depends on it. Throws `E_BAD_HEADER`.
   */
  header(name: string, value: string | number): this
  /** Adds a header beside those of the same name, for example a second Set-Cookie. */
  append(name: string, value: string | number): this
  /**
   * Sets a cookie, percent-encoded. Unless `options` say otherwise it has Path=/, HttpOnly and SameSite=Lax, and Secure
   * if the request came over TLS. Throws `E_BAD_COOKIE`, also for what browsers would drop.
   */
  cookie(name: string, value: string, options?: CookieOptions): this
  /** Ends a cookie. Give the path and domain it was set with, if any. */
  clearCookie(name: string, options?: CookieOptions): this
  /**
   * Sends 103 Early Hints (RFC 8297): headers a browser may act on while the handler still works, mostly Link fields
   * that preload. May be called several times; not part of the reply, which must repeat what belongs to it. Hints are
   * advice: clients of HTTP/1.0 get none, and those that would wait behind 16 KiB of others are dropped.
   * Throws `E_BAD_HEADER`, and `E_UNSUPPORTED` on the adapter uwebsockets.
   */
  earlyHints(headers: Hints): void

  /**
   * Replies with JSON. Throws `E_NOT_SERIALISABLE` for what JSON cannot carry; the request has no reply then. Where the
   * route declares `response`, the value is checked as a returned one is.
   */
  json(...value: JSONArguments<T['responses']>): Replied<StatusOf<T['responses']>>
  /** Replies with text/plain in UTF-8. */
  text(value: string, status?: number): void
  /** Replies with text/html in UTF-8. Nothing is escaped. */
  html(value: string, status?: number): void
  /** Sent as application/octet-stream unless a content type was set. */
  bytes(value: Uint8Array | ArrayBuffer, status?: number): void
  /**
   * Streams chunks with back-pressure; the source is cancelled when the client leaves. The head is sent at once, while
   * that of a generator that is returned waits for its first chunk.
   */
  stream(source: Source, options?: StreamOptions): void
  /**
   * Replies with a file; return or await it. Content-Type is by the extension; ETag, Last-Modified, conditional
   * requests and single ranges are seen to, unless a status other than 200 was set. Rejects with 404 `E_NOT_FOUND` for
   * what is no file, 412 `E_PRECONDITION`, 416 `E_RANGE`. A path that came from the client needs `root`:
   * `ctx.file(ctx.params.rest, { root: 'public' })`; without it any file can be asked for.
   */
  file(path: string | URL, options?: FileOptions): Promise<void>
  /**
   * Replies with that address and status 302. Where the route declares `response`, the status is in it: `302: null`.
   * Characters a URL may not have are escaped, control characters refused. Where to is not checked: a location
   * that came from the client sends its user to any site (`//evil.example` is one).
   */
  redirect(location: string): Replied<302>
  /** With that status. */
  redirect<S extends 301 | 302 | 303 | 307 | 308>(location: string, status: S): Replied<S>
  /**
   * Replies with anything a handler may return. Where the route declares `response`, with a status it names and a value
   * of that status: throws `E_RESPONSE_STATUS`, `E_RESPONSE_INVALID`, `E_RESPONSE_UNDECLARED`.
   */
  reply(...value: ReplyArguments<T['responses']>): Replied<StatusOf<T['responses']>>
  /**
   * Throws an error the route or a middleware in front of it declares, an `HTTPError`: `ctx.fail('USER_NOT_FOUND', { id })`,
   * `find(id) ?? ctx.fail('GONE')`. With `throw` or `return` in front the compiler knows that nothing follows. The
   * message is the declared description unless one is given. Throws `E_UNDECLARED_ERROR` for another code,
   * `E_RESPONSE_INVALID` for data its schema rejects.
   */
  fail(this: Failing<T['errors']>, ...error: FailArguments<T['errors']>): never
}
