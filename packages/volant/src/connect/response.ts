/** The reply as connect middlewares see it: a ServerResponse whose head and body leave through the reply of the context. */
import { ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Stream } from 'node:stream'
import { VolantError } from '../errors/errors.ts'
import { phrases } from '../errors/phrases.ts'
import { location } from '../reply/reply.ts'
import { HeaderFields, type FieldValue } from './header-fields.ts'
import { chunkOf, type WriteCallback, writeArguments } from './write-arguments.ts'
import { define, shell } from './shell.ts'
import { coded, unsupported } from './unsupported.ts'
import type { Pair } from './pair.ts'
import type { ConnectRequest } from './request.ts'
import type { ConnectSocket } from './socket.ts'

type Listener = (...values: unknown[]) => void
type Fields = Record<string, FieldValue | undefined> | readonly unknown[]

export class ConnectResponse extends shell<Stream>(ServerResponse) {
  readonly _pair: Pair
  readonly req: ConnectRequest
  statusCode: number
  finished = false
  destroyed = false
  _closed = false
  _finished = false
  _committed = false
  _head: string | null = null
  _store: HeaderFields

  constructor(pair: Pair) {
    super()
    const { ctx } = pair
    this._pair = pair
    this.req = pair.req
    this.statusCode = ctx.statusCode === 0 ? 200 : ctx.statusCode
    this._store = new HeaderFields(ctx)
  }

  get headersSent(): boolean {
    return this._committed || this._pair.hasLeft
  }

  get writableEnded(): boolean {
    return this.finished
  }

  get writableFinished(): boolean {
    return this._finished
  }

  get writableNeedDrain(): boolean {
    return this._pair.outlet?.needsDrain ?? false
  }

  get writableLength(): number {
    return this._pair.outlet?.waiting ?? 0
  }

  get closed(): boolean {
    return this._closed
  }

  get socket(): ConnectSocket {
    return this._pair.socket
  }

  get connection(): ConnectSocket {
    return this._pair.socket
  }

  /** The head as text once it is committed, null before. Middlewares ask whether there is one. */
  get _header(): string | null {
    if (!this.headersSent) return null
    return (this._head ??= this._headText())
  }

  _headText(): string {
    let text = `HTTP/1.1 ${this.statusCode} ${phrases[this.statusCode] ?? ''}\r\n`
    for (const name of this._store.names()) {
      for (const value of [this._store.get(name)].flat()) text += `${name}: ${String(value)}\r\n`
    }
    return `${text}\r\n`
  }

  getHeader(name: string): FieldValue | undefined {
    return this._store.get(name)
  }

  hasHeader(name: string): boolean {
    return this._store.get(name) !== undefined
  }

  getHeaderNames(): string[] {
    return this._store.lowerNames()
  }

  getRawHeaderNames(): string[] {
    return this._store.names()
  }

  getHeaders(): Record<string, FieldValue> {
    const fields = Object.create(null) as Record<string, FieldValue>
    for (const name of this._store.lowerNames()) fields[name] = this._store.get(name) as FieldValue
    return fields
  }

  setHeader(name: string, value: FieldValue): this {
    if (this._committed || this._pair.hasLeft) throw headersSent('set')
    this._store.set(name, value)
    return this
  }

  setHeaders(fields: Iterable<[string, FieldValue]>): this {
    for (const [name, value] of fields) this.setHeader(name, value)
    return this
  }

  appendHeader(name: string, value: FieldValue): this {
    if (this.headersSent) throw headersSent('append')
    this._store.append(name, value)
    return this
  }

  removeHeader(name: string): void {
    if (this._committed || this._pair.hasLeft) throw headersSent('remove')
    this._store.remove(name)
  }

  /** Commits the head. It leaves with the first part of the body. The reason is accepted, and not sent. */
  writeHead(status: number, reason?: string | Fields, fields?: Fields): this {
    if (this.headersSent) throw headersSent('write')
    const code = Math.trunc(Number(status)) || 0
    if (code < 100 || code > 999) {
      throw coded(new RangeError(`Invalid status code: ${String(status)}`), 'ERR_HTTP_INVALID_STATUS_CODE')
    }
    if (code < 200) informational()
    this.statusCode = code < 600 ? code : this._statusFor(code)
    const given = typeof reason === 'string' ? fields : (reason ?? fields)
    if (given !== undefined && given !== null) this._setAll(given)
    this._committed = true
    this._store.flush(true)
    return this
  }

  /** Clients take a status from 600 on for an error of the server (RFC 9110 §15); a proxy cannot catch what is thrown. */
  _statusFor(code: number): number {
    const text = `a middleware behind fromConnect replied with status ${code}, which is none, so 500 was sent in its place: replies have 200 to 599`
    this._pair.ctx.app.report(new VolantError('E_BAD_STATUS', text), this._pair.ctx)
    return 500
  }

  _setAll(given: Fields): void {
    if (!Array.isArray(given)) {
      for (const [name, value] of Object.entries(given as Record<string, FieldValue | undefined>)) {
        if (value !== undefined) this._store.set(name, value)
      }
      return
    }
    const list = Array.isArray(given[0]) ? (given.flat(1) as unknown[]) : given
    if (list.length % 2 !== 0)
      throw coded(new TypeError('The headers are malformed'), 'ERR_INVALID_ARG_VALUE')
    for (let at = 0; at < list.length; at += 2) this._store.remove(list[at] as string)
    for (let at = 0; at < list.length; at += 2) {
      this._store.append(list[at] as string, list[at + 1] as FieldValue)
    }
  }

