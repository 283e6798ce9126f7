/** The body of one request of uWebSockets.js. */
import type { UwsReply } from './uws-reply.ts'
import type { UwsResponse } from './uws-load.ts'
import { Upload } from './upload.ts'

export class UwsUpload extends Upload {
  declare readonly exchange: UwsReply
  readonly #response: UwsResponse
  #paused = false

  constructor(exchange: UwsReply, response: UwsResponse) {
    super(exchange)
    this.#response = response
    // The listener is set at once, since bytes that arrive without one are lost.
    response.onData((chunk, last) => {
      exchange.server.receives(exchange)
      exchange.server.guard(() => {
        // uWebSockets.js reuses the memory after this call.
        if (!exchange.over) this.receive(Buffer.from(new Uint8Array(chunk)), last)
      })
    })
  }

  /** Lets go of the body before the reply is complete. uWebSockets.js reads the rest by itself, if it may. */
  letGo(): void {
    this.discard(() => {}, Infinity)
  }

  protected begin(): void {}

  /** Pauses. Bytes in the receive buffer still arrive; the rest waits in the kernel. */
  protected pause(): void {
    if (this.#paused || this.ended || this.exchange.over) return
    this.#paused = true
    this.#response.pause()
  }

  protected resume(): void {
    if (!this.#paused || this.exchange.over) return
    this.#paused = false
    this.#response.resume()
  }
}
