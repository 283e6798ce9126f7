/**
 * The context of a request behind the interface of `context.ts`. Nothing is made before it is read. The file is long
 * because it is one object: each method that users call is a few lines, and delegates.
 */
import { AsyncResource } from 'node:async_hooks'
import { X509Certificate } from 'node:crypto'
import { type AbortReason, bag, BodyKind, ContentType, type Exchange } from '@volant/engine'
import { parse as parseCookies } from 'cookie'
import { acceptedEncoding, acceptedLanguage, acceptedType } from '../request/accepts.ts'
import { parseBody, streamBody, streamOf, wholeBody } from '../request/body.ts'
import { endCookie, setCookie } from '../reply/cookie.ts'
import { sendHints } from '../reply/early-hints.ts'
import { declaredError } from '../contract/declared-errors.ts'
import { refusal, VolantError } from '../errors/errors.ts'
import { hostOf, type Origin, originOf, peerOf, protocolOf } from '../request/forwarded.ts'
import { nextId } from './id.ts'
import { traceFields } from '../log/trace-fields.ts'
import {
  checkHeaderName,
  checkHeaderValue,
  type HeaderBlock,
  mergeVary,
  removeHeaders,
} from '../reply/header.ts'
import { dropPart, dropReply } from '../reply/late-reply.ts'
import { namedTrailers } from '../request/trailers.ts'
import { setTrailer } from '../reply/trailer.ts'
import { parseQuery } from '../request/query.ts'
import { location, reply, sendBytes, sendJson, sendText } from '../reply/reply.ts'
import { briefValue } from '../errors/brief-value.ts'
import { checkStatus } from '../reply/status.ts'
import { send } from '../reply/send.ts'
import { sendStream } from '../reply/stream-reply.ts'
import { ChainPhase, isExpired, type LayerOutcome, ReplyPhase } from '../types/phases.ts'
import type { Form, FormLimits, FormPart } from '../types/form.ts'
import type { Log } from '../types/log.ts'
import type { Pairs } from '../types/parts.ts'
import type { Checked } from '../request/validation.ts'
import { webRequest } from '../request/web-request.ts'
import type {
  BodyDecoder,
  CompiledRoute,
  DeclaredReplies,
  RareState,
  RequestApp,
  RequestContext,
  Trust,
  WholeBody,
} from '../types/request.ts'
import type { TlsConnection } from '../types/context.ts'
import type { CookieOptions, FileOptions, Hints, Source, StreamOptions } from '../types/reply-options.ts'
import type { EventsOptions, EventsSource } from '../types/events.ts'
import { endsStream, serverCloses } from '../reply/abort.ts'
import { sendEvents } from '../events/send-events.ts'
import { lastEventIdOf } from '../request/last-event-id.ts'

/** The only implementation of `Context`. Its fields are the framework's; users see the interface. */
export class LazyContext implements RequestContext {
  readonly exchange: Exchange
  readonly app: RequestApp
  readonly route: CompiledRoute
  readonly allow: number
  statusCode = 0
  replyHeaders: string[] | null = null
  hasType = false
  phase: ReplyPhase = ReplyPhase.open
  pending = 0
  chain: ChainPhase = ChainPhase.running
  responses: DeclaredReplies | null = null
  rare: Rare | undefined = undefined

  // `ctx.status = 201`, as in Koa, would hide the method, so it throws, as strict mode does.
  static {
    Object.defineProperty(this.prototype, 'status', { writable: false })
  }

  #params: Record<string, string> | undefined = undefined

  constructor(exchange: Exchange, app: RequestApp, route: CompiledRoute, allow: number) {
    this.exchange = exchange
    this.app = app
    this.route = route
    this.allow = allow
  }

  get replied(): boolean {
    return this.phase !== ReplyPhase.open
  }

  get layers(): LayerOutcome {
    return this.rare === undefined ? null : this.rare.layers
  }

  set layers(layers: LayerOutcome) {
    this.more.layers = layers
  }