  _implicitHeader(): void {
    this.writeHead(this.statusCode)
  }

  flushHeaders(): void {
    if (!this.headersSent) this._implicitHeader()
    if (this._committed && this._pair.outlet === null && !this.finished) this._pair.open()
  }

  write(chunk: unknown, encoding?: string | WriteCallback, done?: WriteCallback): boolean {
    const given = writeArguments(encoding, done)
    const bytes = chunkOf(chunk, given.encoding)
    if (this.finished) return this._writeAfterEnd(given.done)
    if (!this.headersSent) this._implicitHeader()
    return this._pair.write(bytes, given.done)
  }

  end(chunk?: unknown, encoding?: string | WriteCallback, done?: WriteCallback): this {
    const last = typeof chunk === 'function' ? undefined : chunk
    const given = writeArguments(typeof chunk === 'function' ? (chunk as WriteCallback) : encoding, done)
    const bytes = last === undefined || last === null ? null : chunkOf(last, given.encoding)
    if (this.finished) {
      if (bytes !== null) this._writeAfterEnd(given.done)
      else if (given.done !== undefined) process.nextTick(given.done, alreadyFinished())
      return this
    }
    if (given.done !== undefined) this.once('finish', given.done as Listener)
    if (!this.headersSent) this._implicitHeader()
    this.finished = true
    try {
      this._pair.end(bytes)
    } catch (error) {
      this.finished = false
      throw error
    }
    return this
  }

  /** Reports it. Where nobody listens, the error that node:http emits would end the process. */
  _writeAfterEnd(done: WriteCallback | undefined): boolean {
    const error = coded(new Error('write after end'), 'ERR_STREAM_WRITE_AFTER_END')
    if (done !== undefined) process.nextTick(done, error)
    if (this.listenerCount('error') > 0) process.nextTick(() => this.emit('error', error))
    else this._pair.ctx.app.report(error, this._pair.ctx)
    return false
  }

  /**
   * Adds trailer fields. As in node:http they are checked at once. Fields that a reply cannot have are left out, and
   * those that are added after its end are dropped.
   */
  addTrailers(fields: Fields): void {
    if (this._pair.ctx.exchange.sendsTrailers === false) noTrailers()
    const pairs = Array.isArray(fields)
      ? (fields as readonly [string, FieldValue][])
      : Object.entries(fields as Record<string, FieldValue>)
    for (const [name, value] of pairs) {
      validateHeaderName(name)
      for (const each of [value].flat()) validateHeaderValue(name, each as string)
      if (!this.finished) this._pair.addTrailer(name, value)
    }
  }

  /** Redirects as Express does, since passport asks for it. The status is 302 unless it comes first. */
  redirect(status: number | string, url?: string | number): void {
    const [code, to] = typeof status === 'number' ? [status, url] : [Number(url ?? 302), status]
    this.statusCode = code
    this.setHeader('Location', location(to as string))
    this.setHeader('Content-Length', '0')
    this.end()
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this
    this.destroyed = true
    this._pair.destroy(error)
    return this
  }

  writeEarlyHints(hints: Record<string, string | string[]>, done?: () => void): void {
    this._pair.ctx.earlyHints(hints as Parameters<typeof this._pair.ctx.earlyHints>[0])
    done?.()
  }

  override on(name: string | symbol, listener: Listener): this {
    if (name !== 'newListener') this._pair.watch()
    return super.on(name, listener)
  }

  override addListener(name: string | symbol, listener: Listener): this {
    if (name !== 'newListener') this._pair.watch()
    return super.addListener(name, listener)
  }

  override prependListener(name: string | symbol, listener: Listener): this {
    if (name !== 'newListener') this._pair.watch()
    return super.prependListener(name, listener)
  }

  setTimeout(_: number, listener?: Listener): this {
    if (listener !== undefined) this.on('timeout', listener)
    return this
  }

  cork(): void {}
  uncork(): void {}
}

const early = 'only 103 can be sent ahead of a reply, by res.writeEarlyHints()'
const noTrailers = unsupported('res.addTrailers()', 'the adapter uwebsockets sends no fields behind a body')
const informational = unsupported('res.writeHead() with an interim status', early)

define(ConnectResponse.prototype, {
  // These say to node:stream that it is a ServerResponse, which emits `close`.
  _sent100: false,
  _expect_continue: false,
  _defaultKeepAlive: true,
  _removedConnection: false,
  _removedContLen: false,
  _removedTE: false,
  _hasBody: true,
  sendDate: true,
  shouldKeepAlive: true,
  strictContentLength: false,
  writable: true,
  writableObjectMode: false,
  writableHighWaterMark: 65_536,
  writableCorked: 0,
  errored: null,
  writeHeader: ConnectResponse.prototype.writeHead,
  writeContinue: unsupported('res.writeContinue()', 'the server sends 100 Continue itself'),
  writeProcessing: unsupported('res.writeProcessing()', early),
  writeInformation: unsupported('res.writeInformation()', early),
  assignSocket: unsupported('res.assignSocket()', 'the reply has no connection of its own'),
  detachSocket: unsupported('res.detachSocket()', 'the reply has no connection of its own'),
})

function headersSent(what: string): Error {
  return coded(new Error(`Cannot ${what} headers after they are sent to the client`), 'ERR_HTTP_HEADERS_SENT')
}

function alreadyFinished(): Error {
  return coded(new Error('Cannot call end after a stream was finished'), 'ERR_STREAM_ALREADY_FINISHED')
}
