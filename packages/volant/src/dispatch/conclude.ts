/** Ends a request's chain: replies with its value or its error, unless the request has its reply. */
import { reply } from '../reply/reply.ts'
import { warnOfSilence } from '../reply/silent-handler.ts'
import { isNothing, stopped } from './chain.ts'
import { fail } from './failure.ts'
import { ChainPhase, chainReturned, chainSilent, hasReturned, isOver, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'

/**
 * Counts work that replies by itself. The request waits for it and is answered with its error, even if the promise is
 * neither awaited nor returned.
 */
export function trackOwnReply(ctx: RequestContext, work: Promise<void>): Promise<void> {
  const done = (error: unknown): void => {
    ctx.more.ownReplies--
    if (--ctx.pending > 0 || !isOver(ctx)) return
    if (error === undefined) {
      if (hasReturned(ctx)) conclude(ctx, undefined)
    } else if (ctx.chain !== ChainPhase.failed || ctx.phase > ReplyPhase.reopened) {
      // Nobody else hears of it. While another error is being answered it must not answer in place of that.
      fail(ctx, error)
    }
  }
  ctx.pending++
  ctx.more.ownReplies++
  work.then(
    () => done(undefined),
    (error: unknown) => done(error ?? new Error('a promise was rejected without a reason')),
  )
  return work
}

/** Ends a chain that returned `value`. Never throws. */
export function conclude(ctx: RequestContext, value: unknown): void {
  if (ctx.replied && isNothing(ctx, value)) chainReturned(ctx)
  else concludeWith(ctx, value)
  ctx.rare?.watch?.settle(ctx)
}

function concludeWith(ctx: RequestContext, value: unknown): void {
  // A hook failed and its error is answered: what the chain gives comes too late.
  if (ctx.phase === ReplyPhase.reopened) return
  try {
    chainReturned(ctx)
    if (!isNothing(ctx, value)) {
      const begun = reply(ctx, value)
      if (begun !== undefined) void trackOwnReply(ctx, begun)
    } else if (ctx.pending > 0) return
    else if (typeof ctx.layers === 'object' && ctx.layers !== null) fail(ctx, ctx.layers.error)
    else if (ctx.route.layered && ctx.layers === null && ctx.statusCode === 0) fail(ctx, stopped(ctx))
    else replyNothing(ctx)
  } catch (error) {
    fail(ctx, error)
  }
}

function replyNothing(ctx: RequestContext): void {
  chainSilent(ctx)
  if (ctx.statusCode === 0) warnOfSilence(ctx)
  reply(ctx, undefined)
}
