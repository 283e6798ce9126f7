/** Exchanges without a socket, for `app.inject` and `app.fetch`: the same checks, the same dispatch. */
import {
  BodyKind,
  BodyMode,
  type BodySink,
  ContentType,
  contentTypes,
  type Exchange,
  type Host,
  unpackHeaders,
} from '@volant/engine'
import { type ErrorCode, errorTable, VolantError } from '../errors/errors.ts'
import type { SourceParts } from '../reply/stream-reply.ts'
import { Head, type Routes } from './head.ts'
import { MemoryUpload } from './memory-upload.ts'
import { refusalText, upgradeFields } from './refuse.ts'

export interface MemoryRequest {
  readonly method: string
  /** Path and query, or another form a request line may have. */
  readonly target: string
  /** Name, value, name, value, … */
  readonly headers: string[]
  /** Whole, or as it comes; null if there is none. */
  readonly body: Buffer | SourceParts | null
  readonly httpVersion: '1.0' | '1.1'
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal | null
}

/** Receives a reply as it is given: `whole`, or `start`, chunks and `end`; or `fail`, at any time before the end. */
export interface ReplySink {
  inform(status: number, headers: string[]): void
  whole(status: number, headers: string[], body: Buffer | null): void
  /** `empty`: no chunk comes, whatever the headers say. */
  start(status: number, headers: string[], empty: boolean): void
  /** False when the next chunk should wait for `MemoryExchange.drain`. */
  chunk(bytes: Buffer): boolean
  end(): void
  fail(error: unknown): void
}

export class MemoryExchange extends Head implements Exchange {
  readonly httpVersion: '1.0' | '1.1'
  readonly remoteAddress: string
  readonly encrypted: boolean
  bodyKind: BodyKind = BodyKind.none
  bodyLength = 0
  replied = false
  /** The reply is complete, or there will be none. */
  complete = false
  readonly #request: MemoryRequest
  readonly #sink: ReplySink
  readonly #leave = () => this.lose(this.#request.signal?.reason)
  #whole: Buffer | null = null
  #upload: MemoryUpload | null = null
  /** Of a streamed reply: the declared length, and what was sent of it. */
  #length = -1
  #sent = 0
  #timer: NodeJS.Timeout | null = null

  constructor(request: MemoryRequest, sink: ReplySink) {
    super(request.method, request.headers)
    this.httpVersion = request.httpVersion
    this.remoteAddress = request.remoteAddress
    this.encrypted = request.encrypted
    this.#request = request
    this.#sink = sink
  }

  get target(): string {
    return this.#request.target
  }

  run(host: Host, routes: Routes): void {
    const { body, signal } = this.#request
    if (body !== null && !Buffer.isBuffer(body)) this.#upload = new MemoryUpload(this, body)
    if (signal?.aborted === true) return this.lose(signal.reason)
    signal?.addEventListener('abort', this.#leave)
    const refused = this.admit(this.target, host, routes)
    if (refused !== null) return this.#refuse(refused)
    const route = host.routes[this.id]
    const none = body === null || (Buffer.isBuffer(body) && body.length === 0)
    if (none || route === undefined) return this.#dispatch(host)
    if (route.bodyMode === BodyMode.stream) {
      this.bodyKind = BodyKind.stream
      this.#upload ??= MemoryUpload.of(this, body as Buffer)
      this.#upload.limit = route.maxBodySize
      this.bodyLength = this.declaredLength > 0 ? this.declaredLength : -1
      return this.#dispatch(host)
    }
    if (this.#upload === null) return this.#dispatchWith(body as Buffer, route.maxBodySize, host)
    void this.#upload.collect(route.maxBodySize).then((bytes) => {
      if (bytes !== null && !this.aborted) this.#dispatchWith(bytes, route.maxBodySize, host)
    })
  }

  #dispatchWith(body: Buffer, limit: number, host: Host): void {
    if (body.length > limit) return this.#refuse('E_BODY_TOO_LARGE')
    if (body.length > 0) this.bodyKind = BodyKind.complete
    this.#whole = body
    this.bodyLength = body.length
    this.#dispatch(host)
  }

  #dispatch(host: Host): void {
    const { handlerTimeout } = host.limits
    if (handlerTimeout > 0) this.#timer = setTimeout(() => this.#timeOut(), handlerTimeout)
    host.dispatch(this, this.id, this.allow)
  }

  bodyText(): string {
    return this.#whole?.toString('utf8') ?? ''
  }

  bodyBytes(): Buffer {
    return Buffer.from(this.#whole ?? '')
  }

  readBody(sink: BodySink, window: number): void {
    if (this.#upload === null || this.bodyKind !== BodyKind.stream) throw new VolantError('E_BODY_USED')
    this.#upload.stream(sink, window)
  }

  credit(bytes: number): void {
    this.#upload?.credit(bytes)
  }

  inform(status: number, headers: string[]): void {
    if (!this.replied && !this.aborted && this.httpVersion !== '1.0') this.#sink.inform(status, headers)
  }

  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    if (status === 426 && this.httpVersion === '1.1') list.push(...upgradeFields)
    const empty = status === 204 || status === 304
    const bytes = Buffer.from((body ?? '') as string)
    if (!empty) list.push('content-length', String(bytes.length))
    this.#settle()
    this.#sink.whole(status, list, empty || this.method === 'HEAD' ? null : bytes)
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    if (status === 426 && this.httpVersion === '1.1') list.push(...upgradeFields)
    const empty = status === 204 || status === 205 || status === 304
    this.#length = length
    if (length >= 0 && !empty) list.push('content-length', String(length))
    this.#sink.start(status, list, empty || this.method === 'HEAD')
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.aborted) return true
    const bytes = Buffer.from(chunk as string)
    this.#sent += bytes.length
    if (this.#length < 0 || this.#sent <= this.#length) return this.#sink.chunk(bytes)
    this.destroy()
    return true
  }

  finish(): void {
    if (this.aborted) return
    if (this.#length >= 0 && this.#sent !== this.#length && this.method !== 'HEAD') return this.destroy()
    this.#settle()
    this.#sink.end()
  }

  destroy(): void {
    this.#break('error', new VolantError('E_RESET'))
  }

  /** The client left; `error` is what whoever waits for the reply is told. */
  lose(error: unknown): void {
    this.#break('client', error)
  }

  /** Whoever takes the reply has room again. */
  drain(): void {
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  #break(reason: 'client' | 'error', error: unknown): void {
    if (this.aborted || this.complete) return
    this.#settle()
    this.markAborted(reason)
    this.#sink.fail(error)
  }

  #head(type: ContentType, headers: string[] | null): string[] {
    this.replied = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const name = contentTypes[type]
    const list = headers === null ? [] : [...unpackHeaders(headers)]
    if (name !== null && name !== undefined) list.push('content-type', name)
    return list
  }

  #refuse(code: ErrorCode): void {
    this.end(errorTable[code].status, ContentType.problem, null, refusalText(code))
  }

  #timeOut(): void {
    if (this.replied) return
    this.#refuse('E_HANDLER_TIMEOUT')
    this.markAborted('timeout')
  }

  /** The end, good or bad: nobody is asked to leave any more, and the rest of the body is nobody's. */
  #settle(): void {
    this.complete = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.#leave)
    this.#upload?.fail()
  }
}
