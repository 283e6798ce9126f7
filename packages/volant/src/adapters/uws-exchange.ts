/** Makes an `Exchange` of a request of uWebSockets.js: reads its head, and ends it early. */
import {
  type AbortReason,
  ContentType,
  type Exchange,
  type ServerSocket,
  type SocketEvents,
} from '@volant/engine'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import { addressText } from './uws-address.ts'
import { encoded, headOf, UwsReply } from './uws-reply.ts'

export class UwsExchange extends UwsReply implements Exchange {
  readonly httpVersion = '1.1'
  /** uWebSockets.js writes the last chunk itself, and adds no trailer fields. */
  readonly sendsTrailers = false

  /** Checks what uWebSockets.js passes on unchecked. Gives the code of the refusal, or null. */
  inspect(targetLength: number, maxHeaderSize: number): ErrorCode | null {
    const { raw } = this
    let size = lineOverhead + this.method.length + targetLength
    let lengths = 0
    let connections = 0
    for (let at = 0; at < raw.length; at += 2) {
      const name = raw[at] as string
      const value = raw[at + 1] as string
      size += name.length + value.length + fieldOverhead
      if (name === '' || control.test(value)) return 'E_BAD_REQUEST'
      if (name.length === 14 && name === 'content-length') {
        // uWebSockets.js takes the first Content-Length, whatever it is (RFC 9112 §6.3 (5)).
        if (++lengths > 1 || !digits.test(value)) return 'E_BAD_REQUEST'
      } else if (name.length === 10 && name === 'connection') {
        // uWebSockets.js only looks at the length of the first Connection.
        if (++connections === 1 && value.length === 5) this.closesItself = true
        else if (close.test(value)) this.closes = true
      }
    }
    return size > maxHeaderSize ? 'E_HEAD_TOO_LARGE' : null
  }

  /** The target is not kept. uWebSockets.js accepts only targets that are a path, so the path says it all. */
  get target(): string {
    return this.path
  }

  get remoteAddress(): string {
    this.address = addressText(this.keepAddress())
    return this.address
  }

  begin(): void {
    if (!this.awaitsBody(() => this.dispatch())) this.dispatch()
  }

  /** Is called when the callback of the request ends before the reply is complete. */
  outlast(): void {
    this.corked = false
    this.server.live.add(this)
    this.keepAddress()
    this.watchClient()
  }

  /**
   * Interim replies cannot be sent, since the status line is the first write of the response object and begins the
   * reply.
   */
  inform(): void {
    if (this.replied || this.aborted) return
    throw new VolantError(
      'E_UNSUPPORTED',
      'uWebSockets.js cannot send anything ahead of a reply: leave ctx.earlyHints out, or use another adapter',
    )
  }

  accept(headers: string[] | null, events: SocketEvents): ServerSocket | null {
    const route = this.host.routes[this.id]?.socket
    if (this.replied || this.aborted || route === undefined) return null
    this.take()
    const head = encoded(headOf(101, ContentType.custom, headers))
    const socket = this.server.sockets.upgrade(this, this.response, route, head, events)
    this.finished()
    return socket
  }

  /** Aborts the exchange: the connection is lost, or the server gives up. */
  abort(reason: AbortReason): void {
    if (this.over) return
    this.finished()
    if (this.given) return
    if (this.timer !== null) clearTimeout(this.timer)
    this.replied = true
    this.abandon(reason)
  }
}

/**
 * The bytes of colon, space and line end of a header; also those of two spaces, version and line end of the request
 * line, and of the empty line.
 */
const fieldOverhead = 4
const lineOverhead = 14
const digits = /^\d+$/
const close = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const control = /[\x00-\x08\x0a-\x1f\x7f]/
