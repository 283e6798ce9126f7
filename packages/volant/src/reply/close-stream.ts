/** Ends streams that may never end by themselves when the server closes. */
import { serverCloses } from './abort.ts'
import { endEarly, hasEvents } from './pump.ts'
import type { RequestContext } from '../types/request.ts'

/** The time in ms in which a stream of events may end by itself, once its signal was aborted. */
const grace = 1_000

/**
 * Aborts the signal of a stream, since the server closes. A stream of events ends with it, after a second even if its
 * source goes on: no event is the last one, and its client connects again. Others may be a download, which goes on.
 */
export function tellClosing(ctx: RequestContext): void {
  ctx.stop(serverCloses)
  const events = ctx.rare?.events
  if (events) events.closeWithServer()
  else if (hasEvents(ctx)) setTimeout(endEarly, grace, ctx).unref()
}
