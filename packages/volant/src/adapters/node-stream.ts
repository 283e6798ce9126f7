/** Turns a stream of node:http2 into an `Exchange`. */
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import {
  type AbortReason,
  ContentType,
  contentTypes,
  type Exchange,
  type Host,
  type TlsInfo,
  unpackHeaders,
} from '@volant/engine'
import type { ErrorCode } from '../errors/errors.ts'
import { valuesByName, receivedTrailers } from '../request/trailers.ts'
import { printLine } from '../report/print-line.ts'
import type { Routes } from './head.ts'
import type { NodeServer } from './node-http.ts'
import type { NodeSession } from './node-session.ts'
import { Pieces, pieceSize } from './node-pieces.ts'
import { tlsInfoOf } from './node-tls.ts'
import { lengthOf, SocketExchange } from './socket-exchange.ts'
import { Upload } from './upload.ts'

/** The most bytes of a streamed reply that may wait in this process before `write` returns false. */
const sendBuffer = 65_536
/** The interval in ms at which the end of a reply is checked, because node:http2 does not report that it was sent. */
const endLook = 20
const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = constants

export class NodeStream extends SocketExchange implements Exchange {
  readonly session: NodeSession
  readonly stream: ServerHttp2Stream
  readonly target: string
  declare upload: StreamUpload | null
  /** The queue of a streamed or long body; null for others. */
  #pieces: Pieces | null = null
  /** The bytes that were sent by the last sweep, and the time since which their number has not changed. */
  #stalledBytes = -1
  #stalledSince = 0
  /** True once this side has closed the stream. */
  #isClosed = false
  /** The time at which the stream was cancelled; 0 before that. */
  #cancelledAt = 0
  #trailers: string[] | null = null

  constructor(session: NodeSession, stream: ServerHttp2Stream, request: StreamRequest) {
    super(request.method, request.fields)
    this.session = session
    this.stream = stream
    this.target = request.target
    stream.on('close', () => {
      session.streams.delete(this)
      if (!this.aborted && (this.wasReset || stream.rstCode !== NGHTTP2_NO_ERROR)) session.countReset()
      if (!this.given) this.abort('client')
    })
  }

  get httpVersion(): '2' {
    return '2'
  }

  get remoteAddress(): string {
    return this.session.remoteAddress
  }

  get encrypted(): boolean {
    return this.session.encrypted
  }

  tls(): TlsInfo | null {
    return this.encrypted ? tlsInfoOf(this.session.socket as TLSSocket) : null
  }

  get host(): Host {
    return this.server.host
  }

  get server(): NodeServer {
    return this.session.server
  }

  /** Does the checks of `admit` of HTTP/1, and those of its parser. */
  admitStream(request: StreamRequest, routes: Routes): ErrorCode | null {
    if (request.refusal !== null) return request.refusal
    const { fields } = request
    const size = fields.reduce((sum, text) => sum + text.length + 2, this.target.length)
    if (size > this.host.limits.maxHeaderSize) return 'E_HEAD_TOO_LARGE'
    const refusal = this.admit(this.target, this.host, routes)
    // The value -1 stands for a body without a declared length.
    if (request.ended) this.declaredLength = 0
    else if (this.declaredLength === 0 && this.header('content-length') === undefined)
      this.declaredLength = -1
    return refusal
  }

  /** Dispatches the request, after its body if the route needs the body. */
  begin(): void {
    if (!this.awaitsBody(() => this.dispatch())) this.dispatch()
  }

  protected newUpload(): StreamUpload {
    return new StreamUpload(this)
  }

  // A stream that fails does not close its connection, because the framing of the connection stays valid.
  protected closeAfter(): void {}

