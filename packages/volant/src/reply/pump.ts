/** Sends the chunks of a streamed reply, as fast as the client reads them. */
import { VolantError } from '../errors/errors.ts'
import { isExpectedAbort } from './abort.ts'
import { briefValue } from '../errors/brief-value.ts'
import { requestName } from './late-reply.ts'
import type { SourceParts } from './source.ts'
import { breakOff, endStream } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'

/** Refuses a chunk that is neither text nor bytes. */
export function checkChunk(ctx: RequestContext, chunk: unknown): void {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `a chunk of the stream of ${requestName(ctx)} is a string or bytes, not ${briefValue(chunk)}`,
  )
}

/**
 * Sends the chunks and ends the reply. When the source fails the connection is reset, since the status was sent; the
 * error is reported.
 */
export async function pump(ctx: RequestContext, parts: SourceParts): Promise<void> {
  const { exchange } = ctx
  try {
    for (;;) {
      const chunk = await parts.next()
      if (exchange.aborted) return parts.cancel()
      if (chunk === undefined) break
      checkChunk(ctx, chunk)
      if (!exchange.write(chunk)) await drained(ctx)
      if (exchange.aborted) return parts.cancel()
    }
    exchange.finish()
    endStream(ctx)
  } catch (error) {
    parts.cancel()
    if (exchange.aborted) return
    if (!isExpectedAbort(ctx, error)) ctx.app.report(error, ctx)
    breakOff(ctx)
    ctx.more.failure = error
    exchange.destroy()
  } finally {
    ctx.more.cancelStream = null
    ctx.app.streams.delete(ctx)
    ctx.more.watch?.complete(ctx)
  }
}

function drained(ctx: RequestContext): Promise<void> {
  return new Promise((resolve) => {
    const { more } = ctx
    const cancel = more.cancelStream
    const go = () => {
      ctx.exchange.onDrain = null
      more.cancelStream = cancel
      resolve()
    }
    ctx.exchange.onDrain = go
    // A client that disconnected takes nothing more: the pump wakes up and sees `aborted`.
    more.cancelStream = go
    if (ctx.exchange.aborted) go()
  })
}
