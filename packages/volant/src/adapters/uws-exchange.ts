/** One request of uWebSockets.js as an `Exchange`: what came with it, and how it ends early. */
import {
  type AbortReason,
  BodyKind,
  BodyMode,
  type BodySink,
  ContentType,
  type Exchange,
} from '@volant/engine'
import { type ErrorCode, errorTable, VolantError } from '../errors/errors.ts'
import { refusalText } from './refuse.ts'
import { addressText } from './uws-address.ts'
import { UwsReply } from './uws-reply.ts'
import { UwsUpload } from './uws-upload.ts'

export class UwsExchange extends UwsReply implements Exchange {
  readonly httpVersion = '1.1'
  bodyKind: BodyKind = BodyKind.none

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

  get bodyLength(): number {
    if (this.bodyKind === BodyKind.none) return 0
    return this.upload?.whole?.length ?? this.declaredLength
  }

  /** Finds the body's mode, from the route found; a request without a route has its body discarded. */
  begin(): void {
    if (this.declaredLength === 0) return this.dispatch()
    this.upload = new UwsUpload(this, this.response)
    const route = this.server.host.routes[this.id]
    if (route === undefined) return this.dispatch()
    if (route.bodyMode === BodyMode.stream) {
      this.bodyKind = BodyKind.stream
      return this.dispatch()
    }
    this.upload.collect(route.maxBodySize, () => {
      this.bodyKind = BodyKind.complete
      this.dispatch()
    })
  }

  dispatch(): void {
    const { host } = this.server
    if (host.limits.handlerTimeout > 0) this.timer = setTimeout(timeOut, host.limits.handlerTimeout, this)
    host.dispatch(this, this.id, this.allow)
  }

  /** The callback of the request ends and the reply is not complete. */
  outlast(): void {
    this.corked = false
    this.server.live.add(this)
    this.keepAddress()
    this.watchClient()
  }

  bodyText(): string {
    return this.upload?.whole?.toString('utf8') ?? ''
  }

  bodyBytes(): Buffer {
    return Buffer.from(this.upload?.whole ?? '')
  }

  readBody(sink: BodySink, window: number): void {
    if (this.upload === null || this.bodyKind !== BodyKind.stream) throw new VolantError('E_BODY_USED')
    this.upload.stream(sink, window)
  }

  credit(bytes: number): void {
    this.upload?.credit(bytes)
  }

  /** The response object's status line is its first write and begins the reply. */
  inform(): void {
    if (this.replied || this.aborted) return
    throw new VolantError(
      'E_UNSUPPORTED',
      'uWebSockets.js cannot send anything ahead of a reply: leave ctx.earlyHints out, or use another adapter',
    )
  }

  /** Replies without the app, and closes: framing or load make further requests unwelcome. */
  refuse(code: ErrorCode): void {
    if (this.replied || this.aborted) return
    this.server.refused++
    this.closes = true
    if (this.declaredLength !== 0) this.upload ??= new UwsUpload(this, this.response)
    this.end(errorTable[code].status, ContentType.problem, null, refusalText(code))
  }

  /** The connection is lost, or the server gives up on the exchange. */
  abort(reason: AbortReason): void {
    if (this.over) return
    this.finished()
    if (this.given) return
    if (this.timer !== null) clearTimeout(this.timer)
    this.replied = true
    this.markAborted(reason)
    this.upload?.fail(new VolantError('E_ABORTED'))
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  /** Ends the handler's time: 503 if it has not begun to reply. */
  timeOut(): void {
    if (this.replied || this.aborted) return
    this.end(503, ContentType.problem, null, refusalText('E_HANDLER_TIMEOUT'))
    this.markAborted('timeout')
    this.upload?.fail(new VolantError('E_ABORTED'))
  }

  /** The rest of a streamed body comes too slowly and no reply has begun: 408, and the connection closes. */
  timeOutUpload(): void {
    this.upload?.fail(new VolantError('E_ABORTED'), 408)
    if (this.replied || this.aborted) return
    this.closes = true
    this.end(408, ContentType.problem, null, refusalText('E_REQUEST_TIMEOUT'))
    this.markAborted('upload')
  }
}

function timeOut(exchange: UwsExchange): void {
  exchange.timeOut()
}

/** Colon, space and line end of a field; two spaces, version and line end of the request line, and the empty line. */
const fieldOverhead = 4
const lineOverhead = 14
const digits = /^\d+$/
const close = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const control = /[\x00-\x08\x0a-\x1f\x7f]/
