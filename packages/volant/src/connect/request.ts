/** The request as connect middlewares see it: an IncomingMessage that is made of the context's request when it is read. */
import { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { valuesByName, namedTrailers } from '../request/trailers.ts'
import { BodyFeed } from './body-feed.ts'
import { lazily, shell } from './shell.ts'
import type { Pair } from './pair.ts'
import type { ConnectSocket } from './socket.ts'

type Listener = (...values: unknown[]) => void

/** The state of a Readable, which Node.js keeps in this property. */
interface Streaming {
  _readableState: object
}

/** `body`, `cookies`, `session` and `user` are not here: middlewares ask whether they exist. */
export class ConnectRequest extends shell<Readable>(IncomingMessage) {
  readonly _pair: Pair
  complete = false
  aborted = false
  _url: string | undefined = undefined
  _original: string | undefined = undefined
  _base = ''
  _fields: Record<string, string | string[] | undefined> | undefined = undefined
  _method: string | undefined = undefined
  _state: object | undefined = undefined
  _feed: BodyFeed | undefined = undefined

  constructor(pair: Pair) {
    super()
    this._pair = pair
  }

  /** The stream is made when anything asks for it. Its constructor assigns here. */
  get _readableState(): object {
    if (this._state === undefined) {
      Readable.call(this as unknown as Readable, { autoDestroy: false })
      this._pair.watch()
    }
    return this._state as unknown as object
  }

  set _readableState(state: object) {
    this._state = state
  }

  get url(): string {
    return (this._url ??= this._pair.ctx.url)
  }

  set url(url: string) {
    this._url = url
  }

  /** The URL with the prefix of every mount. */
  get originalUrl(): string {
    return (this._original ??= this._pair.ctx.url)
  }

  set originalUrl(url: string) {
    this._original = url
  }

  /** The part of the path that mounts have taken away. */
  get baseUrl(): string {
    return this._base
  }

  set baseUrl(url: string) {
    this._base = url
  }

  get method(): string {
    return (this._method ??= this._pair.ctx.method)
  }

  set method(method: string) {
    this._method = method
  }

  get headers(): Record<string, string | string[] | undefined> {
    return (this._fields ??= fieldsOf(this._pair))
  }

  set headers(fields: Record<string, string | string[] | undefined>) {
    this._fields = fields
  }

  get httpVersion(): string {
    const { httpVersion } = this._pair.ctx
    return httpVersion === '2' ? '2.0' : httpVersion
  }

  get httpVersionMajor(): number {
    return this._pair.ctx.httpVersion === '2' ? 2 : 1
  }

  get httpVersionMinor(): number {
    return this._pair.ctx.httpVersion === '1.1' ? 1 : 0
  }

  get rawHeaders(): string[] {
    return this._pair.ctx.exchange.rawHeaders()
  }

  get headersDistinct(): Record<string, string[]> {
    const distinct = Object.create(null) as Record<string, string[]>
    const raw = this.rawHeaders
    for (let at = 0; at < raw.length; at += 2) {
      ;(distinct[(raw[at] as string).toLowerCase()] ??= []).push(raw[at + 1] as string)
    }
    return distinct
  }

  /** The trailer fields. They exist once a body that the route streams has ended. */
  get trailers(): Record<string, string> {
    return namedTrailers(this.rawTrailers)
  }

  get trailersDistinct(): Record<string, string[]> {
    return valuesByName(this.rawTrailers)
  }

  get rawTrailers(): string[] {
    return this._pair.ctx.rare?.trailers ?? []
  }

  get socket(): ConnectSocket {
    return this._pair.socket
  }

  get connection(): ConnectSocket {
    return this._pair.socket
  }

  get client(): ConnectSocket {
    return this._pair.socket
  }

  get statusCode(): null {
    return null
  }

  get upgrade(): boolean {
    return false
  }

  setTimeout(_: number, listener?: Listener): this {
    if (listener !== undefined) this.on('timeout', listener)
    return this
  }

  override _read(): void {
    this._feed ??= new BodyFeed(this._pair, this)
    this._feed.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this._feed?.stop()
    // Without a listener the error would end the process, and a middleware that waits hears of `close`.
    process.nextTick(done, this.listenerCount('error') > 0 ? error : null)
  }

  _dump(): void {
    this.resume()
  }
}

lazily(ConnectRequest.prototype, {
  ip: ({ _pair }) => _pair.ctx.ip,
  ips: ({ _pair }) => [..._pair.ctx.ips],
  protocol: ({ _pair }) => _pair.ctx.protocol,
  secure: ({ _pair }) => _pair.ctx.protocol === 'https',
  hostname: ({ _pair }) => _pair.ctx.host.replace(/:\d*$/, ''),
  query: ({ _pair }) => _pair.ctx.query,
  params: ({ _pair }) => _pair.ctx.params,
  id: ({ _pair }) => _pair.ctx.id,
})

/** The names that an Express app has its own of. The others are put on the instance when an app replaces its prototype. */
export const expressOwn: ReadonlySet<string> = new Set([
  'constructor',
  'hostname',
  'id',
  'ip',
  'ips',
  'params',
  'protocol',
  'query',
  'secure',
])

/** Gives an ordinary object, as middlewares call its methods. */
function fieldsOf({ ctx }: Pair): Record<string, string | string[] | undefined> {
  const fields: Record<string, string | string[] | undefined> = { ...ctx.exchange.headers() }
  const cookies = fields['set-cookie']
  if (typeof cookies === 'string') fields['set-cookie'] = [cookies]
  const { decoder, collected } = ctx.rare ?? {}
  if (decoder && collected) {
    // `decompress()` gave the content; a streamed body comes as it is, with its coding.
    delete fields['content-encoding']
    delete fields['transfer-encoding']
    fields['content-length'] = String(collected.length)
  }
  return fields
}

/** True where the request was read as a stream. */
export function isStreaming(request: ConnectRequest): boolean {
  return request._state !== undefined
}

export type { Streaming }

/** True where the client left while the body was read. */
export function isBrokenOff(request: ConnectRequest): boolean {
  return isStreaming(request) && request.aborted && !request.complete
}
