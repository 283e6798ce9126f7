/** The body of one request of uWebSockets.js: gathered whole, handed on as it arrives, or discarded. */
import type { BodySink } from '@volant/engine'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import type { UwsExchange } from './uws-exchange.ts'
import type { UwsResponse } from './uws-load.ts'

export class UwsUpload {
  readonly exchange: UwsExchange
  /** Bytes that arrived. */
  received = 0
  /** When the first byte was awaited, in ms; 0 while nobody reads. */
  since = 0
  /** The whole body, once gathered. */
  whole: Buffer | null = null
  /** All of it arrived. */
  ended = false
  readonly #response: UwsResponse
  /** Bytes counted in the server's `buffered`. */
  #held = 0
  #mode: 'waiting' | 'collect' | 'stream' | 'discard' = 'waiting'
  #limit = 0
  /** What arrived and is not handed on: all that is collected, or what has no credit. */
  #chunks: Buffer[] = []
  #done: () => void = ignore
  #sink: BodySink | null = null
  #window = 0
  #paused = false
  #left = 0

  constructor(exchange: UwsExchange, response: UwsResponse) {
    this.exchange = exchange
    this.#response = response
    // At once: what arrives without a listener is lost.
    response.onData((chunk, last) => {
      exchange.server.receives(exchange)
      exchange.server.guard(() => this.#receive(chunk, last))
    })
  }

  /** Gathers the body for a route that wants the whole of it; then calls `done`. */
  collect(limit: number, done: () => void): void {
    this.#mode = 'collect'
    this.#limit = limit
    this.#done = done
    this.#start()
  }

  /** Hands the body on; see `Exchange.readBody`. */
  stream(sink: BodySink, window: number): void {
    if (this.#sink !== null || this.#mode === 'stream') throw new VolantError('E_BODY_USED')
    const { exchange } = this
    this.#sink = sink
    this.#window = window
    if (exchange.aborted || exchange.over || exchange.given) {
      queueMicrotask(() => this.fail(new VolantError('E_ABORTED')))
      return
    }
    this.#mode = 'stream'
    this.#limit = exchange.server.host.routes[exchange.id]?.maxBodySize ?? 0
    if (!this.ended) this.#start()
    // Not before the sink's owner has it.
    queueMicrotask(() => this.#deliver())
  }

  credit(bytes: number): void {
    this.#window += bytes
    this.#deliver()
  }

  /** The body cannot be read to its end. */
  fail(error: Error, status?: number): void {
    const sink = this.#sink
    this.#sink = null
    this.#chunks = []
    const { exchange } = this
    exchange.server.uploads.delete(exchange)
    if (sink === null) return
    exchange.runInAsyncScope(sink.fail, sink, status === undefined ? error : Object.assign(error, { status }))
  }

  /** Nobody reads any more: what still comes is thrown away. `over` is called at its end or past `drainLimit` bytes. */
  discard(over: () => void): void {
    this.#mode = 'discard'
    this.fail(new VolantError('E_ABORTED'))
    this.#done = over
    this.#left = this.exchange.server.host.limits.drainLimit
    this.#resume()
  }

  /** The reply is about to be complete: uWebSockets.js reads the rest by itself, if it may. */
  letGo(): void {
    this.#mode = 'discard'
    this.fail(new VolantError('E_ABORTED'))
    this.#done = ignore
    this.#left = Infinity
    this.#resume()
  }

  /** Gives back what the body counted for. */
  release(): void {
    const { server } = this.exchange
    server.buffered -= this.#held
    this.#held = 0
    server.uploads.delete(this.exchange)
  }

  #start(): void {
    this.since = Date.now()
    this.exchange.server.uploads.add(this.exchange)
  }

  #receive(chunk: ArrayBuffer, last: boolean): void {
    const { exchange } = this
    if (exchange.over) return
    this.received += chunk.byteLength
    if (last) {
      this.ended = true
      exchange.server.uploads.delete(exchange)
    }
    switch (this.#mode) {
      case 'discard':
        this.#left -= chunk.byteLength
        if (last || this.#left < 0) this.#done()
        return
      case 'collect':
        this.#gather(chunk, last)
        return
      default:
        if (chunk.byteLength > 0) this.#chunks.push(copyOf(chunk))
        if (this.#mode === 'stream' && this.received > this.#limit) {
          this.fail(new VolantError('E_BODY_TOO_LARGE'), 413)
        } else this.#deliver()
    }
  }

  #gather(chunk: ArrayBuffer, last: boolean): void {
    const { exchange } = this
    const { server } = exchange
    if (exchange.replied) return
    let refusal: ErrorCode | null = null
    if (this.received > this.#limit) refusal = 'E_BODY_TOO_LARGE'
    else if (server.buffered + chunk.byteLength > server.host.limits.maxBufferedBodies)
      refusal = 'E_OVERLOADED'
    if (refusal !== null) return exchange.refuse(refusal)
    server.buffered += chunk.byteLength
    this.#held += chunk.byteLength
    if (chunk.byteLength > 0) this.#chunks.push(copyOf(chunk))
    if (!last) return
    const chunks = this.#chunks
    this.#chunks = []
    this.whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.received)
    this.#done()
  }

  #deliver(): void {
    const { exchange } = this
    for (let next = this.#chunks[0]; next !== undefined; next = this.#chunks[0]) {
      const sink = this.#sink
      if (sink === null || this.#window <= 0) {
        this.#pause()
        return
      }
      const fits = Math.min(next.length, this.#window)
      this.#window -= fits
      if (fits === next.length) this.#chunks.shift()
      else this.#chunks[0] = next.subarray(fits)
      exchange.runInAsyncScope(sink.chunk, sink, next.subarray(0, fits))
    }
    const sink = this.#sink
    if (sink === null) return
    if (this.ended) {
      this.#sink = null
      exchange.runInAsyncScope(sink.end, sink)
    } else if (this.#window > 0) this.#resume()
  }

  /** What is in the receive buffer still comes; the rest waits in the kernel. */
  #pause(): void {
    if (this.#paused || this.ended || this.exchange.over) return
    this.#paused = true
    this.#response.pause()
  }

  #resume(): void {
    if (!this.#paused || this.exchange.over) return
    this.#paused = false
    this.#response.resume()
  }
}

function copyOf(chunk: ArrayBuffer): Buffer {
  return Buffer.from(new Uint8Array(chunk))
}

function ignore(): void {}
