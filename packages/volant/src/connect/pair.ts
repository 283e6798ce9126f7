/** The request and reply that the connect middlewares of one request share, and how they end. */
import { IncomingMessage, ServerResponse } from 'node:http'
import { ContentType } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { isAbort } from '../reply/abort.ts'
import { requestName } from '../reply/late-reply.ts'
import { isBodiless, send } from '../reply/send.ts'
import { setTrailer } from '../reply/trailer.ts'
import { isTrailer } from '../request/trailers.ts'
import type { Acceptance, ReplyContent } from '../reply/source.ts'
import type { FieldValue } from './header-fields.ts'
import { Outlet } from './outlet.ts'
import { ConnectRequest, expressOwn, isStreaming } from './request.ts'
import { ConnectResponse } from './response.ts'
import { ConnectSocket } from './socket.ts'
import { coded } from './unsupported.ts'
import type { WriteCallback } from './write-arguments.ts'
import { isExpired, ReplyPhase } from '../types/phases.ts'
import type { RareState, RequestContext } from '../types/request.ts'
import type { Chunk } from '../types/reply-options.ts'

/** A reply of the context that is played into `res`: it takes what comes out. */
export interface Play {
  take(content: Exclude<ReplyContent, Acceptance>): void
}

/** A list of middlewares that waits until the reply is complete. */
export interface Waiting {
  over(isAborted: boolean): void
}

export class Pair implements NonNullable<RareState['watch']> {
  readonly ctx: RequestContext
  readonly req: ConnectRequest
  readonly res: ConnectResponse
  /** The chunks of a reply that a middleware writes in parts. */
  outlet: Outlet | null = null
  /** Set while a reply of the context is played into `res`. */
  play: Play | null = null
  /** True once a middleware has replied. */
  isOwn = false
  /** The list whose middleware replaced methods of `res` last: its hook plays replies into them. */
  layer: object | null = null
  waiting: Waiting | null = null
  /** The last error that passed the error middlewares of a list, and that list. */
  seen: unknown = undefined
  seenBy: object | null = null
  /** The body that a middleware set last. */
  body: unknown = undefined
  #socket: ConnectSocket | null = null
  #outer: RareState['watch'] = null
  #isWatching = false
  #isOver = false
  /** True while a middleware's own reply is handed over. */
  #isGiving = false
  #isExpress = false

  constructor(ctx: RequestContext) {
    this.ctx = ctx
    this.req = new ConnectRequest(this)
    this.res = new ConnectResponse(this)
  }

