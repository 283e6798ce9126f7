/** The context of a request: what handlers and middleware are given. Nothing is made before it is read. */
import { AsyncResource } from 'node:async_hooks'
import { type AbortReason, Bag, BodyKind, ContentType, type Exchange } from '@volant/engine'
import { parse as parseCookies } from 'cookie'
import { acceptedEncoding, acceptedLanguage, acceptedType } from './accepts.ts'
import { type CollectedBody, parseBody, streamBody, streamOf, type WholeBody, wholeBody } from './body.ts'
import { type CookieOptions, endCookie, setCookie } from './cookie.ts'
import type { CompiledRoute, Core } from './core.ts'
import { type Hints, sendHints } from './early-hints.ts'
import { refusal, VolantError } from './errors.ts'
import { type FileOptions, sendFile } from './file.ts'
import { hostOf, type Origin, originOf, peerOf, protocolOf } from './forwarded.ts'
import { nextId } from './id.ts'
import { checkHeaderName, checkHeaderValue, type HeaderBlock, mergeVary } from './header.ts'
import type { Watch } from './observe.ts'
import { type Pairs, parseQuery } from './query.ts'
import { beginReply, location, reply, sendBytes, sendJson, sendText } from './reply.ts'
import { checkStatus } from './status.ts'
import { type Source, type StreamOptions, sendStream } from './stream-reply.ts'
import type { Trust } from './trust.ts'
import type { AnyParts, Parts } from './types.ts'
import type { Checked } from './validation.ts'
import { webRequest } from './web-request.ts'

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
    }

type Part<T, K extends keyof Parts> = K extends keyof T ? T[K] : AnyParts[K]

/**
 * What a handler sees of one request, and how it replies. `T` types its parts.
 *
 * A reply is sent the moment it is given: headers and status come before it, and `await next()` in a middleware
 * returns after it. A second reply throws `E_ALREADY_REPLIED`; the first one stands. Replies to a client that left
 * are dropped.
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
  /** The query; repeated names have arrays. Throws 400 past `maxQueryKeys`. */
  readonly query: T['query']
  /** Request fields by lower-case name, on an object without prototype; repeated ones are joined. */
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
  /** Name or address the client asked, with its port if it named one; from Host or a trusted proxy. May be empty. */
  readonly host: string
  /** Unique to this request in this process and, by its random prefix, among processes. */
  readonly id: string
  /** Whatever middleware wants to hand on; typed by what the middleware of the scope declare. */
  readonly state: T['state']
  /** Aborted once: when the client closes or resets the connection, the handler's time is over, or the server stops. */
  readonly signal: AbortSignal
  /** The request as a web `Request`. Its body is the body of this context: read one or the other. */
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
   * Throws `E_BAD_HEADER`, `E_ALREADY_REPLIED`, and `E_UNSUPPORTED` on the adapter uwebsockets.
   */
  earlyHints(headers: Hints): void

  /** Replies with JSON. Throws `E_NOT_SERIALISABLE` for what JSON cannot carry; the request has no reply then. */
  json(value: unknown, status?: number): void
  /** Replies with text/plain in UTF-8. */
  text(value: string, status?: number): void
  /** Replies with text/html in UTF-8. Nothing is escaped. */
  html(value: string, status?: number): void
  /** Sent as application/octet-stream unless a content type was set. */
  bytes(value: Uint8Array | ArrayBuffer, status?: number): void
  /** Streams chunks with back-pressure; the source is cancelled when the client leaves. */
  stream(source: Source, options?: StreamOptions): void
  /**
   * Replies with a file; return or await it. Content-Type is by the extension; ETag, Last-Modified, conditional
   * requests and single ranges are seen to, unless a status other than 200 was set. Rejects with 404 `E_NOT_FOUND` for
   * what is no file, 412 `E_PRECONDITION`, 416 `E_RANGE`. A path that came from the client needs `root`:
   * `ctx.file(ctx.params.rest, { root: 'public' })`; without it any file can be asked for.
   */
  file(path: string | URL, options?: FileOptions): Promise<void>
  /**
   * Status 302 unless given. Characters a URL may not have are escaped, control characters refused. Where to is not
   * checked: a location that came from the client sends its user to any site (`//evil.example` is one).
   */
  redirect(location: string, status?: 301 | 302 | 303 | 307 | 308): void
  /** Replies with anything a handler may return. */
  reply(status: number, value?: unknown): void
}

