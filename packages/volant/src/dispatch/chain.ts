/**
 * Compiles middleware and handler into one function: for a route at its first request, for a procedure when it is made.
 * The context decides what happens to a value: a request replies with it, a call of a procedure returns it.
 */
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import { metadataOf } from './declare.ts'
import { handlerReturnedNothing, hasReturned, isOver, layerFailed } from '../types/phases.ts'
import { isThenable } from '../types/thenable.ts'
import type { Chained, Layer, Run } from '../types/request.ts'

/** The result of `next()` where the inner layers settled at once. */
const settled: Promise<void> = Promise.resolve()

/** Compiles a chain. Without middleware the handler is called directly. */
export function compile<C extends Chained>(middleware: readonly Layer<C>[], handler: Run<C>): Run<C> {
  let run = handler as Run<Chained>
  // True where `run` delivers the value itself and returns undefined, or a promise of undefined.
  let delivers = false
  for (let at = middleware.length - 1; at >= 0; at--) {
    const layer = middleware[at] as Layer<Chained>
    const { gate, skip } = metadataOf(layer)
    if (skip === true) continue
    if (gate !== undefined) {
      run = behind(gate as unknown as Run<Chained>, run)
      delivers = false
      continue
    }
    run = around(layer, delivers ? run : innermost(run))
    delivers = true
  }
  return run as Run<C>
}

/** True when one of these middleware could end its chain without a reply. */
export function isLayered(middleware: readonly object[]): boolean {
  return middleware.some((layer) => {
    const { gate, skip } = metadataOf(layer)
    return gate === undefined && skip !== true
  })
}

/**
 * True for undefined and for the context. `ctx.header(…)` and `ctx.status(…)` return the context, so a function that
 * ends with one of them replies with nothing.
 */
export function isNothing(ctx: object, value: unknown): boolean {
  return value === undefined || value === ctx
}

/**
 * Runs a gate before the inner layers. It costs one call; a middleware with `next` costs two closures and their
 * bookkeeping (lab/pair middleware).
 */
function behind(gate: Run<Chained>, inner: Run<Chained>): Run<Chained> {
  return (ctx) => {
    const value = gate(ctx)
    if (value === undefined || value === ctx) return ctx.replied ? undefined : inner(ctx)
    return isThenable(value) ? afterGate(ctx, value, inner) : value
  }
}

async function afterGate(ctx: Chained, promise: PromiseLike<unknown>, inner: Run<Chained>): Promise<unknown> {
  const value = await promise
  return isNothing(ctx, value) && !ctx.replied ? inner(ctx) : value
}

/** Delivers the handler's value before `next()` of the middleware around it returns, so that these see the status. */
function innermost(inner: Run<Chained>): Run<Chained> {
  return (ctx) => {
    try {
      const value = inner(ctx)
      if (isThenable(value)) return settleLayer(ctx, value, true)
      const begun = deliver(ctx, value, true)
      return begun === undefined ? undefined : settleLayer(ctx, begun, true)
    } catch (error) {
      layerFailed(ctx, error)
      throw error
    }
  }
}

function around(middleware: Layer<Chained>, inner: Run<Chained>): Run<Chained> {
  return (ctx) => {
    let called = false
    let produced: Promise<void> | null = null
    const next = (error?: unknown): Promise<void> => {
      // `next(error)` is Express's way to fail. It throws, so that a guard written that way still stops the request.
      if (error instanceof Error) throw error
      if (called) throw misused(ctx, 'E_NEXT_TWICE', 'more than once: call it once, and await or return it')
      called = true
      if (isOver(ctx) && ctx.pending === 0) return tooLate(ctx)
      const result = inner(ctx)
      if (result === undefined) return settled
      produced = result as Promise<void>
      // The middleware may never look at it, and an unhandled rejection would end the process.
      produced.then(undefined, ignore)
      return produced
    }
    const value = middleware(ctx, next)
    // A middleware may call `next()` without returning it: the chain still waits.
    if (value === undefined || value === ctx) return produced ?? undefined
    if (value === produced) return value
    if (value === settled) return undefined
    if (isThenable(value)) return settleLayer(ctx, value, false)
    const begun = deliver(ctx, value, false)
    return begun === undefined ? (produced ?? undefined) : settleLayer(ctx, begun, false)
  }
}

/** Reports the mistake: `next()` was called from a callback that nobody awaits, where an error would end the process. */
function tooLate(ctx: Chained): Promise<void> {
  const what = 'after its chain had ended: return or await the work that calls next()'
  ctx.reportLate(misused(ctx, 'E_NEXT_LATE', what))
  return settled
}

async function settleLayer(ctx: Chained, promise: PromiseLike<unknown>, isHandler: boolean): Promise<void> {
  ctx.pending++
  try {
    const begun = deliver(ctx, await promise, isHandler)
    if (begun !== undefined) await begun
  } catch (error) {
    layerFailed(ctx, error)
    throw error
  } finally {
    // This only happens if a middleware neither awaited nor returned `next()`: then the last layer concludes.
    if (--ctx.pending === 0 && hasReturned(ctx)) ctx.conclude()
  }
}

/** Delivers the value of a layer. A handler may return nothing; a middleware that returns nothing must call `next`. */
function deliver(ctx: Chained, value: unknown, isHandler: boolean): Promise<void> | void {
  if (!isNothing(ctx, value)) return ctx.deliver(value)
  if (isHandler && !ctx.replied) handlerReturnedNothing(ctx)
}

/**
 * Gives the error for a chain that ended without its handler and without a reply, where an empty reply would hide the
 * mistake.
 */
export function stopped({ chainName }: Chained): VolantError {
  return new VolantError(
    'E_NEXT_MISSING',
    `a middleware of ${chainName} neither called next() nor replied; one that only runs before the handler is before(fn)`,
  )
}

function misused({ chainName }: Chained, code: ErrorCode, when: string): VolantError {
  return new VolantError(code, `a middleware of ${chainName} called next() ${when}`)
}

function ignore(): void {}
