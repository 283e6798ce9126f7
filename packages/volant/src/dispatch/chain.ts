/** Middleware and handler of a route, compiled into one function by its first request. */
import type { RequestContext } from '../types/context.ts'
import { fail } from './failure.ts'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import { metadataOf, type Gate } from './declare.ts'
import { reply } from '../reply/reply.ts'
import { warnOfSilence } from '../reply/silent-handler.ts'
import { isThenable } from '../types/thenable.ts'

/** Runs a route: gives the handler's value, or settles the reply itself and gives undefined or a promise of it. */
export type Run = (ctx: RequestContext) => unknown

/** A middleware or handler as the framework calls it; the types users see are narrower. */
export type Layer = (ctx: RequestContext, next: () => Promise<void>) => unknown

/** `next()` of a chain that settled at once. */
const settled: Promise<void> = Promise.resolve()

/** Without middleware the handler is called directly. */
export function compile(middleware: readonly Layer[], handler: (ctx: RequestContext) => unknown): Run {
  let run: Run = handler
  // Whether what `run` gives is no reply any more: undefined, or a promise of it.
  let delivers = false
  for (let at = middleware.length - 1; at >= 0; at--) {
    const layer = middleware[at] as Layer
    const { gate, skip } = metadataOf(layer)
    if (skip === true) continue
    if (gate !== undefined) {
      run = behind(gate, run)
      delivers = false
      continue
    }
    run = around(layer, delivers ? run : innermost(run))
    delivers = true
  }
  return run
}

/** Whether a middleware of these could end a request without a word. */
export function isLayered(middleware: readonly Layer[]): boolean {
  return middleware.some((layer) => {
    const { gate, skip } = metadataOf(layer)
    return gate === undefined && skip !== true
  })
}

/** `ctx.header(…)` and `ctx.status(…)` give the context back: a function that ends with one of them returns nothing. */
function isNothing(ctx: RequestContext, value: unknown): boolean {
  return value === undefined || value === ctx
}

/** lab/pair middleware: a gate costs a call, a middleware with `next` two closures and their bookkeeping. */
function behind(gate: Gate, inner: Run): Run {
  return (ctx) => {
    const value = gate(ctx)
    if (value === undefined || value === ctx) return ctx.replied ? undefined : inner(ctx)
    return isThenable(value) ? afterGate(ctx, value, inner) : value
  }
}

async function afterGate(ctx: RequestContext, promise: PromiseLike<unknown>, inner: Run): Promise<unknown> {
  const value = await promise
  return isNothing(ctx, value) && !ctx.replied ? inner(ctx) : value
}

/** The handler replies before `next()` of the middleware around it returns, so that these see the reply's status. */
function innermost(inner: Run): Run {
  return (ctx) => {
    try {
      const value = inner(ctx)
      if (isThenable(value)) return settleLayer(ctx, value, true)
      const begun = deliver(ctx, value, true)
      return begun === undefined ? undefined : settleLayer(ctx, begun, true)
    } catch (error) {
      ctx.chainError ??= error
      throw error
    }
  }
}

function around(middleware: Layer, inner: Run): Run {
  return (ctx) => {
    let called = false
    let produced: Promise<void> | null = null
    const next = (error?: unknown): Promise<void> => {
      // `next(error)` is Express's way to fail. It throws, so that a guard written that way still stops the request.
      if (error instanceof Error) throw error
      if (called) throw misused(ctx, 'E_NEXT_TWICE', 'more than once: call it once, and await or return it')
      called = true
      if (ctx.settled && ctx.pending === 0) return tooLate(ctx)
      const result = inner(ctx)
      if (result === undefined) return settled
      produced = result as Promise<void>
      // The middleware may never look at it, and an unhandled rejection would end the process.
      produced.then(undefined, ignore)
      return produced
    }
    const value = middleware(ctx, next)
    // `next()` without `return`: still wait for it.
    if (value === undefined || value === ctx) return produced ?? undefined
    if (value === produced) return value
    if (value === settled) return undefined
    if (isThenable(value)) return settleLayer(ctx, value, false)
    const begun = deliver(ctx, value, false)
    return begun === undefined ? (produced ?? undefined) : settleLayer(ctx, begun, false)
  }
}

/** From a callback nobody waits for, where an error thrown would end the process. */
function tooLate(ctx: RequestContext): Promise<void> {
  const what = 'after it was done and the request had its reply: return or await what calls next()'
  ctx.app.report(misused(ctx, 'E_NEXT_LATE', what), ctx)
  return settled
}

async function settleLayer(
  ctx: RequestContext,
  promise: PromiseLike<unknown>,
  isHandler: boolean,
): Promise<void> {
  ctx.pending++
  try {
    const begun = deliver(ctx, await promise, isHandler)
    if (begun !== undefined) await begun
  } catch (error) {
    ctx.chainError ??= error
    throw error
  } finally {
    // Only for a middleware that neither awaited nor returned `next()`: nobody else is left to conclude.
    if (--ctx.pending === 0 && ctx.settled) conclude(ctx, undefined)
  }
}

/** A layer's value as the reply. A handler may have none, which is 204; a middleware that has none must call `next`. */
function deliver(ctx: RequestContext, value: unknown, isHandler: boolean): Promise<void> | void {
  if (!isNothing(ctx, value)) return reply(ctx, value)
  if (isHandler && !ctx.replied) ctx.empty = true
}

/**
 * Work that replies by itself: the request waits for it also where its promise is neither awaited nor returned, and
 * gets its error then.
 */
export function trackOwnReply(ctx: RequestContext, work: Promise<void>): Promise<void> {
  const done = (error: unknown): void => {
    ctx.ownReplies--
    if (--ctx.pending > 0 || !ctx.settled) return
    if (error === undefined) conclude(ctx, undefined)
    else fail(ctx, error)
  }
  ctx.pending++
  ctx.ownReplies++
  work.then(
    () => done(undefined),
    (error: unknown) => done(error ?? new Error('a promise was rejected with nothing')),
  )
  return work
}

/** The end of a request's chain: whatever is left to be said is said here. Never throws. */
export function conclude(ctx: RequestContext, value: unknown): void {
  if (ctx.replied && isNothing(ctx, value)) ctx.settled = true
  else concludeWith(ctx, value)
  if (ctx.watch !== null) ctx.watch.settle(ctx)
}

function concludeWith(ctx: RequestContext, value: unknown): void {
  try {
    ctx.settled = true
    if (!isNothing(ctx, value)) {
      const begun = reply(ctx, value)
      if (begun !== undefined) void trackOwnReply(ctx, begun)
    } else if (ctx.pending > 0) return
    else if (ctx.chainError !== undefined) fail(ctx, ctx.chainError)
    else if (ctx.route.layered && !ctx.empty && ctx.statusCode === 0) fail(ctx, stopped(ctx))
    else replyNothing(ctx)
  } catch (error) {
    fail(ctx, error)
  }
}

function replyNothing(ctx: RequestContext): void {
  ctx.settled = 'silent'
  if (ctx.statusCode === 0) warnOfSilence(ctx)
  reply(ctx, undefined)
}

/** No handler ran, and nobody said a word: 204 would tell the client that all is well. */
function stopped({ method, path }: RequestContext): VolantError {
  return new VolantError(
    'E_NEXT_MISSING',
    `a middleware of ${method} ${path} neither called next() nor replied; one that only runs before the handler is before(fn)`,
  )
}

function misused({ method, path }: RequestContext, code: ErrorCode, when: string): VolantError {
  return new VolantError(code, `a middleware of ${method} ${path} called next() ${when}`)
}

function ignore(): void {}