  get socket(): ConnectSocket {
    return (this.#socket ??= new ConnectSocket(this.ctx, () => this.watch()))
  }

  /** True once the head of a reply has left, whoever gave it. */
  get hasLeft(): boolean {
    return this.ctx.phase > ReplyPhase.sending
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Asks for the end of the request, for those who listen. */
  watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    const { more } = this.ctx
    this.#outer = more.watch
    more.watch = this
    this.ctx.watchAbort()
  }

  get cutsStreams(): boolean {
    return this.#outer?.cutsStreams ?? false
  }

  limit(ctx: RequestContext): void {
    this.#outer?.limit(ctx)
  }

  allow(ctx: RequestContext, ms: number, cutsStreams: boolean): void {
    this.#outer?.allow(ctx, ms, cutsStreams)
  }

  settle(ctx: RequestContext): void {
    this.#outer?.settle(ctx)
    this.#check()
  }

  complete(ctx: RequestContext): void {
    this.#outer?.complete(ctx)
    // As in node:http, a client that closes its side has left: who waits with events for it is told.
    if (ctx.exchange.halfClosed && this.isOwn && this.#declaredLength() < 0) this.outlet?.leave()
    this.#check()
  }

  /** Writes a chunk of a reply in parts, which begins with the first. `done` is called when it is on its way. */
  write(chunk: Chunk, done?: WriteCallback): boolean {
    if (this.#isEmpty()) {
      if (done !== undefined) process.nextTick(done, null)
      return true
    }
    if (this.outlet === null) {
      if (!this.#isDue('write')) {
        if (done !== undefined) process.nextTick(done, coded(new Error('aborted'), 'ECONNRESET'))
        return false
      }
      this.open()
    }
    return this.outlet?.write(chunk, done) ?? false
  }

  /** Begins a reply in parts. One without content leaves when it is ended. */
  open(): void {
    if (this.#isEmpty()) return
    const outlet = new Outlet(() => this.#drained())
    this.outlet = outlet
    this.watch()
    this.#give({ parts: outlet, length: this.#declaredLength(), mayBeEndless: true })
  }

  /** Ends the reply; without a part before, `chunk` is all of it. */
  end(chunk: Chunk | null): void {
    if (this.outlet !== null) {
      if (chunk !== null && chunk.length > 0) this.outlet.write(chunk)
      return this.outlet.end()
    }
    if (!this.#isDue('end')) return
    if (chunk !== null && chunk.length > this.ctx.app.limits.maxBufferedReplies / 4)
      return this.#inParts(chunk)
    if (this.ctx.method === 'HEAD' && !isBodiless(this.res.statusCode)) {
      // The length is that of the content a GET would have (RFC 9110 §9.3.2).
      const length = this.#declaredLength()
      if (chunk === null || length >= 0) {
        const outlet = new Outlet(() => {})
        outlet.end()
        return this.#give({ parts: outlet, length, mayBeEndless: false })
      }
    }
    this.#give(chunk)
  }

  /** Adds a trailer field to a middleware's own reply. */
  addTrailer(name: string, value: FieldValue): void {
    const { ctx } = this
    if (this.#isOver || ctx.exchange.aborted || ctx.phase > ReplyPhase.streaming) return
    if (isTrailer(name.toLowerCase()))
      return setTrailer(ctx, name, typeof value === 'number' ? String(value) : value)
    const text = `a middleware behind fromConnect called res.addTrailers() with ${name}, which may not stand behind a body (RFC 9110 §6.5.1), so it was left out: set it with res.setHeader()`
    ctx.app.report(new VolantError('E_BAD_HEADER', text), ctx)
  }

  /** True for a reply without content, whatever is written. */
  #isEmpty(): boolean {
    return this.ctx.method === 'HEAD' || isBodiless(this.res.statusCode)
  }

  /** Sends a body that is too large to wait as a whole. */
  #inParts(chunk: Chunk): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    const outlet = new Outlet(() => {})
    this.outlet = outlet
    for (let at = 0; at < bytes.length; at += 65_536) outlet.write(bytes.subarray(at, at + 65_536))
    outlet.end()
    this.watch()
    this.#give({ parts: outlet, length: bytes.length, mayBeEndless: false })
  }

  #give(content: Exclude<ReplyContent, Acceptance>): void {
    if (this.play !== null) return this.play.take(content)
    this.isOwn = true
    this.res._store.flush(true)
    this.#isGiving = true
    try {
      send(this.ctx, ContentType.custom, content, this.res.statusCode, 'reply')
      this.#check()
    } catch (error) {
      // What middlewares have replaced takes no second reply: that of the error is not played into it.
      this.isOwn = false
      this.layer = null
      throw error
    } finally {
      this.#isGiving = false
    }
  }

  /** Forgets a head that did not leave, since an error is answered in its place. */
  reopen(): void {
    if (this.isOwn || this.hasLeft) return
    this.res._committed = false
    this.res._head = null
    this.res.finished = false
  }

  #declaredLength(): number {
    const text = String(this.res.getHeader('content-length'))
    // An empty value is no zero, and 0x10 and 1e3 are no lengths (RFC 9110 §8.6).
    return /^\d{1,15}$/.test(text) ? Number(text) : -1
  }

  /** False where the request has a reply of others: that of a timeout is no mistake, any other is reported. */
  #isDue(method: string): boolean {
    const { ctx } = this
    if (ctx.exchange.aborted) return false
    if (this.play !== null || ctx.phase <= ReplyPhase.reopened) return true
    if (this.isOwn || isExpired(ctx)) return false
    const text = `res.${method}() was called after ${requestName(ctx)} had its reply, and was dropped: reply, or call next(), but not both`
    ctx.app.report(new VolantError('E_ALREADY_REPLIED', text), ctx)
    return false
  }

  /** Resets the connection. */
  destroy(error: Error | undefined): void {
    const { ctx } = this
    if (this.outlet !== null) this.outlet.fail(error ?? coded(new Error('aborted'), 'ECONNRESET'))
    else if (!this.#isOver) ctx.exchange.destroy()
    if (error !== undefined && this.res.listenerCount('error') > 0) {
      process.nextTick(() => this.res.emit('error', error))
    } else if (error !== undefined && this.outlet === null && !isAbort(error)) ctx.app.report(error, ctx)
  }

  #drained(): void {
    this.ctx.exchange.runInAsyncScope(() => this.res.emit('drain'))
  }

  #check(): void {
    const { phase, exchange } = this.ctx
    if (this.#isOver || (phase < ReplyPhase.sent && !exchange.aborted)) return
    this.#isOver = true
    // As in node:http, whoever ends a reply can listen for its end after that, and is told in its own async context.
    if (this.#isGiving) process.nextTick(() => this.#tell())
    else if (this.#isWatching) exchange.runInAsyncScope(this.#tell, this)
    else {
      this.res._closed = true
      this.res._finished = this.res.finished = true
    }
    this.waiting?.over(exchange.aborted)
    this.waiting = null
  }

  /** Emits what node:http emits at the end of a request. */
  #tell(): void {
    const { ctx, req, res } = this
    const isGone = ctx.exchange.aborted || ctx.phase === ReplyPhase.broken
    if (!isGone) {
      if (!this.isOwn) {
        res.statusCode = ctx.status()
        res.finished = true
      }
      // Otherwise an error was answered in place of a reply that was not complete.
      if (res.finished) {
        res._finished = true
        this.#emit(res, 'finish')
      }
    } else {
      req.aborted = true
      res.destroyed = true
      this.#emit(req, 'aborted')
    }
    res._closed = true
    res.destroyed = true
    if (isStreaming(req))
      req.destroy(isGone && !req.complete ? coded(new Error('aborted'), 'ECONNRESET') : undefined)
    else this.#emit(req, 'close')
    this.#socket?.release(isGone)
    this.#emit(res, 'close')
  }

  /** Nobody else could catch what a listener throws. */
  #emit(target: NodeJS.EventEmitter, name: string): void {
    try {
      target.emit(name)
    } catch (error) {
      this.ctx.app.report(error, this.ctx)
    }
  }

  /** Makes req and res ready for an Express app, which gives them prototypes of its own. */
  forExpress(): void {
    const { req, res } = this
    if (!this.#isExpress) {
      this.#isExpress = true
      Object.defineProperties(req, requestParts)
      // What middlewares have replaced stays so.
      for (const [name, part] of Object.entries(responseParts)) {
        if (!Object.hasOwn(res, name)) Object.defineProperty(res, name, part)
      }
    }
    // The app looks for what it would find in a request of node:http.
    Object.setPrototypeOf(req, IncomingMessage.prototype)
    Object.setPrototypeOf(res, ServerResponse.prototype)
  }

  /** Gives req and res their prototypes again, once an Express app is left. */
  fromExpress(): void {
    Object.setPrototypeOf(this.req, ConnectRequest.prototype)
    Object.setPrototypeOf(this.res, ConnectResponse.prototype)
  }
}

const requestParts = partsOf(ConnectRequest.prototype, expressOwn)
const responseParts = partsOf(ConnectResponse.prototype, new Set(['constructor', 'redirect']))

function partsOf(prototype: object, without: ReadonlySet<string>): Record<string, PropertyDescriptor> {
  const all = Object.entries(Object.getOwnPropertyDescriptors(prototype)) as [string, PropertyDescriptor][]
  return Object.fromEntries(all.filter(([name]) => !without.has(name)))
}

/** Gives the pair of a request, which is made when it is first needed. */
export function pairOf(ctx: RequestContext): Pair {
  const { more } = ctx
  return (more.connect ??= new Pair(ctx)) as Pair
}
