/** The common part of exchanges in JavaScript: the request's body, and replies that the adapter sends by itself. */
import {
  type AbortReason,
  BodyKind,
  BodyMode,
  type BodySink,
  ContentType,
  type Exchange,
  type Host,
} from '@volant/engine'
import { type ErrorCode, errorTable, VolantError } from '../errors/errors.ts'
import { Head } from './head.ts'
import { refusalText } from './refuse.ts'
import type { Upload } from './upload.ts'

/** The counters that an exchange keeps in its server. */
export interface UploadCounts {
  /** The exchanges whose body is being read. */
  readonly uploads: Set<SocketExchange>
  /** The bytes of buffered bodies. */
  buffered: number
  refused: number
}

export abstract class SocketExchange extends Head {
  bodyKind: BodyKind = BodyKind.none
  replied = false
  /** True while the exchange is counted in the server's `inFlight`. */
  counted = false
  /** True once the complete reply was passed on: the rest of the body is dropped. */
  given = false
  /** The body; null without one, since most requests need none of its fields. */
  upload: Upload | null = null
  protected timer: NodeJS.Timeout | null = null
  /** The declared length of a streamed reply, and the bytes that were given of it. */
  protected length = -1
  protected sent = 0

  abstract readonly host: Host
  abstract readonly server: UploadCounts
  abstract end(
    status: number,
    type: ContentType,
    headers: string[] | null,
    body: string | Uint8Array | null,
  ): void
  abstract abort(reason: AbortReason): void
  abstract destroy(): void
  protected abstract newUpload(): Upload
  /** Closes the connection after this reply. `silent` says that the client does not send the rest of the body. */
  protected abstract closeAfter(silent: boolean): void

  /** True once nothing reads the body any more. */
  get gone(): boolean {
    return this.aborted || this.given
  }

  get bodyLength(): number {
    if (this.bodyKind === BodyKind.none) return 0
    return this.upload?.whole?.length ?? this.declaredLength
  }

  /**
   * Prepares the body as the route needs it; without a route it is discarded. Returns true where the request has to
   * wait for the complete body; then `done` is called.
   */
  protected awaitsBody(done: () => void): boolean {
    if (this.declaredLength === 0) return false
    const upload = this.newUpload()
    this.upload = upload
    const route = this.host.routes[this.id]
    if (route === undefined) return false
    if (route.bodyMode !== BodyMode.buffer) {
      this.bodyKind = BodyKind.stream
      return false
    }
    upload.collect(route.maxBodySize, () => {
      this.bodyKind = BodyKind.complete
      done()
    })
    return true
  }

  dispatch(): void {
    const { host } = this
    if (host.limits.handlerTimeout > 0) this.timer = setTimeout(timeOut, host.limits.handlerTimeout, this)
    host.dispatch(this as unknown as Exchange, this.id, this.allow)
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

  /** Counts bytes of a streamed reply. More than it declared would be taken for another reply. */
  protected exceeds(bytes: number): boolean {
    this.sent += bytes
    if (this.length < 0 || this.sent <= this.length) return false
    this.destroy()
    return true
  }

  /** Ends the exchange: fails its body, and wakes a reply that waits for room. */
  protected abandon(reason: AbortReason): void {
    this.markAborted(reason)
    this.upload?.fail(new VolantError('E_ABORTED'))
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  /** Refuses the request without the app and closes: its framing or the load make further requests unwelcome. */
  refuse(code: ErrorCode): void {
    if (this.replied || this.aborted) return
    this.closeAfter(code === 'E_REQUEST_TIMEOUT')
    this.server.refused++
    if (this.declaredLength !== 0) this.upload ??= this.newUpload()
    this.end(errorTable[code].status, ContentType.problem, null, refusalText(code))
  }

  /** Ends the handler's time with 503, unless it has begun to reply. */
  timeOut(): void {
    if (this.replied || this.aborted) return
    this.end(503, ContentType.problem, null, refusalText('E_HANDLER_TIMEOUT'))
    this.markAborted('timeout')
    this.upload?.fail(new VolantError('E_ABORTED'))
  }

  /** Replies with 408 and closes: the rest of a streamed body comes too slowly and no reply has begun. */
  timeOutUpload(): void {
    this.upload?.fail(new VolantError('E_ABORTED'), 408)
    if (this.replied || this.aborted) return
    this.closeAfter(true)
    this.end(408, ContentType.problem, null, refusalText('E_REQUEST_TIMEOUT'))
    this.markAborted('upload')
  }
}

function timeOut(exchange: SocketExchange): void {
  exchange.timeOut()
}

export function lengthOf(body: string | Uint8Array | null): number {
  return body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

// oxlint-disable-next-line no-control-regex -- ASCII is meant
export const notAscii = /[^\x00-\x7f]/
