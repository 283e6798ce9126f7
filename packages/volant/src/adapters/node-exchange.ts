/** One request of node:http as an `Exchange`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type AbortReason,
  BodyKind,
  BodyMode,
  type BodySink,
  ContentType,
  contentTypes,
  type Exchange,
} from '@volant/engine'
import { type ErrorCode, errorTable, VolantError } from '../errors.ts'
import { Head } from './head.ts'
import type { NodeConnection } from './node-connection.ts'
import { refusalText } from './refuse.ts'

/** Bytes of a streamed reply that may wait in this process before `write` says so. */
const sendBuffer = 65_536

export class NodeExchange extends Head implements Exchange {
  readonly connection: NodeConnection
  readonly request: IncomingMessage
  readonly response: ServerResponse
  bodyKind: BodyKind = BodyKind.none
  bodyLength = 0
  replied = false
  /** May be dispatched as soon as it is its turn. */
  ready = true
  /** Counted in the server's `inFlight`. */
  counted = false
  /** Bytes of the body that arrived, and when the first was awaited (ms). */
  received = 0
  readSince = 0
  #body: Buffer | null = null
  #held = 0
  #continued = false
  #sink: BodySink | null = null
  #window = 0
  #leftover: Buffer | null = null
  #ended = false
  #length = -1
  #sent = 0
  #timer: NodeJS.Timeout | null = null

  constructor(connection: NodeConnection, request: IncomingMessage, response: ServerResponse) {
    super(request.method ?? '', request.rawHeaders)
    this.connection = connection
    this.request = request
    this.response = response
  }

  get httpVersion(): '1.0' | '1.1' {
    return this.request.httpVersionMinor === 0 ? '1.0' : '1.1'
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress
  }

  /** The body's mode, from the route found; a request without a route has its body discarded. */
  prepareBody(): void {
    if (this.declaredLength === 0) return
    const route = this.connection.server.host.routes[this.id]
    this.bodyLength = this.declaredLength
    if (route === undefined || this.id < 0) return
    if (route.bodyMode === BodyMode.stream) this.bodyKind = BodyKind.stream
    else this.#collect(route.maxBodySize)
  }