  inform(status: number, headers: string[]): void {
    if (this.replied || this.aborted || this.stream.destroyed) return
    // Hints lose their value with time, so a client that does not read gets none.
    if ((this.session.socket.writableLength ?? 0) > sendBuffer / 4) return
    this.stream.additionalHeaders(this.#fieldsOf(status, headers))
  }

  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    const isBare = status === 204 || status === 304
    if (!isBare) list.push('content-length', String(lengthOf(body)))
    const isEmpty = isBare || this.method === 'HEAD' || lengthOf(body) === 0
    this.#respond(status, list, isEmpty, false)
    if (!isEmpty && body !== null && lengthOf(body) > pieceSize) {
      this.#pieces = new Pieces(this.stream, () => {})
      this.#pieces.write(
        typeof body === 'string'
          ? Buffer.from(body)
          : Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      )
      this.#pieces.end()
    } else if (!isEmpty) this.stream.end(body as string)
    this.#done()
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    const isBare = status === 204 || status === 304
    this.length = length
    if (length >= 0 && !isBare) list.push('content-length', String(length))
    const isEmpty = isBare || this.method === 'HEAD'
    const { stream } = this
    this.#pieces = new Pieces(stream, () => {
      if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
    })
    stream.on('wantTrailers', () => this.#sendTrailers(length >= 0 ? null : this.#trailers))
    this.#respond(status, list, isEmpty, !isEmpty)
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.aborted) return true
    const bytes = Buffer.from(chunk as string)
    if (this.exceeds(bytes.length) || this.#pieces === null) return true
    this.#pieces.write(bytes)
    return this.#pieces.waiting <= sendBuffer
  }

  finish(_isLast = false, trailers: string[] | null = null): void {
    if (this.aborted) return
    if (this.length >= 0 && this.sent !== this.length && this.method !== 'HEAD') return this.destroy()
    this.#trailers = trailers
    this.#pieces?.end()
    this.#done()
  }

  destroy(): void {
    this.abort('error')
    this.#close(NGHTTP2_INTERNAL_ERROR)
  }

  abort(reason: AbortReason): void {
    if (this.aborted) return
    this.#release()
    this.abandon(reason)
  }

  /** True if the client has reset the stream before its reply was sent. */
  get wasReset(): boolean {
    const { stream } = this
    return stream.closed && !this.#isClosed && (stream.aborted || !stream.writableFinished)
  }

  #close(code: number): void {
    this.#isClosed = true
    this.stream.close(code)
  }

  /** Ends a stream whose client does not read it. */
  cancel(now: number): void {
    if (this.#cancelledAt > 0) return
    this.#cancelledAt = now
    if (!this.given) this.abort('error')
    this.#close(NGHTTP2_CANCEL)
  }

  /**
   * Gives the milliseconds for which the reset of a cancelled stream has waited behind bytes that the client does not
   * read.
   */
  cancelledFor(now: number): number {
    return this.#cancelledAt > 0 ? now - this.#cancelledAt : 0
  }

  /** Gives the milliseconds for which bytes have waited and none were sent. */
  stalledFor(now: number): number {
    const waiting = this.#pieces?.waiting ?? this.stream.writableLength
    const sent = this.#pieces?.sent ?? 0
    if (waiting === 0 || sent !== this.#stalledBytes) {
      this.#stalledBytes = sent
      this.#stalledSince = now
    }
    return now - this.#stalledSince
  }

  #head(type: ContentType, given: string[] | null): string[] {
    this.replied = true
    if (this.timer !== null) clearTimeout(this.timer)
    const name = contentTypes[type] ?? null
    const list = given === null ? [] : [...unpackHeaders(given)]
    if (name !== null) list.push('content-type', name)
    return list
  }

  #respond(status: number, list: readonly string[], endStream: boolean, waitForTrailers: boolean): void {
    const { stream } = this
    if (stream.destroyed || stream.closed) return
    pass(this.#fieldsOf(status, list), (fields) => stream.respond(fields, { endStream, waitForTrailers }))
  }

  #sendTrailers(list: string[] | null): void {
    const { stream } = this
    try {
      // Without fields node:http2 ends the stream with an empty frame.
      pass(list === null ? {} : valuesByName(list), (fields) => stream.sendTrailers(fields))
    } catch (error) {
      // No caller could catch the error, so it would end the process.
      printLine(`volant: node:http2 refuses trailers: ${String(error)}`)
      this.#close(NGHTTP2_INTERNAL_ERROR)
    }
  }

  #fieldsOf(status: number, list: readonly string[]): OutgoingHttpHeaders {
    const fields: OutgoingHttpHeaders = valuesByName(list)
    // These fields concern a connection of HTTP/1 (RFC 9113 §8.2.2).
    for (const name of connectionFields) Reflect.deleteProperty(fields, name)
    for (const [name, values] of Object.entries(fields))
      if (Array.isArray(values) && values.length === 1) fields[name] = values[0]
    fields[':status'] = status
    return fields
  }

  #done(): void {
    this.given = true
    this.#release()
    const { upload, stream } = this
    if (upload === null || upload.ended) return
    const { drainLimit, drainTimeout } = this.host.limits
    // NO_ERROR tells the client to stop (RFC 9113 §8.1). Otherwise further bytes would use the connection window.
    const close = () => {
      if (stream.destroyed || upload.ended) return
      // A reset would discard the rest of the reply.
      if (stream.state.localClose === 1) this.#close(NGHTTP2_NO_ERROR)
      else late = setTimeout(close, endLook).unref()
    }
    let late = setTimeout(close, drainTimeout).unref()
    stream.once('close', () => clearTimeout(late))
    let isOver = false
    upload.drop(() => {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      close()
    }, drainLimit)
  }

  #release(): void {
    if (this.counted) this.server.inFlight--
    this.counted = false
    this.upload?.release()
  }
}

