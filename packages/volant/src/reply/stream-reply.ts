/** Replies whose body comes in parts: written as fast as the client reads, cancelled when it disconnects. */
import { ContentType } from '@volant/engine'
import type { Chunk, Source, StreamOptions } from '../types/reply-options.ts'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import { dropReply } from './late-reply.ts'
import { checkChunk } from './pump.ts'
import { isBodiless, send } from './send.ts'
import { discard, type Generated, openIterator, openSource, type SourceParts } from './source.ts'
import { checkStatus } from './status.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'

/** Streams a source. `mayBeEndless` says whether it is told when the server closes; its length must be unknown, too. */
export function sendStream(
  ctx: RequestContext,
  source: Source,
  options: StreamOptions | undefined,
  mayBeEndless = true,
): void {
  if (ctx.phase > ReplyPhase.reopened) {
    dropReply(ctx, 'stream')
    return discard(source)
  }
  const status = options?.status === undefined ? undefined : checkStatus(options.status)
  const length = options?.length ?? -1
  if (!Number.isSafeInteger(length) || length < -1) {
    throw new VolantError('E_BAD_OPTION', `length takes a number of bytes, not ${briefValue(length)}`)
  }
  if (typeof options?.type === 'string') ctx.header('content-type', options.type)
  const type = options?.type === null ? ContentType.custom : ContentType.bytes
  send(ctx, type, { parts: openSource(source), length, mayBeEndless }, status, 'stream')
}

/**
 * Streams the result of a generator function. Its code runs to the first `yield` before the head is sent, so that it
 * may set status and headers, and so that an error which it throws there has a reply. For HEAD none of it runs.
 */
export async function sendGenerated(ctx: RequestContext, generator: Generated): Promise<void> {
  if (ctx.method === 'HEAD' || isBodiless(ctx.statusCode)) return sendStream(ctx, generator, undefined)
  const parts = openIterator(generator)
  const first = await parts.next()
  // The generator replied by itself and ended.
  if (first === undefined && ctx.phase > ReplyPhase.reopened) return
  try {
    if (first !== undefined) checkChunk(ctx, first)
  } catch (error) {
    parts.cancel()
    throw error
  }
  const content = { parts: withFirst(first, parts), length: -1, mayBeEndless: true }
  send(ctx, ContentType.bytes, content, undefined, 'stream')
}

function withFirst(first: Chunk | undefined, parts: SourceParts): SourceParts {
  let waits = true
  return {
    next: async () => {
      if (!waits) return parts.next()
      waits = false
      return first
    },
    cancel: () => parts.cancel(),
  }
}
