/** Replies whose body comes in parts: written as fast as the client reads, cancelled when it disconnects. */
import { Readable } from 'node:stream'
import { ContentType } from '@volant/engine'
import type { Chunk, Source, StreamOptions } from '../types/reply-options.ts'
import { VolantError } from '../errors/errors.ts'
import { endsStream, isExpectedAbort, serverCloses } from './abort.ts'
import { briefValue } from '../errors/brief-value.ts'
import { beginReply, dropReply, requestName } from './late-reply.ts'
import { checkStatus } from './status.ts'
import type { RequestContext } from '../types/request.ts'

/** True for iterators and async iterables, which are streamed. Arrays, maps and sets are values. */
export function isIterator(value: object): boolean {
  if (typeof (value as AsyncIterable<unknown>)[Symbol.asyncIterator] === 'function') return true
  return (
    typeof (value as Iterator<unknown>).next === 'function' &&
    typeof (value as Iterable<unknown>)[Symbol.iterator] === 'function'
  )
}

/**
 * Sends the head at once and the chunks as they come. When the source fails the connection is reset, since the
 * status was sent; the error is reported. HEAD and statuses without content cancel the source unread.
 */
export function sendStream(
  ctx: RequestContext,
  source: Source,
  options: StreamOptions | undefined,
  mayBeEndless = true,
): void {
  if (ctx.replied) {
    dropReply(ctx, 'stream')
    return discard(source)
  }
  const status = options?.status === undefined ? ctx.statusCode || 200 : checkStatus(options.status)
  const length = options?.length ?? -1
  if (!Number.isSafeInteger(length) || length < -1) {
    throw new VolantError('E_BAD_OPTION', `length takes a number of bytes, not ${briefValue(length)}`)
  }
  if (typeof options?.type === 'string') ctx.header('content-type', options.type)
  ctx.statusCode = status
  begin(ctx, openSource(source), length, options?.type === null, mayBeEndless && length < 0)
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
  if (first === undefined && ctx.replied) return
  try {
    if (first !== undefined) checkChunk(ctx, first)
  } catch (error) {
    parts.cancel()
    throw error
  }
  if (!ctx.replied && ctx.statusCode === 0) ctx.statusCode = 200
  begin(ctx, withFirst(first, parts), -1, false, true)
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

type Generated = AsyncGenerator<Chunk> | Generator<Chunk>

/** True for the result of a generator function. */
export function isGenerator(value: object): value is Generated {
  const tag = Object.prototype.toString.call(value)
  return tag === '[object AsyncGenerator]' || tag === '[object Generator]'
}

/**
 * Sends the head, and the chunks as they come. With `untyped` the reply has no content type unless a header sets one.
 */
function begin(
  ctx: RequestContext,
  parts: SourceParts,
  length: number,
  untyped: boolean,
  mayBeEndless: boolean,
): void {
  const { exchange, statusCode } = ctx
  if (!beginReply(ctx, 'stream')) return parts.cancel()
  const type = ctx.hasType || untyped ? ContentType.custom : ContentType.bytes
  exchange.start(statusCode, type, ctx.replyHeaders, length)
  if (ctx.method === 'HEAD' || isBodiless(statusCode)) {
    parts.cancel()
    exchange.finish()
    return
  }
  ctx.more.cancelStream = () => parts.cancel()
  ctx.watchAbort()
  if (mayBeEndless) ctx.app.streams.add(ctx)
  if (endsStream(ctx)) ctx.stop(serverCloses)
  void pump(ctx, parts)
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

function checkChunk(ctx: RequestContext, chunk: unknown): void {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `a chunk of the stream of ${requestName(ctx)} is a string or bytes, not ${briefValue(chunk)}`,
  )
}

async function pump(ctx: RequestContext, parts: SourceParts): Promise<void> {
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
  } catch (error) {
    parts.cancel()
    if (exchange.aborted) return
    if (!isExpectedAbort(ctx, error)) ctx.app.report(error, ctx)
    ctx.more.cutOff = true
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

/** A source of any kind. `next` resolves to undefined at the end; `cancel` may be called at any time. */
export interface SourceParts {
  next(): Promise<Chunk | undefined>
  cancel(): void
}

function discard(source: Source): void {
  try {
    openSource(source).cancel()
  } catch {
    // It was not a source.
  }
}

/** Opens a source. Throws `E_NOT_SERIALISABLE` for any other value. */
export function openSource(source: Source): SourceParts {
  if (source instanceof ReadableStream) return openWeb(source)
  if (source instanceof Readable) return openReadable(source)
  return openIterator(iteratorOf(source))
}

function openWeb(source: ReadableStream<Chunk>): SourceParts {
  const reader = source.getReader()
  return {
    next: async () => {
      const result = await reader.read()
      return result.done ? undefined : result.value
    },
    // Nothing reads an error of the source about being cancelled.
    cancel: () => void reader.cancel().catch(() => {}),
  }
}

function openReadable(source: Readable): SourceParts {
  // Nothing reads an error after cancel(), and without a listener it would end the process.
  source.on('error', () => {})
  const iterator = source.iterator({ destroyOnReturn: true })
  return { next: () => nextOf(iterator), cancel: () => void source.destroy() }
}

function openIterator(iterator: AsyncIterator<Chunk> | Iterator<Chunk>): SourceParts {
  let cancelled = false
  return {
    next: () => nextOf(iterator),
    cancel: () => {
      if (cancelled) return
      cancelled = true
      // A generator runs its `finally` blocks. One that waits runs them when its wait is over.
      void (async () => iterator.return?.())().catch(() => {})
    },
  }
}

async function nextOf(iterator: AsyncIterator<Chunk> | Iterator<Chunk>): Promise<Chunk | undefined> {
  const result = await iterator.next()
  return result.done === true ? undefined : result.value
}

function iteratorOf(
  source: Exclude<Source, ReadableStream<Chunk> | Readable>,
): AsyncIterator<Chunk> | Iterator<Chunk> {
  if (typeof (source as AsyncIterable<Chunk>)[Symbol.asyncIterator] === 'function') {
    return (source as AsyncIterable<Chunk>)[Symbol.asyncIterator]()
  }
  if (typeof (source as Iterable<Chunk>)[Symbol.iterator] === 'function') {
    return (source as Iterable<Chunk>)[Symbol.iterator]()
  }
  if (typeof (source as Iterator<Chunk>).next === 'function') return source as Iterator<Chunk>
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `ctx.stream takes a stream, a generator or an array of chunks, not ${briefValue(source)}`,
  )
}
