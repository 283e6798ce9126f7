/** Gives aborted work its reason, and tells which of its errors are not reported. */
import { HTTPError, VolantError } from '../errors/errors.ts'
import type { RequestContext } from '../types/request.ts'

/** The message of the reason of `ctx.signal`, and the reason with which adapters in JavaScript close WebSockets. */
export const serverCloses = 'the server is closing'

/** True when the reply is a stream that may never end by itself while the server is closing. */
export function endsStream(ctx: RequestContext): boolean {
  return ctx.app.serving.closing && ctx.app.streams.has(ctx)
}

/**
 * True when the error only says that the signal was aborted while something could still be sent: the client sends no
 * more, or the server closes.
 */
export function isExpectedAbort(ctx: RequestContext, error: unknown): boolean {
  return isAbort(error) && (ctx.exchange.halfClosed || endsStream(ctx))
}

/** True for the error of aborted work. */
export function isAbort(error: unknown): boolean {
  if (error instanceof VolantError) return error.code === 'E_ABORTED'
  if (error instanceof HTTPError) return error.code === 'E_REQUEST_TIMEOUT'
  return error instanceof Error && error.name === 'AbortError'
}
