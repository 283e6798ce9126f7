/** The bytes of a body for a reader that asks for them: those of a buffered body, or of one that still arrives. */
import type { BodySink, Exchange } from '@volant/engine'
import { bodyError, streamWindow } from '../request/body.ts'

export interface BodySource {
  /** Gives the next bytes, null after the last ones, or a promise of either. It may reject, and then rejects again. */
  next(): Buffer | null | Promise<Buffer | null>
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
  }
}

/**
 * Reads a body as it arrives. The client may send as much ahead as it may for `ctx.bodyStream`, and more of it is let
 * in as it is asked for.
 */
export class StreamSource implements BodySource, BodySink {
  readonly #exchange: Exchange
  readonly #waiting: Buffer[] = []
  #ended = false
  #failure: Error | null = null
  #reader: { resolve(bytes: Buffer | null): void; reject(error: Error): void } | null = null
  /** What was taken and not yet let in again. Each grant is a message, so that small ones are gathered. */
  #taken = 0

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    exchange.readBody(this, streamWindow)
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
      this.#exchange.credit(this.#taken)
      this.#taken = 0
    }
    return bytes
  }

  chunk(bytes: Buffer): void {
    const reader = this.#reader
    this.#reader = null
    if (reader === null) this.#waiting.push(bytes)
    else reader.resolve(this.#take(bytes))
  }

  end(): void {
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
