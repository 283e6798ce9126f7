/** The chunks that a middleware writes, waiting for the reply that sends them. */
import { VolantError } from '../errors/errors.ts'
import { coded } from './unsupported.ts'
import type { SourceParts } from '../reply/source.ts'
import type { Chunk } from '../types/reply-options.ts'

/** The bytes that may wait before `write` says to stop: as many as in an exchange. */
const highWater = 65_536

type Taken = (error?: Error | null) => void

export class Outlet implements SourceParts {
  /** The bytes that wait. */
  waiting = 0
  isCancelled = false
  readonly #chunks: Chunk[] = []
  /** What is called when the chunk at the same place was taken. */
  readonly #taken: (Taken | undefined)[] = []
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

  /** Adds a chunk. False asks to wait until it is drained; `taken` is called when the chunk is on its way. */
  write(chunk: Chunk, taken?: Taken): boolean {
    if (this.isCancelled) {
      taken?.(destroyed())
      return false
    }
    this.#chunks.push(chunk)
    this.#taken.push(taken)
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

  /** Breaks the reply off unless all of it is here: nobody reads what is written later. */
  leave(): void {
    if (!this.#isEnded && this.#failure === null) this.fail(new VolantError('E_ABORTED'))
  }

  async next(): Promise<Chunk | undefined> {
    for (;;) {
      if (this.isCancelled) return undefined
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.waiting -= chunk.length
        const taken = this.#taken.shift()
        if (taken !== undefined) process.nextTick(taken, null)
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
    for (const taken of this.#taken.splice(0)) if (taken !== undefined) process.nextTick(taken, destroyed())
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = null
  }
}

function destroyed(): Error {
  return coded(new Error('Cannot call write after a stream was destroyed'), 'ERR_STREAM_DESTROYED')
}
