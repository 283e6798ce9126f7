/** The chunks that a middleware writes, waiting for the reply that sends them. */
import type { SourceParts } from '../reply/source.ts'
import type { Chunk } from '../types/reply-options.ts'

/** The bytes that may wait before `write` says to stop: as many as in an exchange. */
const highWater = 65_536

export class Outlet implements SourceParts {
  /** The bytes that wait. */
  waiting = 0
  isCancelled = false
  readonly #chunks: Chunk[] = []
  readonly #drained: () => void
  #isFull = false
  #isEnded = false
  #failure: { readonly error: unknown } | null = null
  #wake: (() => void) | null = null

  /** `drained` is called when all was taken, after a `write` that returned false. */
  constructor(drained: () => void) {
    this.#drained = drained
  }

  get needsDrain(): boolean {
    return this.#isFull
  }

  /** Adds a chunk. False asks to wait until it is drained. */
  write(chunk: Chunk): boolean {
    if (this.isCancelled) return false
    this.#chunks.push(chunk)
    this.waiting += chunk.length
    this.#wakeUp()
    if (this.waiting >= highWater) this.#isFull = true
    return !this.#isFull
  }

  end(): void {
    this.#isEnded = true
    this.#wakeUp()
  }

  /** Ends it without its end: the reply breaks off. */
  fail(error: unknown): void {
    this.#failure = { error }
    this.#wakeUp()
  }

  async next(): Promise<Chunk | undefined> {
    for (;;) {
      if (this.isCancelled) return undefined
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.waiting -= chunk.length
        return chunk
      }
      if (this.#failure !== null) throw this.#failure.error
      if (this.#isEnded) return undefined
      if (this.#isFull) {
        this.#isFull = false
        this.#drained()
        continue
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  cancel(): void {
    if (this.isCancelled) return
    this.isCancelled = true
    this.#chunks.length = 0
    this.waiting = 0
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = null
  }
}
