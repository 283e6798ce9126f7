/** Keeps the messages that wait for a connection, within bounds. */
import { type Frame, sizeOf } from './frame.ts'

export class SendQueue<T> {
  /** How many bytes wait. */
  bytes = 0
  #waiting: [message: T, frame: Frame][] = []
  readonly #mostMessages: number
  readonly #mostBytes: number

  constructor(mostMessages: number, mostBytes: number) {
    this.#mostMessages = mostMessages
    this.#mostBytes = mostBytes
  }

  /** Gives false for a message that does not fit any more. */
  add(message: T, frame: Frame): boolean {
    const bytes = this.bytes + sizeOf(frame)
    if (bytes > this.#mostBytes || this.#waiting.length >= this.#mostMessages) return false
    this.bytes = bytes
    this.#waiting.push([message, frame])
    return true
  }

  /** Empties the queue: what it gives belongs to the caller, so that nothing is sent twice. */
  take(): [message: T, frame: Frame][] {
    this.bytes = 0
    return this.#waiting.splice(0)
  }
}
