/** Reads files for replies: a small part at once, a large one chunk by chunk. */
import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from './conditional.ts'
import { VolantError } from '../errors/errors.ts'

/** The bytes that are read at once. */
export const chunkSize = 65_536

const shrunk = 'the file became shorter while it was sent'

/** Fills `bytes` from the file. Throws `E_RESET` where the file ends before. */
export async function readInto(handle: FileHandle, bytes: Buffer, first: number): Promise<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, first + at)
    if (bytesRead === 0) throw new VolantError('E_RESET', shrunk)
    at += bytesRead
  }
  return bytes
}

/**
 * Gives parts of a file, and text between them, in chunks. The next chunk is read while one is sent. It closes the file
 * at the end, and when the stream is cancelled.
 */
export class FileChunks implements AsyncIterator<Uint8Array, undefined> {
  readonly #handle: FileHandle
  readonly #pieces: readonly (ByteRange | Buffer)[]
  /**
   * The chunks share two buffers: a chunk is copied or sent before the one after it is asked for, unless a hook keeps
   * it.
   */
  readonly #shared: [Buffer | null, Buffer | null] | null
  #turn: 0 | 1 = 0
  #piece = 0
  /** The bytes of the current piece that were asked for. */
  #done = 0
  #ahead: Promise<Uint8Array> | null = null

  constructor(handle: FileHandle, pieces: readonly (ByteRange | Buffer)[], shares: boolean) {
    this.#handle = handle
    this.#pieces = pieces
    this.#shared = shares ? [null, null] : null
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const current = this.#ahead ?? this.#read()
    if (current === null) return this.return()
    this.#ahead = this.#read()
    return { done: false, value: await current }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#piece = this.#pieces.length
    this.#ahead = null
    // This waits for reads that are under way.
    await this.#handle.close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Begins to read the next chunk; null at the end. */
  #read(): Promise<Uint8Array> | null {
    const piece = this.#pieces[this.#piece]
    if (piece === undefined) return null
    if (piece instanceof Uint8Array) {
      this.#piece++
      return Promise.resolve(piece)
    }
    const first = piece.first + this.#done
    const length = Math.min(chunkSize, piece.last + 1 - first)
    this.#done += length
    if (first + length > piece.last) {
      this.#piece++
      this.#done = 0
    }
    const chunk = readInto(this.#handle, this.#buffer().subarray(0, length), first)
    // Its failure is that of the call which gets it. Nobody may ask for it.
    chunk.catch(() => {})
    return chunk
  }

  #buffer(): Buffer {
    if (this.#shared === null) return Buffer.allocUnsafeSlow(chunkSize)
    this.#turn = this.#turn === 0 ? 1 : 0
    return (this.#shared[this.#turn] ??= Buffer.allocUnsafeSlow(chunkSize))
  }
}
