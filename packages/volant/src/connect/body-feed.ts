/** Feeds the body of a request to the stream that connect middlewares read. */
import { BodyKind, type BodySink } from '@volant/engine'
import { keepTrailers } from '../request/trailers.ts'
import type { Pair } from './pair.ts'

/** The bytes that a client may send ahead of the reader, and the size of the parts of a complete body. */
const window = 65_536

interface Target {
  complete: boolean
  aborted: boolean
  push(chunk: Uint8Array | null): boolean
  destroy(error?: Error): unknown
}

export class BodyFeed implements BodySink {
  readonly #pair: Pair
  readonly #target: Target
  /** The bytes of a complete body that were not passed on yet. */
  #rest: Uint8Array | null = null
  #isBegun = false
  #isDone = false
  /** The bytes that were received since credit was given. */
  #taken = 0
  #wantsMore = false

  constructor(pair: Pair, target: Target) {
    this.#pair = pair
    this.#target = target
  }

  /** Is called when the reader wants more. */
  resume(): void {
    if (this.#isDone) return
    this.#wantsMore = true
    if (!this.#isBegun) this.#begin()
    if (this.#rest !== null) this.#part()
    else this.#grant()
  }

  /** Drops what is left. */
  stop(): void {
    this.#isDone = true
    this.#rest = null
  }

  chunk(bytes: Buffer): void {
    if (this.#isDone) return
    this.#taken += bytes.length
    this.#wantsMore = this.#target.push(bytes)
    this.#grant()
  }

  end(trailers?: string[]): void {
    keepTrailers(this.#pair.ctx, trailers)
    this.#finish()
  }

  fail(error: Error & { status?: number; code?: string }): void {
    if (this.#isDone) return
    this.#isDone = true
    const { ctx } = this.#pair
    // The request was answered, or the client has left, of which the pair tells by `aborted`.
    if (error.code === 'E_ABORTED') return void (ctx.exchange.aborted ? undefined : this.#target.destroy())
    this.#target.destroy(error)
  }

  #begin(): void {
    this.#isBegun = true
    const { ctx } = this.#pair
    const { exchange, route } = ctx
    if (exchange.bodyKind === BodyKind.none) return this.#finish()
    if (exchange.bodyKind === BodyKind.complete || route.bodyMode === 'checked') {
      try {
        this.#rest = ctx.bodyBytes
      } catch (error) {
        this.#isDone = true
        this.#target.destroy(error as Error)
      }
      return
    }
    try {
      exchange.readBody(this, window)
    } catch (error) {
      this.#isDone = true
      this.#target.destroy(error as Error)
    }
  }

  /** Passes on parts of a complete body, as many as the reader takes. */
  #part(): void {
    while (this.#rest !== null && this.#rest.length > 0 && this.#wantsMore) {
      const rest: Uint8Array = this.#rest
      this.#rest = rest.subarray(window)
      this.#wantsMore = this.#target.push(rest.subarray(0, window))
    }
    if (this.#rest !== null && this.#rest.length === 0) this.#finish()
  }

  #grant(): void {
    if (!this.#wantsMore || this.#taken === 0) return
    const bytes = this.#taken
    this.#taken = 0
    this.#pair.ctx.exchange.credit(bytes)
  }

  #finish(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#rest = null
    // body-parser reads on only while the request is not complete, so this comes first, as in node:http.
    this.#target.complete = true
    this.#target.push(null)
  }
}
