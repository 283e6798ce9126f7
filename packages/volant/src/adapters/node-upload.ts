/** The body of one request of node:http. */
import { receivedTrailers } from '../request/trailers.ts'
import type { NodeExchange } from './node-exchange.ts'
import { Upload } from './upload.ts'

export class NodeUpload extends Upload {
  declare readonly exchange: NodeExchange
  /** True once 100 Continue was sent to a client that asked for it. */
  continued = false
  #reads = false

  /** Ends the body, because the bytes that follow do not belong to it. Later reads fail with that error. */
  breakOff(): void {
    this.fail(new Error('the body is malformed'), 400)
  }

  /** Discards the rest as `Upload` does. After `drainTimeout` the server's sweep ends the connection. */
  override discard(over: () => void): void {
    const { connection } = this.exchange
    const { drainLimit, drainTimeout } = connection.server.host.limits
    this.#listen()
    super.discard(over, drainLimit)
    connection.server.drains.set(this.exchange, Date.now() + drainTimeout)
  }

  protected begin(): void {
    const { exchange } = this
    this.#listen()
    if (exchange.connection.broken && !exchange.request.complete) {
      queueMicrotask(() => this.breakOff())
      return
    }
    // It must not be sent once the reply has begun, where it would become part of its body.
    if (exchange.expects && !this.continued && !exchange.replied) exchange.response.writeContinue()
    this.continued = true
  }

  #listen(): void {
    if (this.#reads) return
    this.#reads = true
    const { request } = this.exchange
    // Without a listener a disconnect would be an uncaught error of the process.
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => this.receive(chunk, false))
    request.on('end', () => {
      this.trailers = receivedTrailers(request.rawTrailers)
      this.receive(Buffer.alloc(0), true)
    })
  }

  protected pause(): void {
    this.exchange.request.pause()
  }

  protected resume(): void {
    this.exchange.request.resume()
  }
}
