/**
 * A request has one reply. What comes after it is reported and dropped. It is not thrown: in a callback nobody would catch it, and the
 * process would end.
 */
import { VolantError } from '../errors/errors.ts'
import type { RequestContext } from '../types/request.ts'
import { errorChannel } from '../report/channels.ts'

/**
 * Called before every reply, by the method of the context named. False if nobody is there to read it, or if the request
 * has its reply already, which is reported.
 */
export function beginReply(ctx: RequestContext, method: string): boolean {
  if (ctx.exchange.aborted) return false
  if (ctx.replied) {
    dropReply(ctx, method)
    return false
  }
  ctx.replied = true
  return true
}

/** A second reply, by the method of the context named. */
export function dropReply(ctx: RequestContext, method: string): void {
  drop(ctx, `ctx.${method} was called`, 'return after replying')
}

/** Something that belongs to the head of the reply. */
export function dropPart(ctx: RequestContext, what: string): void {
  drop(ctx, `${what} was set`, 'set it before')
}

function drop(ctx: RequestContext, what: string, remedy: string): void {
  // A timeout's 503 or a client that left: the handler cannot know, so this is no mistake.
  if (ctx.exchange.aborted || ctx.rare?.expired) return
  const why =
    ctx.settled === 'silent'
      ? `the handler had returned nothing, so ${ctx.status()} was sent. Return or await what it starts`
      : remedy
  const error = new VolantError(
    'E_ALREADY_REPLIED',
    `${what} after ${nameOf(ctx)} had its reply, and was dropped: ${why}`,
  )
  if (errorChannel.hasSubscribers) errorChannel.publish({ ctx, error })
  if (ctx.rare?.watch) ctx.rare.failure = error
  ctx.app.report(error, ctx)
}

/** The request by its route, in messages. Its path may be forgotten after the reply. */
export function nameOf({ method, pattern, path }: RequestContext): string {
  return `${method} ${pattern ?? path}`
}