  /** Gathers a body for a route that wants the whole of it. */
  #collect(limit: number): void {
    const { server } = this.connection
    const chunks: Buffer[] = []
    this.ready = false
    this.#startReading()
    this.request.on('data', (chunk: Buffer) => {
      if (this.replied) return
      this.received += chunk.length
      if (this.received > limit) return this.refuse('E_BODY_TOO_LARGE')
      if (server.buffered + chunk.length > server.host.limits.maxBufferedBodies)
        return this.refuse('E_OVERLOADED')
      server.buffered += chunk.length
      this.#held += chunk.length
      chunks.push(chunk)
    })
    this.request.on('end', () => {
      server.uploads.delete(this)
      if (this.replied || this.aborted) return
      this.#body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.received)
      this.bodyKind = BodyKind.complete
      this.bodyLength = this.received
      this.ready = true
      this.connection.pump()
    })
  }

  #startReading(): void {
    // Without a listener node:http would throw the client's departure at the process.
    this.request.on('error', ignore)
    this.readSince = Date.now()
    this.connection.server.uploads.add(this)
    if (this.expects && !this.#continued) this.response.writeContinue()
    this.#continued = true
  }

  dispatch(): void {
    const { host } = this.connection.server
    if (host.limits.handlerTimeout > 0) this.#timer = setTimeout(timeOut, host.limits.handlerTimeout, this)
    host.dispatch(this, this.id, this.allow)
  }

  bodyText(): string {
    return this.#body === null ? '' : this.#body.toString('utf8')
  }

  bodyBytes(): Buffer {
    return this.#body === null ? Buffer.alloc(0) : Buffer.from(this.#body)
  }

  readBody(sink: BodySink, window: number): void {
    if (this.#sink !== null || this.bodyKind !== BodyKind.stream) throw new VolantError('E_BODY_USED')
    this.#sink = sink
    this.#window = window
    if (this.aborted || this.replied) {
      queueMicrotask(() => this.failBody(new VolantError('E_ABORTED')))
      return
    }
    this.#startReading()
    this.request.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.request.on('end', () => {
      this.connection.server.uploads.delete(this)
      this.#ended = true
      if (this.#leftover === null) this.#endBody()
    })
  }

  credit(bytes: number): void {
    this.#window += bytes
    const leftover = this.#leftover
    if (leftover !== null) {
      this.#leftover = null
      this.#deliver(leftover)
    }
    if (this.#leftover !== null || this.#window <= 0) return
    if (this.#ended) this.#endBody()
    else this.request.resume()
  }

  #receive(chunk: Buffer): void {
    if (this.#sink === null) return
    this.received += chunk.length
    if (this.received > (this.connection.server.host.routes[this.id]?.maxBodySize ?? 0)) {
      return this.failBody(new VolantError('E_BODY_TOO_LARGE'), 413)
    }
    this.#deliver(chunk)
  }

  #deliver(chunk: Buffer): void {
    const fits = Math.min(chunk.length, this.#window)
    this.#window -= fits
    if (fits < chunk.length) this.#leftover = chunk.subarray(fits)
    // Before the sink runs: it may grant credit and so resume.
    if (this.#window <= 0) this.request.pause()
    const sink = this.#sink
    if (fits > 0 && sink !== null) this.runInAsyncScope(sink.chunk, sink, chunk.subarray(0, fits))
  }

  #endBody(): void {
    const sink = this.#sink
    this.#sink = null
    if (sink !== null) this.runInAsyncScope(sink.end, sink)
  }

  /** The body cannot be read to its end. */
  failBody(error: Error, status?: number): void {
    const sink = this.#sink
    this.#sink = null
    this.#leftover = null
    this.connection.server.uploads.delete(this)
    if (sink !== null)
      this.runInAsyncScope(sink.fail, sink, status === undefined ? error : Object.assign(error, { status }))
  }

  // lab/pair node-http node: one writeHead with a flat list and one end are what keeps this near bare node:http.
  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    let content = body
    if (status === 204 || status === 304) content = null
    else
      list.push(
        'Content-Length',
        String(body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length),
      )
    if (this.method === 'HEAD') content = null
    // node:http writes a head together with a string as UTF-8; fields are Latin-1.
    if (typeof content === 'string' && headers !== null && headers.some(isNotAscii))
      content = Buffer.from(content)
    const linger = this.declaredLength !== 0 && !this.connection.broken && this.#closesUnread(list)
    if (!linger && this.connection.mustClose()) list.push('Connection', 'close')
    const { response } = this
    response.writeHead(status, list)
    if (linger) return this.#linger(content)
    if (content === null) response.end()
    else response.end(content)
    this.#done()
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    this.#length = length
    if (length >= 0 && status !== 204 && status !== 304) list.push('Content-Length', String(length))
    // Whether the body will be read by the end of the reply is not known yet; `finish` sees to it.
    if (this.connection.mustClose()) list.push('Connection', 'close')
    const { response } = this
    response.on('drain', () => {
      this.connection.server.stalls.delete(this.connection)
      if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
    })
    response.writeHead(status, list)
    response.flushHeaders()
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.aborted) return true
    const { response } = this
    const bytes = Buffer.from(chunk as string)
    this.#sent += bytes.length
    if (this.#length >= 0 && this.#sent > this.#length) {
      this.destroy()
      return true
    }
    response.write(bytes)
    if (response.writableLength <= sendBuffer) return true
    this.connection.server.stalls.add(this.connection)
    return false
  }

  finish(): void {
    if (this.aborted) return
    if (this.#length >= 0 && this.#sent !== this.#length && this.method !== 'HEAD') return this.destroy()
    this.response.end()
    if (this.declaredLength !== 0 && !this.request.complete) this.#discard()
    this.#done()
  }

  destroy(): void {
    this.abort('error')
    this.connection.socket.resetAndDestroy()
  }

  /** Replies without the app, and closes: framing or load make further requests unwelcome. */
  refuse(code: ErrorCode): void {
    if (this.replied || this.aborted) return
    this.connection.closing = true
    // A client that does not send its body has nothing to be waited for.
    if (code === 'E_REQUEST_TIMEOUT') this.connection.broken = true
    this.connection.server.refused++
    this.end(errorTable[code].status, ContentType.problem, null, refusalText(code))
  }

  hangUpBy(): void {
    this.hangUp()
  }

  /** The connection is lost, or the server gives up on the exchange. */
  abort(reason: AbortReason): void {
    if (this.aborted) return
    this.#release()
    this.markAborted(reason)
    this.failBody(new VolantError('E_ABORTED'))
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  /** Ends the handler's time: 503 if it has not begun to reply. */
  timeOut(): void {
    if (this.replied || this.aborted) return
    this.end(503, ContentType.problem, null, refusalText('E_HANDLER_TIMEOUT'))
    this.markAborted('timeout')
    this.failBody(new VolantError('E_ABORTED'))
  }

  #head(type: ContentType, headers: string[] | null): string[] {
    this.replied = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const name = contentTypes[type]
    if (headers === null) return name === null || name === undefined ? [] : ['Content-Type', name]
    return name === null || name === undefined ? [...headers] : [...headers, 'Content-Type', name]
  }

  /** For a body that was not read to its end: whether the connection closes for it, and if so says it. */
  #closesUnread(list: string[]): boolean {
    if (this.request.complete) return false
    const rest = this.declaredLength < 0 ? Infinity : this.declaredLength - this.received
    const { drainLimit } = this.connection.server.host.limits
    if (rest <= drainLimit && (!this.expects || this.#continued) && !this.connection.mustClose()) {
      this.#discard()
      return false
    }
    list.push('Connection', 'close')
    return true
  }

  /** Reads on without keeping; the server's sweep closes the connection if it takes too long. */
  #discard(): void {
    this.#sink = null
    this.request.on('error', ignore)
    this.request.resume()
    this.connection.server.drains.set(this, Date.now() + this.connection.server.host.limits.drainTimeout)
  }

  /** Sends the reply and reads on for a while: closing with unread bytes would reset the reply on its way. */
  #linger(content: string | Uint8Array | null): void {
    const { response, request } = this
    if (content === null) response.flushHeaders()
    else response.write(content)
    let discarded = 0
    request.on('data', (chunk: Buffer) => {
      discarded += chunk.length
      if (discarded > this.connection.server.host.limits.drainLimit) response.end()
    })
    request.on('end', () => response.end())
    this.#discard()
    this.#done()
  }

  #done(): void {
    this.#release()
    this.connection.finished(this)
  }

  #release(): void {
    const { server } = this.connection
    if (this.counted) server.inFlight--
    this.counted = false
    if (this.#held > 0) server.buffered -= this.#held
    this.#held = 0
    if (this.declaredLength !== 0) server.uploads.delete(this)
  }
}

function timeOut(exchange: NodeExchange): void {
  exchange.timeOut()
}

// oxlint-disable-next-line no-control-regex -- ASCII is meant
const notAscii = /[^\x00-\x7f]/

function isNotAscii(text: string): boolean {
  return notAscii.test(text)
}

function ignore(): void {}
