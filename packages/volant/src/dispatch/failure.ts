/** Answers errors, or reports them where no reply is possible any more. Nothing here throws. */
import { ContentType } from '@volant/engine'
import { errorDetail } from './error-detail.ts'
import { HTTPError } from '../errors/errors.ts'
import { problemText } from '../errors/problem.ts'
import { reply } from '../reply/reply.ts'
import { isAbort, isExpectedAbort } from '../reply/abort.ts'
import { isThenable } from '../types/thenable.ts'
import { breakOff, chainFailed, ChainPhase, isExpired, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import { errorChannel } from '../report/channels.ts'
import { send } from '../reply/send.ts'

/**
 * Answers `error` once: by the error handler of its scope, else as problem+json; with `isSecond` without that handler.
 * After a reply the error is reported.
 */
export function fail(ctx: RequestContext, error: unknown, isSecond = wasHandled(ctx)): void {
  answerFailure(ctx, error, isSecond)
  ctx.rare?.watch?.settle(ctx)
}

/** Answers an error while the chain may still run, or after it has ended: that of a send hook. */
export function answerFailure(ctx: RequestContext, error: unknown, isSecond = wasHandled(ctx)): void {
  if (errorChannel.hasSubscribers) errorChannel.publish({ ctx, error })
  if (ctx.rare?.watch) ctx.rare.failure = error
  answerError(ctx, error, isSecond)
  ctx.rare?.watch?.complete(ctx)
}

/** True where the error handler was called, or is not to be called any more. */
export function wasHandled(ctx: RequestContext): boolean {
  return ctx.chain === ChainPhase.failed || isExpired(ctx)
}

function answerError(ctx: RequestContext, error: unknown, isSecond: boolean): void {
  if (ctx.exchange.aborted) {
    ctx.rare?.session?.abandon()
    // Aborted work fails, and nobody reads its error. Clients that disconnect must not fill the log.
    if (!(error instanceof HTTPError) && !isAbort(error)) ctx.app.report(error, ctx)
    return
  }
  if (ctx.phase > ReplyPhase.reopened) {
    if (!isExpired(ctx) || !isAbort(error)) ctx.app.report(error, ctx)
    if (ctx.rare?.cancelStream) {
      breakOff(ctx)
      ctx.rare.cancelStream()
      ctx.exchange.destroy()
    }
    return
  }
  ctx.dropRepresentation()
  const handler = ctx.route.errorHandler
  chainFailed(ctx)
  if (handler === null || isSecond) return sendProblem(ctx, error)
  ctx.statusCode = error instanceof HTTPError ? error.status : 500
  try {
    const value = handler(error, ctx)
    if (isThenable(value)) void settleHandled(ctx, error, value)
    else {
      const begun = answer(ctx, error, value)
      if (begun !== undefined) void settleHandled(ctx, error, begun)
    }
  } catch (second) {
    failTwice(ctx, error, second)
  }
}

/** The error handler failed as well. Without this report the first error would be lost. */
function failTwice(ctx: RequestContext, error: unknown, second: unknown): void {
  if (second !== error && !(error instanceof HTTPError)) ctx.app.report(error, ctx)
  fail(ctx, second)
}

async function settleHandled(
  ctx: RequestContext,
  error: unknown,
  promise: PromiseLike<unknown>,
): Promise<void> {
  // The error handler may read the request after its reply, and so may listeners of that.
  ctx.exchange.retained = true
  try {
    await answer(ctx, error, await promise)
  } catch (second) {
    return failTwice(ctx, error, second)
  } finally {
    ctx.exchange.retained = false
  }
  ctx.rare?.watch?.complete(ctx)
}

function answer(ctx: RequestContext, error: unknown, value: unknown): Promise<void> | void {
  if (value !== undefined && value !== ctx) return reply(ctx, value)
  if (ctx.phase <= ReplyPhase.reopened) sendProblem(ctx, error)
}

function sendProblem(ctx: RequestContext, error: unknown): void {
  if (!(error instanceof HTTPError) && !isExpectedAbort(ctx, error)) ctx.app.report(error, ctx)
  let answered = error
  if (error instanceof HTTPError && error.headers !== undefined) {
    try {
      for (const [name, value] of Object.entries(error.headers)) ctx.header(name, value)
    } catch (bad) {
      ctx.app.report(bad, ctx)
      answered = bad
    }
  }
  try {
    sendText(ctx, answered, answered instanceof HTTPError ? null : errorDetail(ctx, answered))
  } catch (refused) {
    // What the error says is too long for one reply.
    ctx.app.report(refused, ctx)
    sendText(ctx, refused, null)
  }
}

function sendText(ctx: RequestContext, error: unknown, detail: string | null): void {
  const status = error instanceof HTTPError ? error.status : 500
  send(ctx, ContentType.problem, problemText(error, detail), status, 'reply')
}
