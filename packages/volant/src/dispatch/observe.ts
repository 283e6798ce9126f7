/** Notifies of requests: `onResponse` listeners of scopes and middleware, and subscribers of diagnostics channels. */
import { HTTPError, refusal } from '../errors/errors.ts'
import { finishChannel } from '../report/channels.ts'
import { fail } from './failure.ts'
import { isThenable } from '../types/thenable.ts'
import { chainExpired, ChainPhase, reopen, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import type { ResponseInfo, ResponseListener } from '../types/declaration.ts'

/** The watch of a request that has a listener; other requests have none. */
export class Watch {
  readonly #listeners: readonly ResponseListener[]
  readonly #started = performance.now()
  readonly #timer: NodeJS.Timeout | null
  #settled = false
  #done = false

  constructor(ctx: RequestContext) {
    const { listeners, handlerTimeout } = ctx.route
    this.#listeners = listeners
    this.#timer = handlerTimeout > 0 ? setTimeout(expire, handlerTimeout, ctx) : null
    ctx.exchange.onAbort = (reason) => ctx.onAbort(reason)
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
  if (ctx.phase > ReplyPhase.sending || ctx.exchange.aborted) return
  if (ctx.phase === ReplyPhase.sending) {
    ctx.rare?.cancelStream?.()
    ctx.more.cancelStream = null
    reopen(ctx)
  }
  const isSecond = ctx.chain === ChainPhase.failed
  chainExpired(ctx)
  fail(ctx, refusal('E_HANDLER_TIMEOUT'), isSecond)
  // This comes after the reply, since a reply to the abort is too late.
  ctx.stop()
}
