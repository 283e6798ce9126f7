/**
 * Writes the body of a reply to a stream of node:http2 in pieces, because node:http2 reports only whole writes as sent.
 */
import type { ServerHttp2Stream } from 'node:http2'

/** The length of a piece in bytes. A client that takes less than this of a stream within `sendTimeout` is cut off. */
export const pieceSize = 65_536

export class Pieces {
  readonly #stream: ServerHttp2Stream
  #queue: Buffer[] = []
  /** The bytes in the queue, and the sum of all bytes that were given. */
  #queued = 0
  #given = 0
  #ends = false

  /** `onRoom` is called when all given bytes are passed on. */
  constructor(stream: ServerHttp2Stream, onRoom: () => void) {
    this.#stream = stream
    stream.on('drain', () => {
      this.#pass()
      if (this.#queued === 0) onRoom()
    })
  }

  /** The bytes that are not sent yet. */
  get waiting(): number {
    return this.#queued + this.#stream.writableLength
  }

  get sent(): number {
    return this.#given - this.waiting
  }

  write(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#queue.push(bytes)
    this.#queued += bytes.length
    this.#given += bytes.length
    this.#pass()
  }

  end(): void {
    this.#ends = true
    this.#pass()
  }

  #pass(): void {
    const stream = this.#stream
    if (stream.destroyed || stream.writableEnded) {
      this.#queue = []
      this.#queued = 0
      return
    }
    while (this.#queued > 0 && stream.writableLength <= pieceSize) stream.write(this.#take())
    if (this.#ends && this.#queued === 0) stream.end()
  }

  #take(): Buffer {
    const first = this.#queue[0] as Buffer
    let piece = first
    if (first.length > pieceSize) {
      piece = first.subarray(0, pieceSize)
      this.#queue[0] = first.subarray(pieceSize)
    } else {
      let [count, length] = [1, first.length]
      for (let next = this.#queue[1]; next !== undefined; next = this.#queue[count]) {
        if (length + next.length > pieceSize) break
        length += next.length
        count++
      }
      const taken = this.#queue.splice(0, count)
      if (count > 1) piece = Buffer.concat(taken, length)
    }
    this.#queued -= piece.length
    return piece
  }
}
