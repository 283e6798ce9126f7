/**
 * Exchanges without a socket, for `app.inject` and `app.fetch`. They run the same checks and the same dispatch as
 * others.
 */
import {
  type AbortReason,
  BodyKind,
  type ContentType,
  contentTypes,
  type Exchange,
  type Host,
  unpackHeaders,
} from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import type { SourceParts } from '../reply/source.ts'
import type { Routes } from './head.ts'
import { MemoryUpload } from './memory-upload.ts'
import { upgradeFieldsOf } from './refuse.ts'
import { SocketExchange } from './socket-exchange.ts'

export interface MemoryRequest {
  readonly method: string
  /** The path and query, or another form that a request line may have. */
  readonly target: string
  /** The names and values of the headers in turn. */
  readonly headers: string[]
  /** The body: complete, or a source of it; null without one. */
  readonly body: Buffer | SourceParts | null
  /** The trailer fields: name, value, name, value, …. */
  readonly trailers?: string[] | undefined
  readonly httpVersion: '1.0' | '1.1'
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** This signal is aborted when the client disconnects. */
  readonly signal: AbortSignal | null
}

/** Receives a reply: `whole` alone, or `start`, chunks and `end`. `fail` may come at any time before the end. */
export interface ReplySink {
  inform(status: number, headers: string[]): void
  whole(status: number, headers: string[], body: Buffer | null): void
  /** With `empty` no chunk follows, whatever the headers say. */
  start(status: number, headers: string[], empty: boolean): void
  /** Returns false when the next chunk should wait for `MemoryExchange.drain`. */
  chunk(bytes: Buffer): boolean
  /** `trailers` are the trailer fields: name, value, name, value, …. */
  end(trailers: string[]): void
  fail(error: unknown): void
}

export class MemoryExchange extends SocketExchange implements Exchange {
  readonly host: Host
  readonly server = { uploads: new Set<SocketExchange>(), buffered: 0, refused: 0 }
  readonly httpVersion: '1.0' | '1.1'
  readonly remoteAddress: string
  readonly encrypted: boolean
  declare upload: MemoryUpload | null
  readonly #request: MemoryRequest
  readonly #sink: ReplySink
  /** True if the reply would be chunked on a socket, so that it may have trailer fields. */
  #isChunked = false
  readonly #leave = () => this.lose(this.#request.signal?.reason)

  constructor(host: Host, request: MemoryRequest, sink: ReplySink) {
    super(request.method, request.headers)
    this.host = host
    this.httpVersion = request.httpVersion
    this.remoteAddress = request.remoteAddress
    this.encrypted = request.encrypted
    this.#request = request
    this.#sink = sink
  }

  get target(): string {
    return this.#request.target
  }

  get inheritsContext(): true {
    return true
  }

  run(routes: Routes): void {
    const { body, signal, trailers } = this.#request
    const none = body === null || (Buffer.isBuffer(body) && body.length === 0 && trailers === undefined)
    if (!none) {
      this.upload = new MemoryUpload(this, body)
      this.upload.trailers = trailers
    }
    if (signal?.aborted === true) return this.lose(signal.reason)
    signal?.addEventListener('abort', this.#leave)
    const refused = this.admit(this.target, this.host, routes)
    // The body decides: a web Request has no Content-Length.
    if (none) this.declaredLength = 0
    else if (this.declaredLength === 0) this.declaredLength = -1
    if (refused !== null) return this.refuse(refused)
    const waits = this.awaitsBody(() => {
      if (this.upload?.received === 0) this.bodyKind = BodyKind.none
      this.dispatch()
    })
    if (!waits) this.dispatch()
  }

  protected newUpload(): MemoryUpload {
    return this.upload as MemoryUpload
  }

  /** There is no connection. */
  protected closeAfter(): void {}

  inform(status: number, headers: string[]): void {
    if (!this.replied && !this.aborted && this.httpVersion !== '1.0') this.#sink.inform(status, headers)
  }

  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    if (status === 426 && this.httpVersion === '1.1') list.push(...upgradeFieldsOf(list))
    const empty = status === 204 || status === 304
    const bytes = Buffer.from((body ?? '') as string)
    if (!empty) list.push('content-length', String(bytes.length))
    this.#settle()
    this.#sink.whole(status, list, empty || this.method === 'HEAD' ? null : bytes)
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    if (status === 426 && this.httpVersion === '1.1') list.push(...upgradeFieldsOf(list))
    const empty = status === 204 || status === 205 || status === 304
    this.length = length
    if (length >= 0 && !empty) list.push('content-length', String(length))
    const isEmpty = empty || this.method === 'HEAD'
    this.#isChunked = length < 0 && !isEmpty && this.httpVersion !== '1.0'
    this.#sink.start(status, list, isEmpty)
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.aborted) return true
    const bytes = Buffer.from(chunk as string)
    return this.exceeds(bytes.length) || this.#sink.chunk(bytes)
  }

  finish(_isLast = false, trailers: string[] | null = null): void {
    if (this.aborted) return
    if (this.length >= 0 && this.sent !== this.length && this.method !== 'HEAD') return this.destroy()
    this.#settle()
    this.#sink.end(this.#isChunked && trailers !== null ? trailers : [])
  }

  destroy(): void {
    this.abort('error')
  }

  abort(reason: AbortReason): void {
    this.#break(reason, new VolantError('E_RESET'))
  }

  /** Disconnects the client. Code that waits for the reply gets `error`. */
  lose(error: unknown): void {
    this.#break('client', error)
  }

  /** Is called when the receiver of the reply takes more chunks again. */
  drain(): void {
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  #break(reason: AbortReason, error: unknown): void {
    if (this.gone) return
    this.#settle()
    this.markAborted(reason)
    this.#sink.fail(error)
  }

  #head(type: ContentType, headers: string[] | null): string[] {
    this.replied = true
    if (this.timer !== null) clearTimeout(this.timer)
    const name = contentTypes[type]
    const list = headers === null ? [] : [...unpackHeaders(headers)]
    if (name !== null && name !== undefined) list.push('content-type', name)
    return list
  }

  /** Ends the exchange. From now on the client cannot disconnect, and the rest of the body is dropped. */
  #settle(): void {
    this.given = true
    if (this.timer !== null) clearTimeout(this.timer)
    this.#request.signal?.removeEventListener('abort', this.#leave)
    this.upload?.fail(new VolantError('E_ABORTED'))
  }
}
