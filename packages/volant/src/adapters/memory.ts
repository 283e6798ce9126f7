/** Exchanges without a socket, for `app.inject`: the same checks, the same dispatch, the reply kept in memory. */
import { BodyKind, type BodySink, ContentType, contentTypes, type Exchange, type Host } from '@volant/engine'
import { type ErrorCode, errorTable, VolantError } from '../errors.ts'
import { Head, type Routes } from './head.ts'
import { refusalText } from './refuse.ts'

/** What `MemoryExchange` resolves to. */
export interface MemoryReply {
  status: number
  headers: string[]
  body: Buffer
}

/** A chunk of an uploaded body; parts of it when the window is smaller. */
const uploadChunk = 65_536

export class MemoryExchange extends Head implements Exchange {
  readonly httpVersion = '1.1'
  readonly remoteAddress = '127.0.0.1'
  readonly done: Promise<MemoryReply>
  bodyKind: BodyKind = BodyKind.none
  bodyLength = 0
  replied = false
  readonly #body: Buffer
  readonly #chunks: Buffer[] = []
  #status = 0
  #headers: string[] = []
  #length = -1
  #sent = 0
  #sink: BodySink | null = null
  #at = 0
  #window = 0
  #feeding = false
  #timer: NodeJS.Timeout | null = null
  #resolve: (reply: MemoryReply) => void = () => {}
  #reject: (error: Error) => void = () => {}

  constructor(method: string, raw: string[], body: Buffer) {
    super(method, raw)
    this.#body = body
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Runs the request. `target` is path and query. */
  run(target: string, host: Host, routes: Routes): void {
    const refused = this.admit(target, host, routes)
    if (refused !== null) return this.#refuse(refused)
    const route = host.routes[this.id]
    if (this.#body.length > 0) {
      const limit = route?.maxBodySize ?? 0
      this.bodyKind = route?.bodyMode === 1 ? BodyKind.stream : BodyKind.complete
      if (this.bodyKind === BodyKind.complete && this.#body.length > limit && route !== undefined) {
        return this.#refuse('E_BODY_TOO_LARGE')
      }
      this.bodyLength = this.bodyKind === BodyKind.complete ? this.#body.length : this.declaredLength
    }
    const { handlerTimeout } = host.limits
    if (handlerTimeout > 0) this.#timer = setTimeout(() => this.#timeOut(), handlerTimeout)
    host.dispatch(this, this.id, this.allow)
  }

  bodyText(): string {
    return this.#body.toString('utf8')
  }

  bodyBytes(): Buffer {
    return Buffer.from(this.#body)
  }

  readBody(sink: BodySink, window: number): void {
    if (this.#sink !== null || this.bodyKind !== BodyKind.stream) throw new VolantError('E_BODY_USED')
    this.#sink = sink
    this.#window = window
    this.#feed()
  }

  credit(bytes: number): void {
    this.#window += bytes
    this.#feed()
  }

  /** Asynchronous as a socket is; one feeder at a time, since a chunk's receiver grants more credit. */
  #feed(): void {
    if (this.#feeding) return
    this.#feeding = true
    setImmediate(() => {
      this.#feeding = false
      const sink = this.#sink
      if (sink === null || this.aborted || this.#at > this.#body.length) return
      this.runInAsyncScope(() => {
        const size = Math.min(this.#window, uploadChunk, this.#body.length - this.#at)
        if (size > 0) {
          this.#window -= size
          const chunk = Buffer.from(this.#body.subarray(this.#at, this.#at + size))
          this.#at += size
          sink.chunk(chunk)
        }
        if (this.#at === this.#body.length) {
          this.#at++
          sink.end()
        } else if (this.#window > 0) this.#feed()
      })
    })
  }

  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || this.aborted) return
    this.#begin(status, type, headers)
    const empty = status === 204 || status === 304
    const bytes = body === null || empty ? Buffer.alloc(0) : Buffer.from(body as string)
    if (!empty) this.#headers.push('content-length', String(bytes.length))
    if (this.method !== 'HEAD') this.#chunks.push(bytes)
    this.#settle()
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || this.aborted) return
    this.#begin(status, type, headers)
    this.#length = length
    if (length >= 0) this.#headers.push('content-length', String(length))
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.aborted) return true
    const bytes = Buffer.from(chunk as string)
    this.#sent += bytes.length
    if (this.#length >= 0 && this.#sent > this.#length) this.destroy()
    else this.#chunks.push(bytes)
    return true
  }

  finish(): void {
    if (this.aborted) return
    if (this.#length >= 0 && this.#sent !== this.#length && this.method !== 'HEAD') return this.destroy()
    this.#settle()
  }

  destroy(): void {
    this.markAborted('error')
    this.#reject(new VolantError('E_RESET'))
  }

  #begin(status: number, type: ContentType, headers: string[] | null): void {
    this.replied = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#status = status
    if (headers !== null) this.#headers.push(...headers)
    const name = contentTypes[type]
    if (name !== null && name !== undefined) this.#headers.push('content-type', name)
  }

  #refuse(code: ErrorCode): void {
    this.end(errorTable[code].status, ContentType.problem, null, refusalText(code))
  }

  #timeOut(): void {
    if (this.replied) return
    this.#refuse('E_HANDLER_TIMEOUT')
    this.markAborted('timeout')
  }

  #settle(): void {
    this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) })
  }
}
