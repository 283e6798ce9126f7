/** What a streamed body comes from: streams of the web and of Node.js, and iterators, read in one way. */
import { Readable } from 'node:stream'
import type { Chunk, Source } from '../types/reply-options.ts'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { RequestContext } from '../types/request.ts'

/** A source of any kind. `next` resolves to undefined at the end; `cancel` may be called at any time. */
export interface SourceParts {
  next(): Promise<Chunk | undefined>
  cancel(): void
  /** A source that has it writes by itself, if nothing stands between it and the connection: `next` is not called then. */
  feed?(sink: ChunkSink): void
}

/** The connection, as a source that writes by itself sees it. */
export interface ChunkSink {
  /** False when it takes no more: `onDrain` follows. What is written nevertheless waits in the server. */
  write(chunk: Chunk): boolean
  onDrain: (() => void) | null
  /** Ends the reply. Nothing follows. */
  end(): void
  /** Cuts the reply off, and reports the error. Nothing follows. */
  fail(error: unknown): void
}

/** A body that comes in parts. */
export interface StreamBody {
  readonly parts: SourceParts
  /** The length in bytes; −1 while it is not known. */
  readonly length: number
  /** True where it may never end by itself, so that it is told when the server closes. */
  readonly mayBeEndless: boolean
}

/** What stands in the place of a body in the reply 101: it makes a WebSocket of the connection as the reply leaves. */
export class Acceptance {
  /** Throws where the WebSocket is to be refused after all: send hooks may have taken their time. */
  readonly check: (ctx: RequestContext) => void
  readonly accept: (ctx: RequestContext) => void

  constructor(check: (ctx: RequestContext) => void, accept: (ctx: RequestContext) => void) {
    this.check = check
    this.accept = accept
  }
}

/** The body of a reply; null for none. */
export type ReplyContent = string | Uint8Array | StreamBody | Acceptance | null

/** True for a body that comes in parts. */
export function isStream(content: ReplyContent): content is StreamBody {
  return (
    typeof content === 'object' &&
    content !== null &&
    !(content instanceof Uint8Array) &&
    !(content instanceof Acceptance)
  )
}

/** Cancels a source that is not sent. */
export function discard(source: Source): void {
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

export function openIterator(iterator: AsyncIterator<Chunk> | Iterator<Chunk>): SourceParts {
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

/** True for iterators and async iterables, which are streamed. Arrays, maps and sets are values. */
export function isIterator(value: object): boolean {
  if (typeof (value as AsyncIterable<unknown>)[Symbol.asyncIterator] === 'function') return true
  return (
    typeof (value as Iterator<unknown>).next === 'function' &&
    typeof (value as Iterable<unknown>)[Symbol.iterator] === 'function'
  )
}

export type Generated = AsyncGenerator<Chunk> | Generator<Chunk>

/** True for the result of a generator function. */
export function isGenerator(value: object): value is Generated {
  const tag = Object.prototype.toString.call(value)
  return tag === '[object AsyncGenerator]' || tag === '[object Generator]'
}
