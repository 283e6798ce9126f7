/** The body of a request without a socket, as it comes. */
import { setImmediate as turn } from 'node:timers/promises'
import type { BodySink } from '@volant/engine'
import { errorTable, VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { SourceParts } from '../reply/stream-reply.ts'
import type { MemoryExchange } from './memory.ts'
import type { Chunk } from '../types/reply-options.ts'

/** Most bytes handed to a sink at once. */
const mostChunk = 65_536

export class MemoryUpload {
  /** Bytes. */
  limit = Infinity
  readonly #exchange: MemoryExchange
  readonly #source: SourceParts
  #sink: BodySink | null = null
  #window = 0
  #wake: (() => void) | null = null
  #over = false

  constructor(exchange: MemoryExchange, source: SourceParts) {
    this.#exchange = exchange
    this.#source = source
  }

  /** Of bytes that are all there; they come in later turns of the loop, as from a socket. */
  static of(exchange: MemoryExchange, bytes: Buffer): MemoryUpload {
    let at = 0
    return new MemoryUpload(exchange, {
      next: async () => {
        await turn()
        if (at >= bytes.length) return undefined
        return bytes.subarray(at, (at += mostChunk))
      },
      cancel: () => {},
    })
  }

  /** All of it, or as much as is past `limit`; null if the source failed. Never rejects. */
  async collect(limit: number): Promise<Buffer | null> {
    const chunks: Buffer[] = []
    let length = 0
    try {
      while (length <= limit) {
        const chunk = await this.#source.next()
        if (chunk === undefined || this.#over) break
        chunks.push(bytesOf(chunk))
        length += chunk.length
      }
    } catch (error) {
      this.#exchange.lose(error)
      return null
    }
    this.#stop()
    return Buffer.concat(chunks)
  }

  stream(sink: BodySink, window: number): void {
    if (this.#sink !== null) throw new VolantError('E_BODY_USED')
    this.#sink = sink
    this.#window = window
    if (this.#over) queueMicrotask(() => this.#tell(sink))
    else void this.#pump(sink)
  }

  credit(bytes: number): void {
    this.#window += bytes
    this.#wake?.()
  }

  /** The client left, or has its reply: nothing more of the body is handed on. */
  fail(): void {
    if (this.#over) return
    this.#stop()
    if (this.#sink !== null) this.#tell(this.#sink)
  }

  #tell(sink: BodySink): void {
    this.#exchange.runInAsyncScope(() => sink.fail(new VolantError('E_ABORTED')))
  }

  #stop(): void {
    if (this.#over) return
    this.#over = true
    this.#wake?.()
    this.#source.cancel()
  }

  async #pump(sink: BodySink): Promise<void> {
    let length = 0
    try {
      for (;;) {
        const chunk = await this.#source.next()
        if (this.#over) return
        if (chunk === undefined) break
        const bytes = bytesOf(chunk)
        length += bytes.length
        if (length > this.limit) return this.#refuse(sink)
        for (let at = 0; at < bytes.length;) {
          while (this.#window <= 0 && !this.#over) await this.#credited()
          if (this.#over) return
          const part = bytes.subarray(at, at + Math.min(this.#window, mostChunk))
          this.#window -= part.length
          at += part.length
          this.#exchange.runInAsyncScope(() => sink.chunk(Buffer.from(part)))
        }
      }
      this.#over = true
      this.#exchange.runInAsyncScope(() => sink.end())
    } catch (error) {
      this.fail()
      this.#exchange.lose(error)
    }
  }

  #refuse(sink: BodySink): void {
    this.#stop()
    const { status, meaning } = errorTable.E_BODY_TOO_LARGE
    this.#exchange.runInAsyncScope(() => sink.fail(Object.assign(new Error(meaning), { status })))
  }

  #credited(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null
        resolve()
      }
    })
  }
}

function bytesOf(chunk: Chunk): Buffer {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return Buffer.from(chunk as string)
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `a chunk of a body is a string or bytes, not ${briefValue(chunk)}`,
  )
}
