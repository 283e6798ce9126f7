/** Reads the body of a request without a socket. */
import { setImmediate as turn } from 'node:timers/promises'
import { BodyKind } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { SourceParts } from '../reply/source.ts'
import type { MemoryExchange } from './memory.ts'
import type { Chunk } from '../types/reply-options.ts'
import { Upload } from './upload.ts'

/** The size in bytes of a chunk of a body that is all there. */
const chunkSize = 65_536

export class MemoryUpload extends Upload {
  declare readonly exchange: MemoryExchange
  readonly #body: Buffer | SourceParts
  #over = false
  #paused = false
  #wake: () => void = () => {}

  constructor(exchange: MemoryExchange, body: Buffer | SourceParts) {
    super(exchange)
    this.#body = body
  }

  override fail(error: Error, status?: number): void {
    if (!this.#over) {
      this.#over = true
      this.#wake()
      if (!Buffer.isBuffer(this.#body)) this.#body.cancel()
    }
    super.fail(error, status)
  }

  protected begin(): void {
    const body = this.#body
    if (!Buffer.isBuffer(body)) void this.#pump(() => body.next())
    else if (this.exchange.bodyKind === BodyKind.stream) void this.#pump(chunksOf(body))
    else this.receive(body, true)
  }

  protected pause(): void {
    this.#paused = true
  }

  protected resume(): void {
    this.#paused = false
    this.#wake()
  }

  async #pump(next: () => Promise<Chunk | undefined>): Promise<void> {
    try {
      for (;;) {
        const chunk = await next()
        if (this.#over) return
        if (chunk === undefined) break
        this.receive(bytesOf(chunk), false)
        while (this.#paused && !this.#over) await new Promise<void>((resolve) => (this.#wake = resolve))
      }
      this.#over = true
      this.receive(Buffer.alloc(0), true)
    } catch (error) {
      this.fail(new VolantError('E_ABORTED'))
      this.exchange.lose(error)
    }
  }
}

/** Bytes that are all there come in later turns of the loop, as from a socket. */
function chunksOf(bytes: Buffer): () => Promise<Buffer | undefined> {
  let at = 0
  return async () => {
    await turn()
    return at >= bytes.length ? undefined : bytes.subarray(at, (at += chunkSize))
  }
}

function bytesOf(chunk: Chunk): Buffer {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return Buffer.from(chunk as string)
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `a chunk of a body is a string or bytes, not ${briefValue(chunk)}`,
  )
}
