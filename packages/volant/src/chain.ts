/** Middleware and handler of a route, compiled into one function when the app starts. */
import type { RequestContext } from './context.ts'
import { fail } from './failure.ts'
import { VolantError } from './errors.ts'
import { broughtBy, type Gate } from './middleware.ts'
import { reply } from './reply.ts'
import { isThenable } from './thenable.ts'

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
    const { gate, skip } = broughtBy(layer)
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

/** lab/pair middleware: a gate costs a call, a middleware with `next` two closures and their bookkeeping. */
function behind(gate: Gate, inner: Run): Run {
  return (ctx) => {
    const value = gate(ctx)
    if (value === undefined) return ctx.replied ? undefined : inner(ctx)
    return isThenable(value) ? afterGate(ctx, value, inner) : value
  }
}

async function afterGate(ctx: RequestContext, promise: PromiseLike<unknown>, inner: Run): Promise<unknown> {
  const value = await promise
  return value === undefined && !ctx.replied ? inner(ctx) : value
}

/** The handler replies before `next()` of the middleware around it returns, so that these see the reply's status. */
function innermost(inner: Run): Run {
  return (ctx) => {
    try {
      const value = inner(ctx)
      if (isThenable(value)) return settleLayer(ctx, value)
      deliver(ctx, value)
      return undefined
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
    const next = (): Promise<void> => {
      if (called) throw new VolantError('E_NEXT_TWICE')
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
    if (value === undefined) return produced ?? undefined
    if (value === produced) return value
    if (value === settled) return undefined
    if (isThenable(value)) return settleLayer(ctx, value)
    deliver(ctx, value)
    return produced ?? undefined
  }
}

/** From a callback nobody waits for, where an error thrown would end the process. */
function tooLate(ctx: RequestContext): Promise<void> {
  ctx.app.report(new VolantError('E_NEXT_LATE'), ctx)
  return settled
}

async function settleLayer(ctx: RequestContext, promise: PromiseLike<unknown>): Promise<void> {
  ctx.pending++
  try {
    deliver(ctx, await promise)
  } catch (error) {
    ctx.chainError ??= error
    throw error
  } finally {
    // Only for a middleware that neither awaited nor returned `next()`: nobody else is left to conclude.
    if (--ctx.pending === 0 && ctx.settled) conclude(ctx, undefined)
  }
}

/** A layer's value as the reply, unless the reply was given already. */
function deliver(ctx: RequestContext, value: unknown): void {
  if (value !== undefined) reply(ctx, value)
}

/** The end of a request's chain: whatever is left to be said is said here. Never throws. */
export function conclude(ctx: RequestContext, value: unknown): void {
  if (ctx.replied && value === undefined) ctx.settled = true
  else concludeWith(ctx, value)
  if (ctx.watch !== null) ctx.watch.settle(ctx)
}

function concludeWith(ctx: RequestContext, value: unknown): void {
  try {
    ctx.settled = true
    if (value !== undefined) reply(ctx, value)
    else if (ctx.pending > 0) return
    else if (ctx.chainError !== undefined) fail(ctx, ctx.chainError)
    else reply(ctx, undefined)
  } catch (error) {
    fail(ctx, error)
  }
}

function ignore(): void {}
