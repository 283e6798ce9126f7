/** The bytes of a body for a reader that asks for them: those of a buffered body, or of one that still arrives. */
import type { BodySink } from '@volant/engine'
import { bodyError, streamWindow } from '../request/body.ts'
import { keepTrailers } from '../request/trailers.ts'
import type { RequestContext } from '../types/request.ts'

export interface BodySource {
  /** Gives the next bytes, null after the last ones, or a promise of either. It may reject, and then rejects again. */
  next(): Buffer | null | Promise<Buffer | null>
  /** Takes bytes back that nobody looks at any more. */
  release(bytes: Buffer): void
}

/**
 * The memory of chunks that were used. A Buffer for each chunk would wait for the garbage collector, which begins when
 * there are 32 MiB of them: an upload of 300 MiB to disk made the process grow by 33 MB, and with these by 3.
 */
const pool: Buffer[] = []
const pooledLength = 65_536
const mostPooled = 64

/** Small chunks are not worth the memory of a large one. */
function isPooled({ length }: Buffer): boolean {
  return length <= pooledLength && length >= pooledLength / 4
}

function copyOf(bytes: Buffer): Buffer {
  if (!isPooled(bytes)) return Buffer.from(bytes)
  const memory = pool.pop() ?? Buffer.allocUnsafeSlow(pooledLength)
  bytes.copy(memory)
  return memory.subarray(0, bytes.length)
}

function takeBack(bytes: Buffer): void {
  // The length decides: a small chunk may lie in memory of Node.js, which others use, and which may be as large as ours.
  if (isPooled(bytes) && pool.length < mostPooled) pool.push(Buffer.from(bytes.buffer))
}

/** Gives the bytes of a body that has arrived. */
export function bytesSource(bytes: Buffer): BodySource {
  let given = false
  return {
    next() {
      if (given || bytes.length === 0) return null
      given = true
      return bytes
    },
    release() {},
  }
}

/** Reads the stream of a body that was encoded. */
export function webSource(stream: ReadableStream<Uint8Array>): BodySource {
  const reader = stream.getReader()
  return {
    async next() {
      const { done, value } = await reader.read()
      return done ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    },
    release() {},
  }
}

/**
 * Reads a body as it arrives. The client may send as much ahead as it may for `ctx.bodyStream`, and more of it is let
 * in as it is asked for.
 */
export class StreamSource implements BodySource, BodySink {
  readonly borrows = true
  readonly #ctx: RequestContext
  readonly #waiting: Buffer[] = []
  #ended = false
  #failure: Error | null = null
  #reader: { resolve(bytes: Buffer | null): void; reject(error: Error): void } | null = null
  /** True where the adapter lends its bytes, so that those of this source are copies. */
  #copies = false
  /** What was taken and not yet let in again. Each grant is a message, so that small ones are gathered. */
  #taken = 0

  constructor(ctx: RequestContext) {
    this.#ctx = ctx
    ctx.exchange.readBody(this, streamWindow)
  }

  next(): Buffer | null | Promise<Buffer | null> {
    const bytes = this.#waiting.shift()
    if (bytes !== undefined) return this.#take(bytes)
    if (this.#failure !== null) return Promise.reject(this.#failure)
    if (this.#ended) return null
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
    })
  }

  #take(bytes: Buffer): Buffer {
    this.#taken += bytes.length
    if (this.#taken >= streamWindow / 4 && !this.#ended) {
      this.#ctx.exchange.credit(this.#taken)
      this.#taken = 0
    }
    return bytes
  }

  chunk(given: Buffer, isLent = false): void {
    this.#copies = isLent
    const bytes = isLent ? copyOf(given) : given
    const reader = this.#reader
    this.#reader = null
    if (reader === null) this.#waiting.push(bytes)
    else reader.resolve(this.#take(bytes))
  }

  release(bytes: Buffer): void {
    if (this.#copies) takeBack(bytes)
  }

  end(trailers?: string[]): void {
    keepTrailers(this.#ctx, trailers)
    this.#ended = true
    this.#reader?.resolve(null)
    this.#reader = null
  }

  fail(error: Error): void {
    this.#failure = bodyError(error)
    // What came before cannot be the whole form.
    this.#waiting.length = 0
    this.#reader?.reject(this.#failure)
    this.#reader = null
  }
}
