/** Sends the chunks of a streamed reply, as fast as the client reads them. */
import { VolantError } from '../errors/errors.ts'
import { isExpectedAbort } from './abort.ts'
import { briefValue } from '../errors/brief-value.ts'
import { plainHeader } from './header.ts'
import { requestName } from './late-reply.ts'
import type { ChunkSink, SourceParts } from './source.ts'
import { breakOff, endStream, ReplyPhase } from '../types/phases.ts'
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
      if (isOver(ctx)) return parts.cancel()
      if (chunk === undefined) break
      checkChunk(ctx, chunk)
      if (!exchange.write(chunk)) await drained(ctx)
      if (isOver(ctx)) return parts.cancel()
    }
    finish(ctx)
  } catch (error) {
    parts.cancel()
    if (!isOver(ctx)) cutOff(ctx, error)
  } finally {
    settle(ctx)
  }
}

/** Has a source write by itself, and does at its end what `pump` does. */
export function feed(ctx: RequestContext, from: (sink: ChunkSink) => void): void {
  const { exchange } = ctx
  from({
    write: (chunk) => exchange.write(chunk),
    set onDrain(go: (() => void) | null) {
      exchange.onDrain = go
    },
    end() {
      if (!isOver(ctx)) finish(ctx)
      settle(ctx)
    },
    fail(error) {
      if (!isOver(ctx)) cutOff(ctx, error)
      settle(ctx)
    },
  })
}

/** Ends a stream before its source has ended: what was sent is complete in itself. */
export function endEarly(ctx: RequestContext): void {
  if (isOver(ctx)) return
  const cancel = ctx.more.cancelStream
  finish(ctx)
  settle(ctx)
  cancel?.()
}

/** True once the client is gone, or nothing more is to be sent. */
function isOver({ exchange, phase }: RequestContext): boolean {
  return exchange.aborted || phase !== ReplyPhase.streaming
}

function finish(ctx: RequestContext): void {
  // Who reads events connects again: by this connection it would come back to a server that closes.
  ctx.exchange.finish(ctx.app.serving.closing && hasEvents(ctx), ctx.rare?.replyTrailers ?? null)
  endStream(ctx)
}

/** True for a reply that is a stream of events, which may end anywhere: its client connects again. */
export function hasEvents({ replyHeaders }: RequestContext): boolean {
  return /^text\/event-stream\b/i.test(plainHeader(replyHeaders, 'content-type') ?? '')
}

function cutOff(ctx: RequestContext, error: unknown): void {
  if (!isExpectedAbort(ctx, error)) ctx.app.report(error, ctx)
  breakOff(ctx)
  ctx.more.failure = error
  ctx.exchange.destroy()
}

function settle(ctx: RequestContext): void {
  ctx.more.cancelStream = null
  ctx.app.streams.delete(ctx)
  ctx.more.watch?.complete(ctx)
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