/**
 * Passes fields to node:http2, which accepts some of them only once. A list of values is then joined to one (RFC 9110
 * §5.3).
 */
function pass(fields: OutgoingHttpHeaders, send: (fields: OutgoingHttpHeaders) => void): void {
  try {
    send(fields)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_HTTP2_HEADER_SINGLE_VALUE') throw error
    for (const [name, value] of Object.entries(fields))
      if (Array.isArray(value) && name !== 'set-cookie') fields[name] = value.join(', ')
    send(fields)
  }
}

const connectionFields = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]

/** The body of a stream. */
class StreamUpload extends Upload {
  declare readonly exchange: NodeStream
  #reads = false

  drop(over: () => void, most: number): void {
    this.#listen()
    this.discard(over, most)
  }

  protected begin(): void {
    const { exchange } = this
    this.#listen()
    if (exchange.expects && !exchange.replied && !exchange.stream.destroyed)
      exchange.stream.additionalHeaders({ ':status': 100 })
  }

  #listen(): void {
    if (this.#reads) return
    this.#reads = true
    const { stream } = this.exchange
    stream.on('trailers', (_fields, _flags, raw?: string[]) => {
      this.trailers = receivedTrailers(raw ?? [])
    })
    stream.on('data', (chunk: Buffer) => this.receive(chunk, false))
    // A stream that is reset also emits `end`.
    stream.on('end', () => {
      if (!stream.aborted) this.receive(Buffer.alloc(0), true)
    })
  }

  protected pause(): void {
    this.exchange.stream.pause()
  }

  protected resume(): void {
    this.exchange.stream.resume()
  }
}

/** The head of a request of HTTP/2 (RFC 9113 §8.3.1). */
export interface StreamRequest {
  readonly method: string
  readonly target: string
  /** The fields in the form of HTTP/1: `host` stands for `:authority`. */
  readonly fields: string[]
  /** True if the request has no body. */
  readonly ended: boolean
  readonly refusal: ErrorCode | null
}

export function requestOf(raw: readonly string[], flags: number): StreamRequest {
  let [method, path, authority]: (string | undefined)[] = []
  const fields: string[] = []
  let host: string | undefined
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string
    const value = raw[at + 1] as string
    if (name === ':method') method = value
    else if (name === ':path') path = value
    else if (name === ':authority') authority = value
    else if (!name.startsWith(':')) {
      if (name === 'host') host ??= value
      fields.push(name, value)
    }
  }
  if (host === undefined && authority !== undefined) fields.unshift('host', authority)
  const differs = host !== undefined && authority !== undefined && host !== authority
  return {
    method: method ?? '',
    target: (method === 'CONNECT' ? authority : path) ?? '',
    fields,
    ended: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0,
    refusal: differs ? 'E_BAD_REQUEST' : (host ?? authority ?? '') === '' ? 'E_HOST_MISSING' : null,
  }
}