/** The one implementation of `Context`. Its fields are the framework's; users see the interface. */
export class RequestContext implements ContextOf<AnyParts> {
  readonly exchange: Exchange
  readonly app: Core
  readonly route: CompiledRoute
  /** Bit set of allowed methods, for replies to 405 and OPTIONS. */
  readonly allow: number
  /** 0 while nobody set it. */
  statusCode = 0
  /** Flat list of name and value; null while empty. */
  replyHeaders: string[] | null = null
  /** A content-type is among `replyHeaders`. */
  hasType = false
  replied = false
  /** Layers of the chain that have not settled; `chain.ts` counts them. */
  pending = 0
  /** The outermost layer has settled. */
  settled = false

  #params: Record<string, string> | undefined = undefined
  #rare: Rare | undefined = undefined

  constructor(exchange: Exchange, app: Core, route: CompiledRoute, allow: number) {
    this.exchange = exchange
    this.app = app
    this.route = route
    this.allow = allow
  }

  /** An error is being answered: should its handler fail too, it is not asked again. */
  get failing(): boolean {
    return this.#rare !== undefined && this.#rare.failing
  }

  set failing(on: boolean) {
    this.#more.failing = on
  }

  /** The error of the innermost layer that failed, for middleware that swallows it and does not reply. */
  get chainError(): unknown {
    return this.#rare?.chainError
  }

  set chainError(error: unknown) {
    this.#more.chainError = error
  }

  /** Set while somebody is to be told of the end of this request. */
  get watch(): Watch | null {
    return this.#rare === undefined ? null : this.#rare.watch
  }

  set watch(watch: Watch | null) {
    this.#more.watch = watch
  }

  /** What a watched request threw. */
  get failure(): unknown {
    return this.#rare?.failure
  }

  set failure(error: unknown) {
    this.#more.failure = error
  }

  /** The reply broke off after its head. */
  get cutOff(): boolean {
    return this.#rare !== undefined && this.#rare.cutOff
  }

  set cutOff(on: boolean) {
    this.#more.cutOff = on
  }

  /** The route's time is over and the client was told: replies that come late are dropped. */
  get expired(): boolean {
    return this.#rare !== undefined && this.#rare.expired
  }

  expire(): void {
    this.#more.expired = true
    this.#rare?.controller?.abort(abortReason())
  }

  get pattern(): string | null {
    return this.route.pattern
  }

  /** Stops the source of a streamed reply. */
  get cancelStream(): (() => void) | null {
    return this.#rare === undefined ? null : this.#rare.cancelStream
  }

  set cancelStream(cancel: (() => void) | null) {
    this.#more.cancelStream = cancel
  }

  /** The body, where `beforeBody` let it in. */
  get collected(): CollectedBody | null {
    return this.#rare === undefined ? null : this.#rare.collected
  }

  set collected(body: CollectedBody | null) {
    this.#more.collected = body
  }

  get method(): string {
    return this.exchange.method
  }

  get path(): string {
    return this.exchange.path
  }

  get url(): string {
    const { path, query } = this.exchange
    return query === '' ? path : `${path}?${query}`
  }

  get httpVersion(): '1.0' | '1.1' {
    return this.exchange.httpVersion
  }

  get ip(): string {
    return this.app.trust === null ? peerOf(this.exchange) : this.#origin.ip
  }

  get ips(): readonly string[] {
    return this.app.trust === null ? [peerOf(this.exchange)] : this.#origin.ips
  }

  get protocol(): 'http' | 'https' {
    return this.app.trust === null ? protocolOf(this.exchange) : this.#origin.protocol
  }

  get host(): string {
    return this.app.trust === null ? hostOf(this.exchange) : this.#origin.host
  }

  get #origin(): Origin {
    return (this.#more.origin ??= originOf(this.exchange, this.app.trust as Trust))
  }

