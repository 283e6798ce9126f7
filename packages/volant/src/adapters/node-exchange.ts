/** Makes an `Exchange` of a request of node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import {
  type AbortReason,
  ContentType,
  contentTypes,
  type Exchange,
  type Host,
  type ServerSocket,
  type SocketEvents,
  type TlsInfo,
  unpackHeaders,
} from '@volant/engine'
import { phrases } from '../errors/phrases.ts'
import type { NodeConnection } from './node-connection.ts'
import { writeInterim } from './node-interim.ts'
import { reset } from './node-reset.ts'
import { tlsInfoOf } from './node-tls.ts'
import { NodeUpload } from './node-upload.ts'
import type { NodeUpgrade } from './node-upgrade.ts'
import type { NodeServer } from './node-http.ts'
import { upgradeFieldsOf } from './refuse.ts'
import { valuesByName } from '../request/trailers.ts'
import { lengthOf, notAscii, SocketExchange } from './socket-exchange.ts'

/** The bytes of a streamed reply that may wait in this process before `write` returns false. */
const sendBuffer = 65_536

export class NodeExchange extends SocketExchange implements Exchange {
  readonly connection: NodeConnection
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** True where the request may be dispatched as soon as it is its turn. */
  ready = true
  declare upload: NodeUpload | null
  /** The connection of a request for a WebSocket; null for any other. */
  upgrade: NodeUpgrade | null = null

  constructor(connection: NodeConnection, request: IncomingMessage, response: ServerResponse) {
    super(request.method ?? '', request.rawHeaders)
    this.connection = connection
    this.request = request
    this.response = response
  }

  get inheritsContext(): true {
    return true
  }

  get target(): string {
    return this.request.url ?? ''
  }

  get httpVersion(): '1.0' | '1.1' {
    return this.request.httpVersionMinor === 0 ? '1.0' : '1.1'
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress
  }

  get encrypted(): boolean {
    return this.connection.encrypted
  }

  tls(): TlsInfo | null {
    return this.encrypted ? tlsInfoOf(this.connection.socket as TLSSocket) : null
  }

  get host(): Host {
    return this.server.host
  }

  get server(): NodeServer {
    return this.connection.server
  }

  /** Prepares the body. A request that waits for it is dispatched when it is complete and it is the request's turn. */
  prepareBody(): void {
    this.ready = !this.awaitsBody(() => {
      this.ready = true
      this.connection.pump()
    })
  }

  protected newUpload(): NodeUpload {
    return new NodeUpload(this)
  }

  protected closeAfter(silent: boolean): void {
    this.connection.closing = true
    // There is nothing to wait for from a client that does not send its body.
    if (silent) this.connection.broken = true
  }

  inform(status: number, headers: string[]): void {
    // A client of HTTP/1.0 would take an interim reply for the reply (RFC 9110 §15.2).
    if (this.replied || this.aborted || this.httpVersion === '1.0') return
    writeInterim(this.response, status, headers)
  }

