/** The body of one request of node:http. */
import type { NodeExchange } from './node-exchange.ts'
import { Upload } from './upload.ts'

export class NodeUpload extends Upload {
  declare readonly exchange: NodeExchange
  /** Whether the client was told to go on, if it asked. */
  continued = false
  #reads = false

  /** The client's bytes are no body from here on; who reads it later is told then. */
  breakOff(): void {
    this.fail(new Error('the body is malformed'), 400)
  }

  /** As in `Upload`; after `drainTimeout` the server's sweep ends the connection. */
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
    // Inside a reply that has begun it would be part of its body.
    if (exchange.expects && !this.continued && !exchange.replied) exchange.response.writeContinue()
    this.continued = true
  }

  #listen(): void {
    if (this.#reads) return
    this.#reads = true
    const { request } = this.exchange
    // Without a listener node:http would throw the client's departure at the process.
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => this.receive(chunk, false))
    request.on('end', () => this.receive(Buffer.alloc(0), true))
  }

  protected pause(): void {
    this.exchange.request.pause()
  }

  protected resume(): void {
    this.exchange.request.resume()
  }
}
