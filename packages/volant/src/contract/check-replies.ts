/** Checks the replies of handlers under a contract before they are sent. */
import { Readable } from 'node:stream'
import { isIterator } from '../reply/source.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import type { ResponsePlan } from './response-plan.ts'

/** Wraps `handler`: its replies have this type unless it sets another. */
export function typedAs(
  mediaType: string,
  handler: (ctx: RequestContext) => unknown,
): (ctx: RequestContext) => unknown {
  return (ctx) => {
    if (!ctx.hasType) ctx.header('content-type', mediaType)
    return handler(ctx)
  }
}

/** Wraps `handler`: what it returns is checked by the declared replies, and so is what it sends through `ctx`. */
export function underContract(
  handler: (ctx: RequestContext) => unknown,
  plan: ResponsePlan,
): (ctx: RequestContext) => unknown {
  return (ctx) => {
    ctx.responses = plan
    let value: unknown
    try {
      value = handler(ctx)
    } catch (error) {
      return release(ctx, error)
    }
    if (!isThenable(value)) return giveOrRelease(ctx, plan, value)
    // Promises of other libraries may call back more than once.
    const promise = value instanceof Promise ? (value as Promise<unknown>) : Promise.resolve(value)
    return promise.then(
      (settled) => giveOrRelease(ctx, plan, settled),
      (error: unknown) => release(ctx, error),
    )
  }
}

function giveOrRelease(ctx: RequestContext, plan: ResponsePlan, value: unknown): unknown {
  try {
    return give(ctx, plan, value)
  } catch (error) {
    return release(ctx, error)
  }
}

/**
 * Removes the declared replies after an error: they are the handler's, and a middleware that catches the error replies
 * without them.
 */
function release(ctx: RequestContext, error: unknown): never {
  ctx.responses = null
  throw error
}

function give(ctx: RequestContext, plan: ResponsePlan, value: unknown): unknown {
  // The chain reports a reply that comes twice or too late.
  if (ctx.replied || ctx.exchange.aborted) return value
  if (value === undefined || value === ctx) return giveNothing(ctx, plan)
  if (isUnchecked(value)) return value
  const status = ctx.statusCode === 0 ? 200 : ctx.statusCode
  const reply = plan.replyOf(status)
  if (reply === null) return value === null ? undefined : plan.refuseContent(status, false)
  const checked = reply.check(value)
  if (!(checked instanceof Promise)) return reply.send(ctx, checked)
  return checked.then(
    (settled: unknown) => reply.send(ctx, settled),
    (error: unknown) => release(ctx, error),
  )
}

function giveNothing(ctx: RequestContext, plan: ResponsePlan): undefined {
  // `ctx.file` and other asynchronous replies end the request themselves.
  if (ctx.rare !== undefined && ctx.rare.ownReplies > 0) return
  const usual = plan.has(200) && !plan.has(204) ? 200 : 204
  const status = ctx.statusCode === 0 ? usual : ctx.statusCode
  if (plan.replyOf(status) !== null) plan.refuseContent(status, true)
  ctx.statusCode = status
}

/** No schema describes these values, so they are sent as they are; the types of a contract refuse them. */
function isUnchecked(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { constructor } = value
  if (constructor === Object || constructor === Array) return false
  return (
    value instanceof Uint8Array ||
    value instanceof Response ||
    value instanceof Error ||
    value instanceof ArrayBuffer ||
    value instanceof ReadableStream ||
    value instanceof Readable ||
    value instanceof Blob ||
    isIterator(value)
  )
}