  get chainName(): string {
    return `${this.method} ${this.path}`
  }

  deliver(value: unknown): Promise<void> | void {
    return reply(this, value)
  }

  conclude(): void {
    this.app.conclude(this)
  }

  reportLate(error: Error): void {
    this.app.report(error, this)
  }

  stop(why: string = clientLeft): void {
    this.rare?.controller?.abort(abortReason(why))
  }

  get pattern(): string | null {
    return this.route.pattern
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

  get httpVersion(): '1.0' | '1.1' | '2' {
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

  get tls(): TlsConnection | null {
    const { more } = this
    if (more.tls === undefined) {
      const info = this.exchange.tls?.() ?? null
      more.tls =
        info === null ? null : { ...info, peer: info.peer === null ? null : new X509Certificate(info.peer) }
    }
    return more.tls
  }

  get host(): string {
    return this.app.trust === null ? hostOf(this.exchange) : this.#origin.host
  }

  get #origin(): Origin {
    return (this.more.origin ??= originOf(this.exchange, this.app.trust as Trust))
  }

  get params(): Record<string, string> {
    return (this.#params ??= readParams(this.exchange, this.route.paramNames))
  }

  completeParams(): undefined {
    const checked: unknown = this.params
    if (typeof checked !== 'object' || checked === null) return
    const all = readParams(this.exchange, this.route.paramNames)
    if (Object.keys(all).some((name) => !(name in checked))) this.#params = Object.assign(all, checked)
  }

  /**
   * Gives `ctx[part]`. The parts are named one by one, since a getter whose name varies is looked up anew for each
   * request.
   */
  part(part: Checked): unknown {
    switch (part) {
      case 'params':
        return this.params
      case 'query':
        return this.query
      case 'body':
        return this.body
      case 'headers':
        return this.headers
      case 'cookies':
        return this.cookies
    }
  }

  put(part: Checked, value: unknown): void {
    switch (part) {
      case 'params':
        this.#params = value as Record<string, string>
        break
      case 'query':
        this.more.query = value as Pairs
        break
      case 'body':
        this.more.body = value
        this.more.hasBody = true
        break
      case 'headers':
        this.more.headers = value as Record<string, string>
        break
      case 'cookies':
        this.more.cookies = value as Record<string, string>
        break
    }
  }

  get query(): Pairs {
    return (this.more.query ??= parseQuery(this.exchange.query, this.route.limits.maxQueryKeys))
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
    return (this.more.headers ??= this.exchange.headers())
  }

  get state(): Record<string, unknown> {
    return (this.more.state ??= bag())
  }

  get cookies(): Record<string, string | undefined> {
    return (this.more.cookies ??= withoutPrototype(parseCookies(this.exchange.header('cookie') ?? '')))
  }

  get lastEventId(): string | undefined {
    return lastEventIdOf(this.exchange)
  }

  get id(): string {
    return (this.more.id ??= nextId())
  }

  identify(id: string): void {
    this.more.id = id
    this.more.log = undefined
  }

  get log(): Log {
    const ids = this.rare?.trace?.ids
    return (this.more.log ??= this.app.log.child({
      reqId: this.id,
      ...(ids == null ? {} : traceFields(ids)),
    }))
  }

  get signal(): AbortSignal {
    const more = this.more
    if (more.controller === undefined) {
      more.controller = new AbortController()
      const { aborted, halfClosed } = this.exchange
      if (aborted || halfClosed || isExpired(this)) more.controller.abort(abortReason(clientLeft))
      else {
        this.watchAbort()
        if (endsStream(this)) this.stop(serverCloses)
      }
    }
    return more.controller.signal
  }

  get request(): Request {
    return (this.more.request ??= webRequest(this, async (...body) =>
      (await loadForms()).formDataOf(...body),
    ))
  }

  get body(): unknown {
    const more = this.more
    if (more.hasBody === false) {
      more.body = parseBody(this.exchange, this.#whole(), this.route.limits, more.decoder !== null)
      more.hasBody = true
    }
    return more.body
  }

  set body(value: unknown) {
    const more = this.more
    more.body = value
    more.hasBody = 'assigned'
  }

  get bodyAssigned(): boolean {
    return this.rare?.hasBody === 'assigned'
  }

  get bodyText(): string {
    return this.#whole().text()
  }

  get bodyBytes(): Buffer {
    return this.#whole().bytes()
  }

  get bodyStream(): ReadableStream<Uint8Array> {
    const more = this.more
    if (more.stream === undefined) {
      const { decoder, collected } = more
      if (
        collected !== null ||
        (this.route.bodyMode === 'checked' && this.exchange.bodyKind !== BodyKind.none)
      ) {
        more.stream = streamOf(this.#whole().bytes())
      } else if (decoder === null) more.stream = streamBody(this)
      else more.stream = decoder.stream(streamBody(this))
    }
    return more.stream
  }

  get trailers(): Record<string, string> {
    return namedTrailers(this.rare?.trailers ?? [])
  }

  form(options?: FormLimits): Promise<Form> {
    return (this.more.form ??= loadForms().then(({ readForm }) => readForm(this, options)))
  }

  async *parts(options?: FormLimits): AsyncGenerator<FormPart, void, undefined> {
    const { readParts } = await loadForms()
    yield* readParts(this, options)
  }

  #whole(): WholeBody {
    if (this.rare?.collected) return this.rare.collected
    const { bodyKind } = this.exchange
    // Where the body is late, a small one may be there already; who asks too early is told so in either case.
    if (this.route.bodyMode === 'checked' && bodyKind !== BodyKind.none)
      throw new VolantError('E_BODY_UNREAD')
    if (bodyKind === BodyKind.stream) throw new VolantError('E_BODY_STREAMED')
    return wholeBody(this.exchange)
  }

  status(): number
  status(code: number): this
  status(code?: number): number | this {
    if (code === undefined) return this.statusCode === 0 ? 200 : this.statusCode
    if (this.phase > ReplyPhase.sending) return this.#dropPart('the status')
    this.statusCode = checkStatus(code)
    return this
  }

  header(name: string, value: string | number): this {
    if (this.phase > ReplyPhase.sending) return this.#dropPart(`the header ${name}`)
    const lower = checkHeaderName(name)
    const text = checkHeaderValue(name, value)
    if (lower === 'content-type') this.hasType = true
    else if (lower === 'vary') return this.vary(text)
    return this.place(name, lower, text)
  }

  append(name: string, value: string | number): this {
    if (this.phase > ReplyPhase.sending) return this.#dropPart(`the header ${name}`)
    const lower = checkHeaderName(name)
    if (lower === 'content-type' || lower === 'vary') return this.header(name, value)
    const text = checkHeaderValue(name, value)
    if (this.replyHeaders === null) this.replyHeaders = [name, text]
    else this.replyHeaders.push(name, text)
    return this
  }

  #dropPart(what: string): this {
    dropPart(this, what)
    return this
  }

  /** Refuses, since a context as JSON would send the app's internals. */
  toJSON(): never {
    throw new VolantError('E_NOT_SERIALISABLE', 'a context cannot be sent as JSON')
  }

  place(name: string, lower: string, text: string): this {
    const list = this.replyHeaders
    if (list === null) {
      this.replyHeaders = [name, text]
      return this
    }
    removeHeaders(list, (each) => each === lower)
    list.push(name, text)
    return this
  }

  placeAll({ entries, names }: HeaderBlock): void {
    const before = this.replyHeaders
    if (before === null) {
      this.replyHeaders = entries.slice()
      return
    }
    removeHeaders(before, (each) => names.has(each))
    for (const text of entries) before.push(text)
  }

  vary(text: string): this {
    const list = this.replyHeaders
    if (list === null) {
      this.replyHeaders = ['vary', text]
      return this
    }
    for (let at = list.length - 2; at >= 0; at -= 2) {
      if (list[at] === '' || checkHeaderName(list[at] as string) !== 'vary') continue
      list[at + 1] = mergeVary(list[at + 1] as string, text)
      return this
    }
    list.push('vary', text)
    return this
  }

  cookie(name: string, value: string, options: CookieOptions = {}): this {
    if (this.phase > ReplyPhase.sending) return this.#dropPart(`the cookie ${name}`)
    return this.append('set-cookie', setCookie(name, value, options, this.protocol === 'https'))
  }

  clearCookie(name: string, options: CookieOptions = {}): this {
    if (this.phase > ReplyPhase.sending) return this.#dropPart(`the cookie ${name}`)
    return this.append('set-cookie', endCookie(name, options, this.protocol === 'https'))
  }

  trailer(name: string, value: string | number | readonly string[]): this {
    setTrailer(this, name, value)
    return this
  }

  earlyHints(headers: Hints): void {
    sendHints(this, headers)
  }

  dropRepresentation(): void {
    const list = this.replyHeaders
    this.responses = null
    this.statusCode = 0
    this.hasType = false
    if (this.rare !== undefined) this.rare.replyTrailers = null
    if (list === null) return
    for (let at = list.length - 2; at >= 0; at -= 2) {
      // What nobody may keep, such as a new cookie, nobody may keep with an error either.
      if (representation.test(list[at] as string) && list[at + 1] !== 'no-store') list.splice(at, 2)
    }
  }

  json(value: unknown, status?: number): never {
    if (this.phase > ReplyPhase.reopened) dropReply(this, 'json')
    else sendJson(this, value, status)
    return undefined as never
  }

  text(value: string, status?: number): void {
    if (this.phase > ReplyPhase.reopened) return dropReply(this, 'text')
    sendText(this, this.#declared(value, status), ContentType.text, status)
  }

  html(value: string, status?: number): void {
    if (this.phase > ReplyPhase.reopened) return dropReply(this, 'html')
    sendText(this, this.#declared(value, status), ContentType.html, status)
  }

  /** Checks a text reply where the route declares its replies. */
  #declared(value: string, status: number | undefined): string {
    if (this.responses === null) return value
    return this.responses.text(value, status ?? this.status())
  }

  bytes(value: Uint8Array | ArrayBuffer, status?: number): void {
    if (this.phase > ReplyPhase.reopened) return dropReply(this, 'bytes')
    this.responses?.replyOf(status ?? this.status())
    sendBytes(this, value instanceof ArrayBuffer ? new Uint8Array(value) : value, status)
  }

  stream(source: Source, options?: StreamOptions): void {
    if (this.phase <= ReplyPhase.reopened) this.responses?.replyOf(options?.status ?? this.status())
    sendStream(this, source, options)
  }

  sse(source: EventsSource, options?: EventsOptions): void {
    if (this.phase <= ReplyPhase.reopened) this.responses?.replyOf(this.status())
    sendEvents(this, source, options)
  }

  file(path: string | URL, options?: FileOptions): Promise<void> {
    if (this.phase > ReplyPhase.reopened) return Promise.resolve(dropReply(this, 'file'))
    return this.app.trackOwnReply(this, fileLater(this, path, options))
  }

  redirect(to: string, status: 301 | 302 | 303 | 307 | 308 = 302): never {
    if (this.phase > ReplyPhase.reopened) return dropReply(this, 'redirect') as never
    const target = location(to)
    if (!redirects.has(status)) {
      throw new VolantError(
        'E_BAD_STATUS',
        `a redirect has status 301, 302, 303, 307 or 308, not ${briefValue(status)}`,
      )
    }
    this.responses?.replyOf(status)
    this.header('location', target)
    this.#empty(status, 'redirect')
    return undefined as never
  }

  reply(status: number, value?: unknown): never {
    const declared = this.responses
    if (this.phase > ReplyPhase.reopened) dropReply(this, 'reply')
    else {
      this.statusCode = checkStatus(status)
      if (declared !== null) declared.reply(this, status, value)
      else if (value === undefined || value === null) this.#empty(status, 'reply')
      else void reply(this, value, false)
    }
    return undefined as never
  }

  fail(code: string, data?: unknown, message?: string): never {
    throw declaredError(this, code, data, message)
  }

  #empty(status: number, method: string): void {
    send(this, ContentType.custom, null, status, method)
  }

  watchAbort(): void {
    // The listener is bound, so that it runs in the async context of the code that read the signal, on every version of
    // Node.js.
    this.exchange.onAbort = AsyncResource.bind((reason: AbortReason) => this.onAbort(reason))
  }

  onAbort(reason: AbortReason): void {
    const { aborted } = this.exchange
    // In both cases the adapter has sent the reply.
    if (aborted && this.phase <= ReplyPhase.sending) {
      if (reason === 'timeout') this.more.failure = refusal('E_HANDLER_TIMEOUT')
      else if (reason === 'upload') this.more.failure = refusal('E_REQUEST_TIMEOUT')
    }
    this.stop()
    if (aborted) {
      // The set must not keep a context alive whose source waits for ever.
      this.app.streams.delete(this)
      this.rare?.cancelStream?.()
    } else this.rare?.events?.probe()
    this.rare?.watch?.complete(this)
  }

  get more(): Rare {
    return (this.rare ??= new Rare())
  }
}

/**
 * The state that not every handler uses. It is apart, so that a context stays small: new objects are written through
 * the caches, so their size counts more than the work on them.
 */
class Rare implements RareState {
  query: Pairs | undefined = undefined
  headers: Record<string, string> | undefined = undefined
  state: Record<string, unknown> | undefined = undefined
  body: unknown = undefined
  hasBody: boolean | 'assigned' = false
  ownReplies = 0
  layers: LayerOutcome = null
  cancelStream: (() => void) | null = null
  events: RareState['events'] = null
  collected: WholeBody | null = null
  trailers: string[] | null = null
  replyTrailers: string[] | null = null
  decoder: BodyDecoder | null = null
  connect: object | null = null
  session: RareState['session'] = null
  unsent: RareState['unsent'] = null
  trace: RareState['trace'] = null
  watch: RareState['watch'] = null
  listener: RareState['listener'] = null
  failure: unknown = undefined
  cookies: Record<string, string | undefined> | undefined = undefined
  id: string | undefined = undefined
  log: Log | undefined = undefined
  controller: AbortController | undefined = undefined
  origin: Origin | undefined = undefined
  tls: TlsConnection | null | undefined = undefined
  request: Request | undefined = undefined
  stream: ReadableStream<Uint8Array> | undefined = undefined
  form: Promise<Form> | undefined = undefined
}

/** Most apps read no form, and need not load what reads them. */
function loadForms(): Promise<typeof import('../forms/forms.ts')> {
  return import('../forms/forms.ts')
}

// Content-Security-Policy stays, since it protects the document that is sent, whichever it is.
const representation =
  /^(?:content-(?!security-policy).*|etag|last-modified|cache-control|expires|accept-ranges)$/i

/** What files need is loaded with the first one, since most apps do not need a thousand extensions at start. */
async function fileLater(ctx: LazyContext, path: string | URL, options?: FileOptions): Promise<void> {
  const { sendFile } = await import('../reply/file.ts')
  return sendFile(ctx, path, options)
}

const redirects: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308])

const clientLeft = 'the request was aborted'

function abortReason(why: string): DOMException {
  return new DOMException(why, 'AbortError')
}

/** `cookie` gives objects that share an empty prototype; these have none. */
function withoutPrototype<T extends object>(pairs: T): T {
  return Object.setPrototypeOf(pairs, null) as T
}

function readParams(exchange: Exchange, names: readonly string[]): Record<string, string> {
  const params = bag() as Record<string, string>
  for (let index = 0; index < names.length; index++) {
    const value = exchange.param(index)
    if (value !== undefined) params[names[index] as string] = value
  }
  return params
}
