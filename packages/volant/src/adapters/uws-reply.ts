/** The reply side of an exchange on uWebSockets.js. Its response object throws when it is used after `over` is set. */
import { type ContentType, contentTypes, type Host, unpackHeaders } from '@volant/engine'
import { phrases } from '../errors/phrases.ts'
import { upgradeFieldsOf } from './refuse.ts'
import { lengthOf, notAscii, SocketExchange } from './socket-exchange.ts'
import type { PeerAddress } from './uws-address.ts'
import type { UwsResponse } from './uws-load.ts'
import type { UwsServer } from './uws.ts'
import { UwsUpload } from './uws-upload.ts'

/**
 * The size from which a complete reply is sent as the client takes it, instead of being copied into the socket's
 * buffer.
 */
const byPieces = 65_536
/** The size of a chunk. At most so many bytes of a streamed reply wait in uWebSockets.js. */
const piece = 65_536
/** The size below which a socket takes a complete reply, unless its client has not read earlier replies. */
const leavesAtOnce = 4_096

export abstract class UwsReply extends SocketExchange {
  readonly server: UwsServer
  /** True once the response object is gone: it is complete, or its connection closed. */
  over = false
  /** True inside the callback of the request, where uWebSockets.js collects all writes. */
  corked = true
  declare upload: UwsUpload | null
  /** The time in ms since when nothing of the reply could be sent; 0 while it can. */
  stalledSince = 0
  /** The time in ms until which the rest of the body is discarded; 0 if it is not. */
  drainUntil = 0
  protected readonly response: UwsResponse
  /** True where the client's Connection header makes uWebSockets.js close by itself, without a header that says so. */
  protected closesItself = false
  protected closes = false
  protected address: PeerAddress | null = null
  /** The head of a streamed reply until it is sent. */
  #pendingHead: string | null = null
  #finishing = false
  /** True for a stream of events, which may end anywhere: its client connects again. */
  #hasEvents = false
  /** The bytes that the socket did not take. */
  #rest: Buffer | null = null
  /** The number of bytes that the socket took of a reply with a length. */
  #restAt = 0
  #watching = false
  /** These say whether `onAborted` is set, and whether it was called: then the connection is gone. */
  #watched = false
  #gone = false

  constructor(server: UwsServer, response: UwsResponse, method: string, raw: string[]) {
    super(method, raw)
    this.server = server
    this.response = response
  }

  get host(): Host {
    return this.server.host
  }

  override get gone(): boolean {
    return super.gone || this.over
  }

  protected newUpload(): UwsUpload {
    return new UwsUpload(this, this.response)
  }

