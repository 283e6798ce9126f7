/** The body of one request of node:http: gathered whole, handed on as it arrives, or discarded. */
import type { BodySink } from '@volant/engine'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import type { NodeExchange } from './node-exchange.ts'

export class NodeUpload {
  readonly exchange: NodeExchange
  /** Bytes that arrived. */
  received = 0
  /** When the first byte was awaited, in ms; 0 while nobody reads. */
  since = 0
  /** The whole body, once gathered. */
  whole: Buffer | null = null
  /** Whether the client was told to go on, if it asked. */
  continued = false
  /** Bytes counted in the server's `buffered`. */
  #held = 0
  #sink: BodySink | null = null
  #window = 0
  #leftover: Buffer | null = null
  #ended = false

  constructor(exchange: NodeExchange) {
    this.exchange = exchange
  }

  /** Gathers the body for a route that wants the whole of it; `done` is called with it. */
  collect(limit: number, done: (whole: Buffer) => void): void {
    const { exchange } = this
    const { server } = exchange.connection
    const chunks: Buffer[] = []
    this.#start()
    exchange.request.on('data', (chunk: Buffer) => {
      if (exchange.replied) return
      this.received += chunk.length
      let refusal: ErrorCode | null = null
      if (this.received > limit) refusal = 'E_BODY_TOO_LARGE'
      else if (server.buffered + chunk.length > server.host.limits.maxBufferedBodies) refusal = 'E_OVERLOADED'
      if (refusal !== null) return exchange.refuse(refusal)
      server.buffered += chunk.length
      this.#held += chunk.length
      chunks.push(chunk)
    })
    exchange.request.on('end', () => {
      server.uploads.delete(exchange)
      if (exchange.replied || exchange.aborted) return
      this.whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.received)
      done(this.whole)
    })
  }

  /** Hands the body on; see `Exchange.readBody`. */
  stream(sink: BodySink, window: number): void {
    if (this.#sink !== null) throw new VolantError('E_BODY_USED')
    this.#sink = sink
    this.#window = window
    const { exchange } = this
    if (exchange.aborted || exchange.given) {
      queueMicrotask(() => this.fail(new VolantError('E_ABORTED')))
      return
    }
    if (exchange.connection.broken && !exchange.request.complete) {
      queueMicrotask(() => this.breakOff())
      return
    }
    this.#start()
    exchange.request.on('data', (chunk: Buffer) => this.#receive(chunk))
    exchange.request.on('end', () => {
      exchange.connection.server.uploads.delete(exchange)
      this.#ended = true
      if (this.#leftover === null) this.#end()
    })
  }

  credit(bytes: number): void {
    this.#window += bytes
    const leftover = this.#leftover
    if (leftover !== null) {
      this.#leftover = null
      this.#deliver(leftover)
    }
    if (this.#leftover !== null || this.#window <= 0) return
    if (this.#ended) this.#end()
    else this.exchange.request.resume()
  }

  /** The client's bytes are no body from here on; who reads it later is told then. */
  breakOff(): void {
    this.fail(new Error('the body is malformed'), 400)
  }

  /** The body cannot be read to its end. */
  fail(error: Error, status?: number): void {
    const sink = this.#sink
    this.#sink = null
    this.#leftover = null
    const { exchange } = this
    exchange.connection.server.uploads.delete(exchange)
    if (sink === null) return
    exchange.runInAsyncScope(sink.fail, sink, status === undefined ? error : Object.assign(error, { status }))
  }

  /**
   * Nobody reads any more: what still comes is thrown away. `over` is called past `drainLimit` bytes; after
   * `drainTimeout` the server's sweep ends the connection.
   */
  discard(over: () => void): void {
    this.fail(new VolantError('E_ABORTED'))
    const { request, connection } = this.exchange
    const { drainLimit, drainTimeout } = connection.server.host.limits
    let left = drainLimit
    request.on('error', ignore)
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) over()
    })
    request.resume()
    connection.server.drains.set(this.exchange, Date.now() + drainTimeout)
  }

  /** Gives back what the body counted for. */
  release(): void {
    const { server } = this.exchange.connection
    server.buffered -= this.#held
    this.#held = 0
    server.uploads.delete(this.exchange)
  }

  #start(): void {
    const { exchange } = this
    // Without a listener node:http would throw the client's departure at the process.
    exchange.request.on('error', ignore)
    this.since = Date.now()
    exchange.connection.server.uploads.add(exchange)
    // Inside a reply that has begun it would be part of its body.
    if (exchange.expects && !this.continued && !exchange.replied) exchange.response.writeContinue()
    this.continued = true
  }

  #receive(chunk: Buffer): void {
    if (this.#sink === null) return
    this.received += chunk.length
    const { host } = this.exchange.connection.server
    if (this.received > (host.routes[this.exchange.id]?.maxBodySize ?? 0)) {
      return this.fail(new VolantError('E_BODY_TOO_LARGE'), 413)
    }
    this.#deliver(chunk)
  }

  #deliver(chunk: Buffer): void {
    const fits = Math.min(chunk.length, this.#window)
    this.#window -= fits
    if (fits < chunk.length) this.#leftover = chunk.subarray(fits)
    // Before the sink runs: it may grant credit and so resume.
    if (this.#window <= 0) this.exchange.request.pause()
    const sink = this.#sink
    if (fits > 0 && sink !== null) this.exchange.runInAsyncScope(sink.chunk, sink, chunk.subarray(0, fits))
  }

  #end(): void {
    const sink = this.#sink
    this.#sink = null
    if (sink !== null) this.exchange.runInAsyncScope(sink.end, sink)
  }
}

function ignore(): void {}
