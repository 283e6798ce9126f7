/** Notifies of requests: `onResponse` listeners of scopes and middleware, and subscribers of diagnostics channels. */
import { HTTPError, refusal } from '../errors/errors.ts'
import { finishChannel } from '../report/channels.ts'
import { fail, wasHandled } from './failure.ts'
import { isThenable } from '../types/thenable.ts'
import { chainExpired, reopen, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import type { ResponseInfo, ResponseListener } from '../types/declaration.ts'

/** The watch of a request that has a listener, or a time limit other than the app's. Other requests have none. */
export class Watch {
  readonly #listeners: readonly ResponseListener[]
  readonly #started = performance.now()
  #timer: NodeJS.Timeout | null = null
  /** The time for the handler to begin its reply in, in milliseconds; 0 for none. */
  #time: number
  cutsStreams = false
  #settled = false
  #done = false

  constructor(ctx: RequestContext) {
    const { listeners } = ctx.route
    const own = ctx.rare?.listener
    this.#listeners = own == null ? listeners : [...listeners, own]
    this.#time = ctx.route.handlerTimeout
    this.limit(ctx)
    ctx.exchange.onAbort = (reason) => ctx.onAbort(reason)
  }

  /** Gives the time, for the handler and again for what answers in its place. */
  limit(ctx: RequestContext): void {
    if (this.#time > 0) this.#timer = setTimeout(expire, this.#time, ctx)
  }

  /** Begins another time, that of a middleware. The route's own counts before it. */
  allow(ctx: RequestContext, ms: number, cutsStreams: boolean): void {
    this.cutsStreams = cutsStreams
    if (ctx.route.handlerTimeout > 0) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#time = ms
    this.limit(ctx)
  }

  /** Is called when the chain has ended; its reply may still be under way. */
  settle(ctx: RequestContext): void {
    this.#settled = true
    this.complete(ctx)
  }

  /** Calls the listeners, once the reply is complete or the client has disconnected. */
  complete(ctx: RequestContext): void {
    const { aborted } = ctx.exchange
    const { cancelStream, failure } = ctx.more
    const hasLeft = ctx.phase > ReplyPhase.sending
    if (this.#done || (!aborted && (!this.#settled || !hasLeft || cancelStream !== null))) return
    this.#done = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const info: ResponseInfo = {
      status: hasLeft ? ctx.status() : statusWithoutReply(failure),
      duration: performance.now() - this.#started,
      error: failure,
      aborted: aborted || ctx.phase === ReplyPhase.broken,
    }
    for (const listener of this.#listeners) {
      try {
        const result: unknown = listener(ctx, info)
        // Nothing awaits the promise, and an unhandled rejection would end the process.
        if (isThenable(result)) result.then(undefined, (error: unknown) => ctx.app.report(error, ctx))
      } catch (error) {
        ctx.app.report(error, ctx)
      }
    }
    if (finishChannel.hasSubscribers) finishChannel.publish({ ctx, ...info })
  }
}

/** Gives the status of the reply that the adapter sent in the handler's place, if it did. */
function statusWithoutReply(error: unknown): number {
  const timedOut =
    error instanceof HTTPError && (error.code === 'E_HANDLER_TIMEOUT' || error.code === 'E_REQUEST_TIMEOUT')
  // 499 is nginx's status for a disconnect; the registry has none.
  return timedOut ? error.status : 499
}

function expire(ctx: RequestContext): void {
  if (ctx.exchange.aborted) return
  if (ctx.phase === ReplyPhase.streaming && ctx.rare?.watch?.cutsStreams === true) {
    // The status was sent: what is left is to reset the connection.
    fail(ctx, refusal('E_HANDLER_TIMEOUT', 'The reply was not complete when its time was over'))
    return ctx.stop()
  }
  if (ctx.phase > ReplyPhase.sending) return
  if (ctx.phase === ReplyPhase.sending) {
    ctx.rare?.cancelStream?.()
    ctx.more.cancelStream = null
    reopen(ctx)
  }
  const isSecond = wasHandled(ctx)
  chainExpired(ctx)
  fail(ctx, refusal('E_HANDLER_TIMEOUT'), isSecond)
  // The error handler, or a hook of its reply, may not settle either. The next reply is made without it.
  if (ctx.phase <= ReplyPhase.sending) ctx.rare?.watch?.limit(ctx)
  // This comes after the reply, since a reply to the abort is too late.
  ctx.stop()
}
