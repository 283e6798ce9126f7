/** Work that was told to stop: why, and which of its errors nobody has to hear of. */
import { HTTPError, VolantError } from '../errors/errors.ts'
import type { RequestContext } from '../types/request.ts'

/** Message of the reason of `ctx.signal`. */
export const serverCloses = 'the server is closing'

/** Tells whether the reply is a stream that may never end by itself while the server is closing. */
export function endsStream(ctx: RequestContext): boolean {
  return ctx.app.serving.closing && ctx.app.streams.has(ctx)
}

/** A client that sends no more, or a server that closes, has aborted the signal while something can still be sent. */
export function isExpectedAbort(ctx: RequestContext, error: unknown): boolean {
  return isAbort(error) && (ctx.exchange.halfClosed || endsStream(ctx))
}

/** Work that was told to stop says so. */
export function isAbort(error: unknown): boolean {
  if (error instanceof VolantError) return error.code === 'E_ABORTED'
  if (error instanceof HTTPError) return error.code === 'E_REQUEST_TIMEOUT'
  return error instanceof Error && error.name === 'AbortError'
}
