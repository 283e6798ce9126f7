/** The body of one request as a socket delivers it: collected, streamed or discarded. */
import { BodyKind, type BodySink, type Host } from '@volant/engine'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import type { SocketExchange } from './socket-exchange.ts'

/** A body that arrives at this rate (bytes a second) may take longer than `requestTimeout`, up to the cap (ms). */
const uploadRate = 1_024
export const uploadCap = 300_000

export abstract class Upload {
  received = 0
  /** The time in ms since when the body is read; 0 before. */
  since = 0
  /** The complete body, once it was collected. */
  whole: Buffer | null = null
  ended = false
  /** The trailer fields, once the body has ended: name, value, name, value, …. */
  trailers: string[] | undefined = undefined
  readonly exchange: SocketExchange
  /** The bytes that are counted in the server's `buffered`. */
  #held = 0
  #mode: 'waiting' | 'collect' | 'stream' | 'discard' = 'waiting'
  #limit = 0
  /** The chunks that are not handed on: all of a body that is collected, else those without credit. */
  #chunks: Buffer[] = []
  #done: () => void = () => {}
  #sink: BodySink | null = null
  #window = 0
  #left = 0

  constructor(exchange: SocketExchange) {
    this.exchange = exchange
  }

  protected abstract begin(): void
  protected abstract pause(): void
  protected abstract resume(): void

  /** Collects the body for a route that needs it complete; then calls `done`. */
  collect(limit: number, done: () => void): void {
    this.#mode = 'collect'
    this.#limit = limit
    this.#done = done
    this.#start()
  }

  /** Streams the body; see `Exchange.readBody`. */
  stream(sink: BodySink, window: number): void {
    if (this.#sink !== null || this.#mode === 'stream') throw new VolantError('E_BODY_USED')
    const { exchange } = this
    this.#sink = sink
    this.#window = window
    if (exchange.gone) {
      queueMicrotask(() => this.fail(new VolantError('E_ABORTED')))
      return
    }
    this.#mode = 'stream'
    this.#limit = exchange.host.routes[exchange.id]?.maxBodySize ?? 0
    if (!this.ended) this.#start()
    // The sink's owner has to receive it first.
    queueMicrotask(() => this.#deliver())
  }

  credit(bytes: number): void {
    this.#window += bytes
    this.#deliver()
  }

  /** Fails the body, because it cannot be read to its end. */
  fail(error: Error, status?: number): void {
    const sink = this.#sink
    this.#sink = null
    this.#chunks = []
    const { exchange } = this
    exchange.server.uploads.delete(exchange)
    if (sink === null) return
    exchange.runInAsyncScope(sink.fail, sink, status === undefined ? error : Object.assign(error, { status }))
  }

  /** Discards the rest of the body. `over` is called at the body's end, and when more than `most` bytes arrived. */
  discard(over: () => void, most: number): void {
    this.#mode = 'discard'
    this.fail(new VolantError('E_ABORTED'))
    this.#done = over
    this.#left = most
    this.resume()
  }

  /** Subtracts the body from the server's counters. */
  release(): void {
    const { server } = this.exchange
    server.buffered -= this.#held
    this.#held = 0
    server.uploads.delete(this.exchange)
  }

  /** True when the body may still take its time at `now`, in ms. */
  isInTime(now: number, requestTimeout: number): boolean {
    const elapsed = this.since === 0 ? 0 : now - this.since
    if (requestTimeout === 0 || elapsed <= requestTimeout) return true
    return elapsed <= uploadCap && this.received >= (elapsed / 1_000) * uploadRate
  }

  /** Takes a chunk that arrived; with `last` the body is complete. The upload owns the bytes. */
  protected receive(chunk: Buffer, last: boolean): void {
    const { exchange } = this
    this.received += chunk.length
    if (last) {
      this.ended = true
      exchange.server.uploads.delete(exchange)
    }
    switch (this.#mode) {
      case 'discard':
        this.#left -= chunk.length
        if (last || this.#left < 0) this.#done()
        return
      case 'collect':
        this.#gather(chunk, last)
        return
      default:
        if (chunk.length > 0) this.#chunks.push(chunk)
        if (this.#mode === 'stream' && this.received > this.#limit) {
          this.fail(new VolantError('E_BODY_TOO_LARGE'), 413)
        } else this.#deliver()
    }
  }

  #start(): void {
    this.since = Date.now()
    this.exchange.server.uploads.add(this.exchange)
    this.begin()
  }

  #gather(chunk: Buffer, last: boolean): void {
    const { exchange } = this
    const { server } = exchange
    if (exchange.replied || exchange.aborted) return
    let refusal: ErrorCode | null = null
    if (this.received > this.#limit) refusal = 'E_BODY_TOO_LARGE'
    else if (server.buffered + chunk.length > exchange.host.limits.maxBufferedBodies) refusal = 'E_OVERLOADED'
    if (refusal !== null) return exchange.refuse(refusal)
    server.buffered += chunk.length
    this.#held += chunk.length
    if (chunk.length > 0) this.#chunks.push(chunk)
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
        this.pause()
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
      exchange.runInAsyncScope(sink.end, sink, this.trailers)
    } else if (this.#window > 0) this.resume()
    else this.pause()
  }
}

/** The interval in ms at which time limits are checked. It is shorter where a limit is below four times that. */
export const sweepInterval = 1_000
const shortestSweep = 10

/** Runs `sweep` often enough for these time limits, of which 0 is none. It does not keep the process alive. */
export function sweepEvery(limits: readonly number[], sweep: () => void): NodeJS.Timeout {
  const shortest = Math.min(...limits.filter((limit) => limit > 0))
  return setInterval(sweep, Math.max(shortestSweep, Math.min(shortest / 4, sweepInterval))).unref()
}

/** Gives the time limits of requests, each value once. */
export function requestTimes({ limits, routes }: Host): number[] {
  return [...new Set([limits.requestTimeout, ...routes.map(({ requestTimeout }) => requestTimeout)])]
}

/** Ends the exchanges whose bodies took longer than their routes allow. */
export function sweepUploads(uploads: Iterable<SocketExchange>, now: number): void {
  for (const exchange of uploads) {
    const { routes, limits } = exchange.host
    const { requestTimeout } = routes[exchange.id] ?? limits
    if (exchange.upload?.isInTime(now, requestTimeout) !== false) continue
    if (exchange.replied) exchange.destroy()
    else if (exchange.bodyKind === BodyKind.stream) exchange.timeOutUpload()
    else exchange.refuse('E_REQUEST_TIMEOUT')
  }
}
