/** Runs send hooks between the making of a reply and its leaving. */
import type { ContentType } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { isAbort } from './abort.ts'
import { briefValue } from '../errors/brief-value.ts'
import { requestName } from './late-reply.ts'
import { Outgoing } from './outgoing.ts'
import { Acceptance, type ReplyContent } from './source.ts'
import { beginHooks, ReplyPhase, reopen } from '../types/phases.ts'
import { isThenable } from '../types/thenable.ts'
import type { RequestContext } from '../types/request.ts'
import type { SendHook } from '../types/send-hook.ts'

/** Hands the reply to the adapter, as the hooks left it. */
export type Leave = (ctx: RequestContext, type: ContentType, content: ReplyContent, status: number) => void

/** Runs the hooks in order, then `leave`. Never throws: an error is answered by a reply that no hook sees. */
export function passHooks(
  ctx: RequestContext,
  hooks: readonly SendHook[],
  type: ContentType,
  content: ReplyContent,
  status: number,
  leave: Leave,
): void {
  const { concerns } = ctx.route
  if (concerns !== null && !concerns(ctx, content instanceof Acceptance ? null : content, status))
    return leave(ctx, type, content, status)
  beginHooks(ctx)
  ctx.statusCode = status
  const reply = new Outgoing(ctx, type, content)
  try {
    for (let at = 0; at < hooks.length; at++) {
      const value = (hooks[at] as SendHook)(ctx, reply)
      if (isThenable(value)) return void passLater(ctx, hooks, at, value, reply, leave)
      checkNothing(ctx, reply, value)
    }
    leaveChanged(ctx, reply, leave)
  } catch (error) {
    giveUp(ctx, reply, error)
  }
}

/** Awaits the hook at `at`, then runs the others. */
async function passLater(
  ctx: RequestContext,
  hooks: readonly SendHook[],
  at: number,
  promise: PromiseLike<unknown>,
  reply: Outgoing,
  leave: Leave,
): Promise<void> {
  // A client that disconnects meanwhile cancels the sources of the reply.
  ctx.watchAbort()
  try {
    checkNothing(ctx, reply, await promise)
    for (let next = at + 1; next < hooks.length && isNeeded(ctx); next++) {
      checkNothing(ctx, reply, await (hooks[next] as SendHook)(ctx, reply))
    }
    if (!isDue(ctx)) {
      ctx.rare?.session?.abandon()
      return reply.cancel()
    }
    leaveChanged(ctx, reply, leave)
    ctx.rare?.watch?.complete(ctx)
  } catch (error) {
    giveUp(ctx, reply, error)
  }
}

/** False once the client has disconnected, or its time was over and it has another reply. */
function isDue({ phase, exchange }: RequestContext): boolean {
  return phase === ReplyPhase.sending && !exchange.aborted
}

/** True also where the client has left, and the reply is kept for when it asks again. */
function isNeeded(ctx: RequestContext): boolean {
  return (
    isDue(ctx) || (ctx.phase === ReplyPhase.sending && ctx.rare !== undefined && ctx.rare.unsent !== null)
  )
}

function leaveChanged(ctx: RequestContext, reply: Outgoing, leave: Leave): void {
  const { type, content } = reply.settled()
  if (ctx.rare !== undefined) ctx.rare.cancelStream = null
  leave(ctx, type, content, ctx.statusCode)
}

/** Answers the error of a hook in place of the reply; of a reply that is not due any more it is reported. */
function giveUp(ctx: RequestContext, reply: Outgoing, error: unknown): void {
  reply.cancel()
  ctx.rare?.session?.abandon()
  if (ctx.phase !== ReplyPhase.sending) {
    if (!isAbort(error)) ctx.app.report(error, ctx)
    return
  }
  ctx.more.cancelStream = null
  reopen(ctx)
  ctx.app.answer(ctx, error)
}

/** Hooks of other frameworks return the new body, which would be lost here. */
function checkNothing(ctx: RequestContext, reply: Outgoing, value: unknown): void {
  if (value === undefined || value === ctx || value === reply) return
  throw new VolantError(
    'E_BAD_HANDLER',
    `an onSend hook of ${requestName(ctx)} returned ${briefValue(value)}, which is not sent: set reply.body, and return nothing`,
  )
}
