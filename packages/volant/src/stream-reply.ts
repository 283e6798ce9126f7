/** Replies whose body comes in parts: written as fast as the client reads, cancelled when it leaves. */
import { Readable } from 'node:stream'
import { ContentType } from '@volant/engine'
import type { RequestContext } from './context.ts'
import { VolantError } from './errors.ts'
import { wasTold } from './failure.ts'
import { beginReply, secondReply } from './reply.ts'
import { checkStatus } from './status.ts'

/** One part of a streamed body; strings are sent in UTF-8. */
export type Chunk = string | Uint8Array

/** What can be streamed: a web or Node.js stream, or an iterator (a generator's, too) of strings and bytes. */
export type Source =
  | ReadableStream<Chunk>
  | Readable
  | AsyncIterable<Chunk>
  | Iterable<Chunk>
  | AsyncIterator<Chunk>
  | Iterator<Chunk>

/** Options of `ctx.stream`. */
export interface StreamOptions {
  /** Default the one set by `ctx.status`, else 200. */
  status?: number | undefined
  /** Content type; default application/octet-stream unless a header set it. Null for none. */
  type?: string | null | undefined
  /** Length in bytes, if known: sent as Content-Length. */
  length?: number | undefined
}

/** Iterators and async iterables are streamed; arrays, maps and sets are not, they are values. */
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
export function sendStream(ctx: RequestContext, source: Source, options: StreamOptions | undefined): void {
  if (ctx.replied && !ctx.exchange.aborted && !ctx.expired) throw secondReply(ctx, 'stream')
  const status = options?.status === undefined ? ctx.statusCode || 200 : checkStatus(options.status)
  const length = options?.length ?? -1
  if (!Number.isSafeInteger(length) || length < -1) {
    throw new VolantError('E_BAD_OPTION', `length takes a number of bytes, not ${String(length)}`)
  }
  if (typeof options?.type === 'string') ctx.header('content-type', options.type)
  const parts = openSource(source)
  if (!beginReply(ctx, 'stream')) return parts.cancel()
  ctx.statusCode = status
  const type = ctx.hasType || options?.type === null ? ContentType.custom : ContentType.bytes
  const { exchange } = ctx
  exchange.start(status, type, ctx.replyHeaders, length)
  if (ctx.method === 'HEAD' || status === 204 || status === 205 || status === 304) {
    parts.cancel()
    exchange.finish()
    return
  }
  ctx.cancelStream = () => parts.cancel()
  ctx.watchAbort()
  void pump(ctx, parts)
}

async function pump(ctx: RequestContext, parts: SourceParts): Promise<void> {
  const { exchange } = ctx
  try {
    for (;;) {
      const chunk = await parts.next()
      if (exchange.aborted) return parts.cancel()
      if (chunk === undefined) break
      if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
        throw new VolantError('E_NOT_SERIALISABLE', `a chunk is a string or bytes, not ${typeof chunk}`)
      }
      if (!exchange.write(chunk)) await drained(ctx)
      if (exchange.aborted) return parts.cancel()
    }
    exchange.finish()
  } catch (error) {
    parts.cancel()
    if (exchange.aborted) return
    if (!wasTold(ctx, error)) ctx.app.report(error, ctx)
    ctx.cutOff = true
    ctx.failure = error
    exchange.destroy()
  } finally {
    ctx.cancelStream = null
    if (ctx.watch !== null) ctx.watch.complete(ctx)
  }
}

function drained(ctx: RequestContext): Promise<void> {
  return new Promise((resolve) => {
    const cancel = ctx.cancelStream
    const go = () => {
      ctx.exchange.onDrain = null
      ctx.cancelStream = cancel
      resolve()
    }
    ctx.exchange.onDrain = go
    // A client that left drains nothing: wake up, and let the pump see `aborted`.
    ctx.cancelStream = go
    if (ctx.exchange.aborted) go()
  })
}

/** One shape for every source. `next` resolves to undefined at the end; `cancel` may be called at any time. */
export interface SourceParts {
  next(): Promise<Chunk | undefined>
  cancel(): void
}

/** Throws `E_NOT_SERIALISABLE` for what is no source. */
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
    // The source's own complaint about being cancelled has no reader left.
    cancel: () => void reader.cancel().catch(() => {}),
  }
}

function openReadable(source: Readable): SourceParts {
  // An error after cancel() has no reader left, and without a listener it would end the process.
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
      // A generator runs its `finally` blocks; one that waits does so when its wait is over.
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
  throw new VolantError('E_NOT_SERIALISABLE', 'ctx.stream takes a stream or an iterator')
}