  // One writeHead with a flat list and one end keep this near bare node:http (lab/pair node-http node).
  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    let content = body
    if (status === 204 || status === 304) content = null
    else list.push('Content-Length', String(lengthOf(body)))
    if (this.method === 'HEAD') content = null
    // node:http writes a head together with a string as UTF-8, but headers are Latin-1.
    if (typeof content === 'string' && headers !== null && headers.some((text) => notAscii.test(text)))
      content = Buffer.from(content)
    const { response, connection } = this
    const linger = this.upload !== null && !connection.broken && this.#closesUnread(this.upload, list)
    if (!linger && connection.mustClose(this)) list.push('Connection', 'close')
    if (status === 426) this.#nameUpgrade(list)
    response.writeHead(status, phrases[status], list)
    if (linger) return this.#linger(content)
    if (content === null) response.end()
    else response.end(content)
    this.#done()
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || this.aborted) return
    const list = this.#head(type, headers)
    this.length = length
    if (length >= 0 && status !== 204 && status !== 304) list.push('Content-Length', String(length))
    // It is not yet known whether the body will be read by the end of the reply; `finish` handles that.
    if (this.connection.mustClose(this)) list.push('Connection', 'close')
    if (status === 426) this.#nameUpgrade(list)
    const { response } = this
    response.on('drain', () => {
      if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
    })
    response.writeHead(status, phrases[status], list)
    response.flushHeaders()
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.aborted) return true
    const { response } = this
    const bytes = Buffer.from(chunk as string)
    if (this.exceeds(bytes.length)) return true
    response.write(bytes)
    return response.writableLength <= sendBuffer
  }

  finish(isLast = false, trailers: string[] | null = null): void {
    if (this.aborted) return
    if (this.length >= 0 && this.sent !== this.length && this.method !== 'HEAD') return this.destroy()
    // node:http itself drops the trailers of a reply that is not chunked.
    if (trailers !== null) this.response.addTrailers(valuesByName(trailers))
    this.response.end()
    if (this.upload !== null && !this.request.complete) {
      this.upload.discard(() => this.#closeEarly())
    }
    this.#done(isLast)
  }

  accept(headers: string[] | null, events: SocketEvents): ServerSocket | null {
    const { upgrade, connection, response } = this
    const route = this.host.routes[this.id]?.socket
    const { sockets } = this.server
    if (this.replied || this.aborted || upgrade === null || route === undefined || sockets === null)
      return null
    const fields = this.#head(ContentType.custom, headers)
    const asked = {
      key: this.header('sec-websocket-key') ?? '',
      extensions: this.header('sec-websocket-extensions'),
    }
    const { socket } = upgrade
    const head = upgrade.takeOver(response)
    const accepted = this.runInAsyncScope(() =>
      sockets.accept(route, asked, { socket, head, fields }, events),
    )
    connection.webSocket = accepted
    this.#done()
    if (accepted === null) this.abort('client')
    else socket.resume()
    return accepted
  }

  destroy(): void {
    this.abort('error')
    reset(this.connection.socket)
  }

  /** Aborts the exchange: the connection is lost, or the server gives up. */
  abort(reason: AbortReason): void {
    if (this.aborted) return
    this.#release()
    this.abandon(reason)
  }

  #head(type: ContentType, given: string[] | null): string[] {
    const headers = given === null ? null : unpackHeaders(given)
    this.replied = true
    if (this.timer !== null) clearTimeout(this.timer)
    const name = contentTypes[type]
    if (headers === null) return name === null || name === undefined ? [] : ['Content-Type', name]
    return name === null || name === undefined ? [...headers] : [...headers, 'Content-Type', name]
  }

  /** Adds the headers of a 426. node:http leaves Connection to code that sets it. */
  #nameUpgrade(list: string[]): void {
    if (this.httpVersion === '1.0') return
    const at = list.lastIndexOf('Connection')
    const closes = at >= 0 || !this.response.shouldKeepAlive
    if (at >= 0) list.splice(at, 2)
    list.push(...upgradeFieldsOf(list))
    if (closes) list[list.length - 1] += ', close'
  }

  /**
   * Decides whether the connection closes because of a body that was not read to its end, and if so adds the header for
   * it.
   */
  #closesUnread(upload: NodeUpload, list: string[]): boolean {
    if (this.request.complete) return false
    const rest = this.declaredLength < 0 ? Infinity : this.declaredLength - upload.received
    const { drainLimit } = this.connection.server.host.limits
    if (rest <= drainLimit && (!this.expects || upload.continued) && !this.connection.mustClose(this)) {
      upload.discard(() => this.#closeEarly())
      return false
    }
    list.push('Connection', 'close')
    // node:http reads on, but what it finds after the body must not run (RFC 9112 §9.6).
    this.connection.closing = true
    return true
  }

  /** Closes the connection, because more of the body arrived than is discarded. */
  #closeEarly(): void {
    if (!this.request.complete) this.connection.socket.destroySoon()
  }

  /**
   * Sends the reply and reads on for a while, because closing a connection with unread bytes would reset the reply on
   * its way.
   */
  #linger(content: string | Uint8Array | null): void {
    const { response } = this
    if (content === null) response.flushHeaders()
    else response.write(content)
    this.connection.lingering = response
    this.upload?.discard(() => response.end())
    this.#done()
  }

  #done(isLast = false): void {
    this.given = true
    this.#release()
    this.connection.finished(this, isLast)
  }

  #release(): void {
    if (this.counted) this.connection.server.inFlight--
    this.counted = false
    this.upload?.release()
  }
}
