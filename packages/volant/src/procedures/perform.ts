/**
 * Middleware and handler of a procedure as one function. It gives a value where a route's chain gives a reply: the
 * rules are those of `chain.ts`, but several of these may run for one request.
 */
import type { RequestContext } from '../types/context.ts'
import { VolantError } from '../errors/errors.ts'
import { metadataOf, type Gate } from '../dispatch/declare.ts'
import { isThenable } from '../types/thenable.ts'
import type { CallLayer, CallState, Perform } from './definition.ts'
import { unlessError } from './returned.ts'

/** Without middleware the handler is called directly. */
export function compilePerform(layers: readonly CallLayer[], handler: Perform): Perform {
  let perform = handler
  for (const layer of layers.toReversed()) {
    const { gate } = metadataOf(layer)
    perform = gate === undefined ? around(layer, perform) : behind(gate, perform)
  }
  return perform
}

function behind(gate: Gate, inner: Perform): Perform {
  return (call) => {
    const value = gate(asContext(call))
    if (isThenable(value)) return afterGate(call, value, inner)
    return isNothing(call, value) ? inner(call) : value
  }
}

async function afterGate(call: CallState, promise: PromiseLike<unknown>, inner: Perform): Promise<unknown> {
  const value = await promise
  return isNothing(call, value) ? inner(call) : value
}

function around(layer: CallLayer, inner: Perform): Perform {
  return async (call) => {
    let inside: Promise<unknown> | null = null
    const next = async (error?: unknown): Promise<void> => {
      if (error instanceof Error) throw error
      if (inside !== null) {
        throw new VolantError(
          'E_NEXT_TWICE',
          `a middleware of the procedure ${call.path} called next() more than once: call it once, and await or return it`,
        )
      }
      inside = (async () => unlessError(await inner(call)))()
      await inside
    }
    const value = await layer(asContext(call), (error?: unknown) => {
      const done = next(error)
      // The middleware may never look at it, and an unhandled rejection would end the process.
      done.catch(() => {})
      return done
    })
    unlessError(value)
    // Narrowed to null by the compiler, which does not see that `next` was called meanwhile.
    const result = inside as Promise<unknown> | null
    if (result === null) {
      if (!isNothing(call, value)) return value
      throw new VolantError(
        'E_NEXT_MISSING',
        `a middleware of the procedure ${call.path} neither called next() nor returned a value; one that only runs before the handler is before(fn)`,
      )
    }
    if (isNothing(call, value)) return result
    throw new VolantError(
      'E_ALREADY_REPLIED',
      `a middleware of the procedure ${call.path} called next() and returned a value: do one of them`,
    )
  }
}

/** What the types of a procedure's context leave out throws with a message of its own. */
function asContext({ ctx }: CallState): RequestContext {
  return ctx as unknown as RequestContext
}

/** `ctx.header(…)` gives the context back: a function that ends with it returns nothing. */
function isNothing(call: CallState, value: unknown): boolean {
  return value === undefined || value === call.ctx
}