  get params(): Record<string, string> {
    return (this.#params ??= readParams(this.exchange, this.route.paramNames))
  }

  /** What a schema made of a part, in its place. */
  put(part: Checked, value: unknown): void {
    if (part === 'params') this.#params = value as Record<string, string>
    else if (part === 'body') this.body = value
    else this.#more[part] = value as never
  }

  get query(): Pairs {
    return (this.#more.query ??= parseQuery(this.exchange.query, this.route.limits.maxQueryKeys))
  }

  queryAll(name: string): string[] {
    const values = parseQuery(this.exchange.query, this.route.limits.maxQueryKeys)[name]
    return typeof values === 'string' ? [values] : (values ?? [])
  }

  accepts<const T extends string>(...types: T[]): T | false {
    return acceptedType(this.exchange.header('accept'), types)
  }

  acceptsLanguages<const T extends string>(...tags: T[]): T | false {
    return acceptedLanguage(this.exchange.header('accept-language'), tags)
  }

  acceptsEncodings<const T extends string>(...codings: T[]): T | false {
    return acceptedEncoding(this.exchange.header('accept-encoding'), codings)
  }

  get headers(): Record<string, string> {
    return (this.#more.headers ??= this.exchange.headers())
  }

  get state(): Record<string, unknown> {
    return (this.#more.state ??= new Bag())
  }

  get cookies(): Record<string, string | undefined> {
    return (this.#more.cookies ??= parseCookies(this.exchange.header('cookie') ?? ''))
  }

  get id(): string {
    return (this.#more.id ??= nextId())
  }

  set id(text: string) {
    this.#more.id = text
  }

  get signal(): AbortSignal {
    const more = this.#more
    if (more.controller === undefined) {
      more.controller = new AbortController()
      const { aborted, halfClosed } = this.exchange
      if (aborted || halfClosed || more.expired) more.controller.abort(abortReason())
      else this.watchAbort()
    }
    return more.controller.signal
  }

  get request(): Request {
    return (this.#more.request ??= webRequest(this))
  }

  get body(): unknown {
    const more = this.#more
    if (!more.hasBody) {
      more.body = parseBody(this.exchange, this.#whole(), this.route.limits)
      more.hasBody = true
    }
    return more.body
  }

  set body(value: unknown) {
    const more = this.#more
    more.body = value
    more.hasBody = true
  }

  get bodyText(): string {
    return this.#whole().text()
  }

  get bodyBytes(): Buffer {
    return this.#whole().bytes()
  }

  get bodyStream(): ReadableStream<Uint8Array> {
    const more = this.#more
    if (more.stream === undefined) {
      if (this.route.bodyMode === 'checked' && this.exchange.bodyKind === BodyKind.stream) {
        more.stream = streamOf(this.#whole().bytes())
      } else more.stream = streamBody(this.exchange)
    }
    return more.stream
  }

  #whole(): WholeBody {
    if (this.collected !== null) return this.collected
    if (this.exchange.bodyKind !== BodyKind.stream) return wholeBody(this.exchange)
    throw new VolantError(this.route.bodyMode === 'checked' ? 'E_BODY_UNREAD' : 'E_BODY_STREAMED')
  }

  status(): number
  status(code: number): this
  status(code?: number): number | this {
    if (code === undefined) return this.statusCode === 0 ? 200 : this.statusCode
    this.statusCode = checkStatus(code)
    return this
  }

  header(name: string, value: string | number): this {
    const lower = checkHeaderName(name)
    const text = checkHeaderValue(name, value)
    if (lower === 'content-type') this.hasType = true
    else if (lower === 'vary') return this.vary(text)
    return this.place(name, lower, text)
  }

  append(name: string, value: string | number): this {
    const lower = checkHeaderName(name)
    if (lower === 'content-type' || lower === 'vary') return this.header(name, value)
    const text = checkHeaderValue(name, value)
    if (this.replyHeaders === null) this.replyHeaders = [name, text]
    else this.replyHeaders.push(name, text)
    return this
  }

  /** `header` for a name and a value that were checked. */
  place(name: string, lower: string, text: string): this {
    const list = this.replyHeaders
    if (list === null) {
      this.replyHeaders = [name, text]
      return this
    }
    for (let at = list.length - 2; at >= 0; at -= 2) {
      if (checkHeaderName(list[at] as string) === lower) list.splice(at, 2)
    }
    list.push(name, text)
    return this
  }

  /** Sets headers that are the same for many requests. */
  placeAll({ list, names }: HeaderBlock): void {
    const before = this.replyHeaders
    if (before === null) {
      this.replyHeaders = list.slice()
      return
    }
    for (let at = before.length - 2; at >= 0; at -= 2) {
      if (names.has(checkHeaderName(before[at] as string))) before.splice(at, 2)
    }
    for (const text of list) before.push(text)
  }

  /** Adds the names that Vary does not have yet: nobody who replies may take away what others depend on. */
  vary(text: string): this {
    const list = this.replyHeaders
    if (list === null) {
      this.replyHeaders = ['vary', text]
      return this
    }
    for (let at = list.length - 2; at >= 0; at -= 2) {
      if (checkHeaderName(list[at] as string) !== 'vary') continue
      list[at + 1] = mergeVary(list[at + 1] as string, text)
      return this
    }
    list.push('vary', text)
    return this
  }

  cookie(name: string, value: string, options: CookieOptions = {}): this {
    return this.append('set-cookie', setCookie(name, value, options, this.protocol === 'https'))
  }

  clearCookie(name: string, options: CookieOptions = {}): this {
    return this.append('set-cookie', endCookie(name, options, this.protocol === 'https'))
  }

  earlyHints(headers: Hints): void {
    sendHints(this, headers)
  }

  /** Drops what describes a reply that will not be sent; CORS and request id stay for the error's reply. */
  dropRepresentation(): void {
    const list = this.replyHeaders
    this.statusCode = 0
    this.hasType = false
    if (list === null) return
    for (let at = list.length - 2; at >= 0; at -= 2) {
      if (representation.test(list[at] as string)) list.splice(at, 2)
    }
  }

  json(value: unknown, status?: number): void {
    sendJson(this, value, status)
  }

  text(value: string, status?: number): void {
    sendText(this, value, ContentType.text, status)
  }

  html(value: string, status?: number): void {
    sendText(this, value, ContentType.html, status)
  }

  bytes(value: Uint8Array | ArrayBuffer, status?: number): void {
    sendBytes(this, value instanceof ArrayBuffer ? new Uint8Array(value) : value, status)
  }

  stream(source: Source, options?: StreamOptions): void {
    sendStream(this, source, options)
  }

  file(path: string | URL, options?: FileOptions): Promise<void> {
    return sendFile(this, path, options)
  }

  redirect(to: string, status: 301 | 302 | 303 | 307 | 308 = 302): void {
    this.header('location', location(to))
    this.reply(status)
  }

  reply(status: number, value?: unknown): void {
    this.statusCode = checkStatus(status)
    if (value !== undefined && value !== null) reply(this, value)
    else if (beginReply(this)) this.exchange.end(status, ContentType.custom, this.replyHeaders, null)
  }

  /** Asks the exchange to say when the client leaves; until somebody asks, nothing is allocated for it. */
  watchAbort(): void {
    // Bound: listeners run in the async context of whoever asked for the signal, on every version of Node.js.
    this.exchange.onAbort = AsyncResource.bind((reason: AbortReason) => this.onAbort(reason))
  }

  onAbort(reason: AbortReason): void {
    const { aborted } = this.exchange
    // The adapter has sent the reply of E_HANDLER_TIMEOUT.
    if (aborted && reason === 'timeout' && !this.replied) this.failure = refusal('E_HANDLER_TIMEOUT')
    this.#rare?.controller?.abort(abortReason())
    if (aborted) this.cancelStream?.()
    this.watch?.complete(this)
  }

  get #more(): Rare {
    return (this.#rare ??= new Rare())
  }
}

/**
 * What not every handler touches: kept apart so that a context stays small. New objects are written through the caches,
 * so their size counts more than the work on them.
 */
class Rare {
  query: Pairs | undefined = undefined
  headers: Record<string, string> | undefined = undefined
  state: Record<string, unknown> | undefined = undefined
  body: unknown = undefined
  hasBody = false
  failing = false
  chainError: unknown = undefined
  cancelStream: (() => void) | null = null
  collected: CollectedBody | null = null
  watch: Watch | null = null
  failure: unknown = undefined
  cutOff = false
  expired = false
  cookies: Record<string, string | undefined> | undefined = undefined
  id: string | undefined = undefined
  controller: AbortController | undefined = undefined
  origin: Origin | undefined = undefined
  request: Request | undefined = undefined
  stream: ReadableStream<Uint8Array> | undefined = undefined
}

// Content-Security-Policy is about the document that is sent, whichever it is.
const representation =
  /^(?:content-(?!security-policy).*|etag|last-modified|cache-control|expires|accept-ranges)$/i

function abortReason(): DOMException {
  return new DOMException('the request was aborted', 'AbortError')
}

function readParams(exchange: Exchange, names: readonly string[]): Record<string, string> {
  const params = new Bag() as Record<string, string>
  for (let index = 0; index < names.length; index++) {
    const value = exchange.param(index)
    if (value !== undefined) params[names[index] as string] = value
  }
  return params
}
