/** `timeout()` gives handlers a time to begin their replies in. */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { errorTable } from '../errors/errors.ts'
import { checkFlag, checkInteger, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import type { FittingMiddleware } from '../types/parts.ts'

/** The options of `timeout`. */
export interface TimeoutOptions {
  /**
   * True ends replies in parts that have begun as well: their connection is reset, since the status was sent. Default
   * false.
   */
  streams?: boolean | undefined
}

/**
 * Answers a request with 503 (`E_HANDLER_TIMEOUT`) where the handler has not begun its reply after `ms` milliseconds,
 * and aborts `ctx.signal`:
 *
 *     app.use(timeout(5_000))
 *
 * It is the option `handlerTimeout` of a route, for a scope. The time begins when the middleware runs. The innermost
 * `timeout` counts, and a route's own `handlerTimeout` before all; `timeout(0)` takes the limit away. What the handler
 * replies later is dropped. `onError` may answer in place of the 503. Throws `E_BAD_OPTION`.
 */
export function timeout(
  ms: number,
  options: TimeoutOptions = {},
): FittingMiddleware<{ errors: { E_HANDLER_TIMEOUT: { status: 503 } } }> {
  checkInteger('timeout', ms, [0, day], 'a whole number of milliseconds from 0 to 86,400,000, a day')
  checkNames('timeout', options, ['streams'], foreignNames.timeout)
  const streams = checkFlag('timeout: streams', options.streams, false)
  return gateOf((ctx) => void ctx.rare?.watch?.allow(ctx, ms, streams), {
    errors: { E_HANDLER_TIMEOUT: { status: 503, description: errorTable.E_HANDLER_TIMEOUT.meaning } },
    isWatched: true,
    isOfRequest: true,
  }) as FittingMiddleware<{ errors: { E_HANDLER_TIMEOUT: { status: 503 } } }>
}

hintMisuse(timeout, 'app.use(timeout(5_000))')

const day = 86_400_000