  protected closeAfter(): void {
    this.closes = true
  }

  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || this.aborted) return
    this.take()
    if (this.#mustWait()) {
      const kept = typeof body === 'string' || body === null ? body : Buffer.from(body)
      this.#later(() => this.#send(status, type, headers, kept))
      return
    }
    if (!this.corked) {
      this.response.cork(() => this.#send(status, type, headers, body))
      return
    }
    this.#send(status, type, headers, body)
    if ((this.closes || this.closesItself) && this.over && (body?.length ?? 0) < leavesAtOnce)
      this.server.refuseRest()
  }

  /**
   * True where closing has to wait: uWebSockets.js does not expect that inside a callback for data, and would read on.
   */
  #mustWait(): boolean {
    return this.server.receiving === this && (this.closesItself || this.closes || this.server.isClosing)
  }

  #later(write: () => void): void {
    setImmediate(() => {
      if (!this.over) this.response.cork(write)
    })
  }

  #send(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    const head = headOf(status, type, headers)
    const response = this.response
    const bare = status === 204 || status === 304
    const closes = (this.closes || this.server.isClosing) && !this.closesItself
    const bodiless = bare || this.method === 'HEAD'
    // uWebSockets.js cannot be told to close after a reply without a body.
    if ((closes && bodiless) || (this.upload !== null && this.#closesUnread(this.upload))) {
      this.#linger(head, bare ? null : (body ?? ''))
      return
    }
    this.upload?.letGo()
    if (bodiless) {
      const length = bare ? '' : `\r\nContent-Length: ${lengthOf(body)}`
      response.writeStatus(encoded(this.#withClose(head) + length)).endWithoutBody()
    } else if (body !== null && body.length >= byPieces && !this.closes) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      response.writeStatus(encoded(closes ? `${head}\r\nConnection: close` : this.#withClose(head)))
      this.given = true
      this.length = bytes.length
      this.#give(bytes)
      return
    } else response.writeStatus(encoded(this.#withClose(head))).end(body ?? '', closes)
    this.finished()
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || this.aborted) return
    this.take()
    let head = headOf(status, type, headers)
    const bare = status === 204 || status === 304
    const close = this.server.isClosing || this.closes
    head = close ? `${head}\r\nConnection: close` : this.#withClose(head)
    if (bare || this.method === 'HEAD') {
      if (!bare && length >= 0) head += `\r\nContent-Length: ${length}`
      const write = () => {
        this.upload?.letGo()
        this.response.writeStatus(encoded(head)).endWithoutBody()
        this.finished()
      }
      this.inCork(write)
    } else if (length >= 0) {
      this.length = length
      const write = () => {
        this.response.writeStatus(encoded(head))
        this.#give(new Uint8Array(0))
      }
      this.inCork(write, length === 0 && this.#mustWait())
    } else {
      this.#pendingHead = head
      this.#hasEvents = events.test(head)
    }
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.aborted || this.over || chunk.length === 0) return true
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (this.exceeds(bytes.length)) return true
    if (this.#rest !== null) this.#rest = Buffer.concat([this.#rest, bytes])
    else if (this.length >= 0 && this.#mustWait()) {
      this.#rest = Buffer.from(bytes)
      this.#later(() => this.#sendRest())
    } else this.inCork(() => this.#pour(bytes), false)
    return this.stalledSince === 0
  }

  finish(isLast = false): void {
    if (this.aborted || this.over) return
    if (isLast && this.#hasEvents && this.#rest === null) return this.#leave()
    this.#finishing = true
    if (this.length >= 0) {
      if (this.sent !== this.length) this.destroy()
      else this.given = true
    } else this.inCork(() => this.#endChunks())
  }

  destroy(): void {
    if (this.over) return
    this.abort('error')
    if (!this.#watched) this.watchClient()
    // This waits, since closing inside a callback for data is a use after free in uWebSockets.js.
    setImmediate(() => {
      if (!this.#gone) this.response.close()
    })
  }

  /**
   * Closes the connection behind the last event. uWebSockets.js cannot close one whose chunks have ended, and the client
   * would connect again by it.
   */
  #leave(): void {
    this.inCork(() => this.#sendHead())
    this.given = true
    this.#release()
    setImmediate(() => this.destroy())
  }

  protected watchClient(): void {
    this.#watched = true
    this.response.onAborted(() => {
      this.#gone = true
      this.server.guard(() => this.abort('client'))
    })
  }

  /** Reads the address while that is possible: before the reply, and before the client may disconnect. */
  protected keepAddress(): PeerAddress {
    this.address ??= this.over ? '' : this.server.addresses.of(this.response)
    return this.address
  }

  /** Marks the exchange as replied. */
  protected take(): void {
    this.replied = true
    this.keepAddress()
    if (this.timer !== null) clearTimeout(this.timer)
  }

  inCork(write: () => void, waits = this.#mustWait()): void {
    if (waits) this.#later(write)
    else if (this.corked) write()
    else this.response.cork(write)
  }

  /** Adds `Connection: close` where the client asked for it: uWebSockets.js adds it only where the server closes. */
  #withClose(head: string): string {
    return this.closesItself ? `${head}\r\nConnection: close` : head
  }

  #sendHead(): void {
    if (this.#pendingHead === null) return
    this.response.writeStatus(encoded(this.#pendingHead))
    this.#pendingHead = null
  }

  /** Sends bytes of a streamed reply, and keeps a copy of those that the socket does not take. */
  #pour(bytes: Uint8Array): void {
    if (this.length >= 0) return this.#give(bytes)
    this.#sendHead()
    for (let at = 0; at < bytes.length; at += piece) {
      if (this.response.write(bytes.subarray(at, at + piece))) continue
      this.#rest = at + piece < bytes.length ? Buffer.from(bytes.subarray(at + piece)) : null
      this.#watch()
      return
    }
  }

  /** Sends bytes of a reply with a length. */
  #give(bytes: Uint8Array): void {
    if (this.#restAt + bytes.length === this.length) this.upload?.letGo()
    const [, complete] = this.response.tryEnd(bytes, this.length)
    if (complete) {
      this.finished()
      return
    }
    const offset = this.response.getWriteOffset()
    const taken = offset - this.#restAt
    this.#restAt = offset
    if (taken === bytes.length) return
    this.#rest = Buffer.from(bytes.subarray(taken))
    this.#watch()
  }

  #endChunks(): void {
    if (this.#rest !== null) return
    this.#sendHead()
    this.upload?.letGo()
    this.response.end()
    this.finished()
  }

  #watch(): void {
    this.stalledSince = Date.now()
    if (this.#watching) return
    this.#watching = true
    this.response.onWritable(() => {
      this.server.guard(() => this.#onWritable())
      return true
    })
  }

  #onWritable(): void {
    if (this.over) return
    this.stalledSince = 0
    // This runs even with nothing to write, since uWebSockets.js sends what it holds at the end of corking.
    this.response.cork(() => this.#sendRest())
    if (this.over || this.#rest !== null) return
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  #sendRest(): void {
    const rest = this.#rest
    this.#rest = null
    if (rest !== null) this.#pour(rest)
    if (this.#finishing && this.length < 0 && this.#rest === null) this.#endChunks()
  }

  /** True when the connection closes because of a body that was not read to its end. */
  #closesUnread(upload: UwsUpload): boolean {
    if (upload.ended) return false
    const rest = this.declaredLength < 0 ? Infinity : this.declaredLength - upload.received
    return this.closes || this.server.isClosing || rest > this.server.host.limits.drainLimit
  }

  /**
   * Sends the reply and reads on for a while, because closing a connection with unread bytes would reset the reply on
   * its way. uWebSockets.js must not see the reply as complete meanwhile, or it reads without end; so all of it is
   * passed as the status.
   */
  #linger(head: string, body: string | Uint8Array | null): void {
    const lines = `${head}\r\nDate: ${new Date().toUTCString()}\r\nConnection: close\r\n`
    const bytes = Buffer.from(body ?? '')
    if (body === null) this.response.writeStatus(Buffer.from(lines, 'latin1'))
    else if (this.method === 'HEAD' || bytes.length === 0) {
      this.response.writeStatus(Buffer.from(`${lines}Content-Length: ${bytes.length}\r\n`, 'latin1'))
    } else {
      const size = bytes.length.toString(16)
      this.response.writeStatus(
        Buffer.concat([
          Buffer.from(`${lines}Transfer-Encoding: chunked\r\n\r\n${size}\r\n`, 'latin1'),
          bytes,
          Buffer.from('\r\n0\r\n'),
        ]),
      )
    }
    this.given = true
    this.#release()
    // This waits until what is written here was sent.
    const close = () => void setImmediate(() => this.destroy())
    if (this.upload === null || this.upload.ended) return close()
    this.drainUntil = Date.now() + this.server.host.limits.drainTimeout
    this.upload.discard(close, this.server.host.limits.drainLimit)
  }

  protected finished(): void {
    this.over = true
    this.server.live.delete(this)
    this.#release()
  }

  #release(): void {
    this.upload?.release()
    if (!this.counted) return
    this.counted = false
    this.server.released()
  }
}

const events = /\r\ncontent-type: text\/event-stream\b/i

/** Gives the status line without its version, and the headers, as `writeStatus` takes them. */
export function headOf(status: number, type: ContentType, headers: string[] | null): string {
  const name = contentTypes[type]
  let head = `${status} ${phrases[status] ?? ''}`
  const list = headers === null ? [] : unpackHeaders(headers)
  for (const fields of status === 426 ? [upgradeFieldsOf(list), list] : [list])
    for (let at = 0; at < fields.length; at += 2) head += `\r\n${fields[at]}: ${fields[at + 1]}`
  return name === null || name === undefined ? head : `${head}\r\nContent-Type: ${name}`
}

/** Encodes a head: strings are sent as UTF-8, but headers are Latin-1. */
export function encoded(head: string): string | Uint8Array {
  return notAscii.test(head) ? Buffer.from(head, 'latin1') : head
}
