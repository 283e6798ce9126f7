/** Compresses a streamed body as it is read. */
import type { Transform } from 'node:stream'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { SourceParts } from '../reply/source.ts'
import type { Chunk } from '../types/reply-options.ts'

/** The bytes that are compressed in one go. */
const batchSize = 65_536

/**
 * Reads a source through a compressor. What the source gives without a pause is compressed together; when it pauses, all
 * that it gave has been passed on. With `isEvents` each chunk is passed on by itself. `free` is called once, when the
 * compressor is not needed any more.
 *
 * Nothing is read ahead: while the client does not take what is there, the source waits, and so does the compressor.
 */
export class CompressedParts implements SourceParts {
  readonly #source: SourceParts
  readonly #make: () => Transform
  readonly #isEvents: boolean
  /** The length of what the source gives; −1 while it is not known. */
  readonly #length: number
  #given = 0
  readonly #free: () => void
  #compressor: Transform | null = null
  #out: Buffer[] = []
  /** The chunk that was asked for while the source paused. */
  #pending: Promise<Chunk | undefined> | null = null
  #ended = false
  #over = false
  /** Ends the wait for the compressor. */
  #settle: (error?: Error | null) => void = () => {}

  constructor(
    source: SourceParts,
    length: number,
    make: () => Transform,
    isEvents: boolean,
    free: () => void,
  ) {
    this.#source = source
    this.#length = length
    this.#make = make
    this.#isEvents = isEvents
    this.#free = free
  }

  async next(): Promise<Chunk | undefined> {
    for (;;) {
      if (this.#out.length > 0) return this.#take()
      if (this.#over) return undefined
      if (this.#ended) return this.#end()
      const batch = await this.#gather()
      if (this.#over) return undefined
      // oxlint-disable-next-line no-await-in-loop -- a chunk is read when the one before is compressed
      await this.#compress(batch)
    }
  }

  cancel(): void {
    if (this.#over && this.#ended) return
    this.#end()
    this.#source.cancel()
  }

  /** Gives the chunks that the source has without a pause. */
  async #gather(): Promise<Buffer> {
    const chunks: Buffer[] = []
    let length = 0
    let pause: Promise<typeof paused> | null = null
    while (length < batchSize && !this.#ended) {
      this.#pending ??= this.#read()
      let chunk: Chunk | undefined | typeof paused
      if (length === 0) chunk = await this.#pending
      else if (this.#isEvents) break
      else {
        pause ??= new Promise((resolve) => setImmediate(resolve, paused))
        chunk = await Promise.race([this.#pending, pause])
      }
      if (chunk === paused || this.#over) break
      this.#pending = null
      if (chunk === undefined) this.#ended = true
      else {
        const bytes = bytesOf(chunk)
        length += bytes.length
        this.#given += bytes.length
        chunks.push(bytes)
      }
      this.#checkLength()
    }
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)
  }

  /** A reply without compression would be cut off: it would not be as long as it says. */
  #checkLength(): void {
    if (this.#length < 0 || (this.#ended ? this.#given === this.#length : this.#given <= this.#length)) return
    const most = this.#ended ? `ended after ${this.#given}` : `gave ${this.#given}`
    throw new VolantError(
      'E_RESET',
      `the length of a compressed stream was declared as ${this.#length} bytes, and its source ${most}, so the reply was cut off`,
    )
  }

  #read(): Promise<Chunk | undefined> {
    const chunk = this.#source.next()
    // An error is thrown where the chunk is awaited, which may be later.
    chunk.catch(() => {})
    return chunk
  }

  async #compress(batch: Buffer): Promise<void> {
    const compressor = (this.#compressor ??= this.#open())
    await new Promise<void>((resolve, reject) => {
      this.#settle = (error) => (error ? reject(error) : resolve())
      if (this.#ended) compressor.end(batch)
      else compressor.write(batch, this.#settle)
    })
  }

  #open(): Transform {
    const compressor = this.#make()
    compressor.on('data', (bytes: Buffer) => this.#out.push(bytes))
    compressor.on('error', (error) => this.#settle(error))
    compressor.on('end', () => this.#settle())
    return compressor
  }

  #take(): Buffer {
    const out = this.#out
    this.#out = []
    return out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out)
  }

  #end(): undefined {
    if (this.#over) return
    this.#over = true
    this.#ended = true
    this.#out = []
    this.#compressor?.destroy()
    this.#compressor = null
    this.#settle()
    this.#free()
  }
}

const paused = Symbol('paused')

function bytesOf(chunk: Chunk): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `a chunk of a compressed stream is a string or bytes, not ${briefValue(chunk)}`,
  )
}
