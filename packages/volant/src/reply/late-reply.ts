/**
 * Handles replies after the first. They are reported and dropped. They are not thrown: in a callback nothing would
 * catch the error, and the process would end.
 */
import { VolantError } from '../errors/errors.ts'
import { ChainPhase, isExpired, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import { errorChannel } from '../report/channels.ts'

/** Reports a second reply, by the method of the context named. */
export function dropReply(ctx: RequestContext, method: string): void {
  const remedy = ctx.phase === ReplyPhase.sending ? 'an onSend hook sets reply.body' : 'return after replying'
  drop(ctx, `ctx.${method} was called`, remedy)
}

/** Reports a change to the head of a reply that was sent. */
export function dropPart(ctx: RequestContext, what: string): void {
  drop(ctx, `${what} was set`, 'set it before, or in an onSend hook (docs/guide/06-middleware.md#onsend)')
}

/** Reports a trailer that was set after the reply had ended. */
export function dropTrailer(ctx: RequestContext, name: string): void {
  drop(ctx, `the trailer ${name} was set`, 'set it before the body ends')
}

function drop(ctx: RequestContext, what: string, remedy: string): void {
  // After a timeout's 503 or a disconnect this is not a mistake, since the handler cannot know.
  if (ctx.exchange.aborted || isExpired(ctx)) return
  const why =
    ctx.chain === ChainPhase.silent
      ? `the handler had returned nothing, so ${ctx.status()} was sent. Return or await what it starts`
      : remedy
  const error = new VolantError(
    'E_ALREADY_REPLIED',
    `${what} after ${requestName(ctx)} had its reply, and was dropped: ${why}`,
  )
  if (errorChannel.hasSubscribers) errorChannel.publish({ ctx, error })
  if (ctx.rare?.watch) ctx.rare.failure = error
  ctx.app.report(error, ctx)
}

/** Gives the name of a request in messages: its route. Its path may be forgotten after the reply. */
export function requestName({ method, pattern, path }: RequestContext): string {
  return `${method} ${pattern ?? path}`
}
