/** One request of uWebSockets.js as an `Exchange`: what came with it, and how it ends early. */
import type { AbortReason, Exchange } from '@volant/engine'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import { addressText } from './uws-address.ts'
import { UwsReply } from './uws-reply.ts'

export class UwsExchange extends UwsReply implements Exchange {
  readonly httpVersion = '1.1'

  /** Looks at what uWebSockets.js passes on unchecked; gives the code of the refusal, or null. */
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
        // It takes the first, whatever it is (RFC 9112 §6.3 (5)).
        if (++lengths > 1 || !digits.test(value)) return 'E_BAD_REQUEST'
      } else if (name.length === 10 && name === 'connection') {
        // Of which it looks at the length of the first.
        if (++connections === 1 && value.length === 5) this.closesItself = true
        else if (close.test(value)) this.closes = true
      }
    }
    return size > maxHeaderSize ? 'E_HEAD_TOO_LARGE' : null
  }

  /** It is not kept: uWebSockets.js takes targets that are a path alone, so that nothing but the path is in it. */
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

  /** The callback of the request ends and the reply is not complete. */
  outlast(): void {
    this.corked = false
    this.server.live.add(this)
    this.keepAddress()
    this.watchClient()
  }

  /** The response object's status line is its first write and begins the reply. */
  inform(): void {
    if (this.replied || this.aborted) return
    throw new VolantError(
      'E_UNSUPPORTED',
      'uWebSockets.js cannot send anything ahead of a reply: leave ctx.earlyHints out, or use another adapter',
    )
  }

  /** The connection is lost, or the server gives up on the exchange. */
  abort(reason: AbortReason): void {
    if (this.over) return
    this.finished()
    if (this.given) return
    if (this.timer !== null) clearTimeout(this.timer)
    this.replied = true
    this.abandon(reason)
  }
}

/** Colon, space and line end of a field; two spaces, version and line end of the request line, and the empty line. */
const fieldOverhead = 4
const lineOverhead = 14
const digits = /^\d+$/
const close = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const control = /[\x00-\x08\x0a-\x1f\x7f]/
