/** A WebSocket of `app.ws` with the interface that libraries know from `ws`. */
import { EventEmitter } from 'node:events'
import { VolantError } from '../errors/errors.ts'
import type { ServerWebSocket } from '../types/web-socket.ts'

const unsent = 'The WebSocket was closed before the message was sent'

type Sent = (error?: Error) => void
type Data = string | number | ArrayBufferLike | ArrayBufferView | Blob
interface SendOptions {
  readonly binary?: boolean | undefined
  readonly fin?: boolean | undefined
}

/**
 * Emits `message` (a Buffer, and whether it is binary), `close` (the code, and the reason as a Buffer) and `pong`. `error`
 * is never emitted: an error in a listener goes the way of errors in hooks of `app.ws`.
 */
export class BridgedSocket extends EventEmitter {
  readonly CONNECTING = 0
  readonly OPEN = 1
  readonly CLOSING = 2
  readonly CLOSED = 3
  readonly extensions = ''
  readonly isPaused = false
  readonly url = ''
  binaryType = 'nodebuffer'
  readonly #socket: ServerWebSocket<unknown, string | Uint8Array>
  /** The callbacks of what waits to be sent. */
  #waiting: Sent[] = []

  constructor(socket: ServerWebSocket<unknown, string | Uint8Array>) {
    super()
    this.#socket = socket
  }

  get readyState(): 1 | 2 | 3 {
    return this.#socket.readyState
  }

  get protocol(): string {
    return this.#socket.protocol
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  /**
   * Sends a message: text for a string, else binary, unless `options.binary` says otherwise. `done` is called once it is
   * passed on: after `drain` where too much waits, so that who awaits it does not run ahead of the client.
   */
  send(data: Data, options?: SendOptions | Sent, done?: Sent): void {
    const sent = typeof options === 'function' ? options : done
    const { binary = typeof data !== 'string' && typeof data !== 'number', fin = true } =
      typeof options === 'object' ? options : {}
    if (!fin) {
      throw new VolantError(
        'E_UNSUPPORTED',
        'a WebSocket of app.ws sends whole messages: leave out fin: false, and join the parts first',
      )
    }
    const bytes = typeof data === 'string' || typeof data === 'number' ? String(data) : bytesOf(data)
    const message = binary
      ? Buffer.from(bytes)
      : typeof bytes === 'string'
        ? bytes
        : Buffer.from(bytes).toString()
    const open = this.readyState === this.OPEN
    const isThrough = this.#socket.send(message)
    if (sent === undefined) return
    if (!open) process.nextTick(sent, new Error(`WebSocket is not open: readyState ${this.readyState}`))
    else if (isThrough) process.nextTick(sent)
    else if (this.readyState === this.OPEN) this.#waiting.push(sent)
    // There was no room for it, which closes the WebSocket with 1013.
    else process.nextTick(sent, new Error(unsent))
  }

  close(code?: number, reason?: string | Buffer): void {
    this.#socket.close(code, reason === undefined ? undefined : String(reason))
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /**
   * Sends nothing, and emits `pong`: the server itself pings at half of `idleTimeout`, and resets a connection whose client
   * does not answer.
   */
  ping(_data?: unknown, mask?: unknown, done?: Sent): void {
    const sent = [_data, mask, done].find((value): value is Sent => typeof value === 'function')
    setImmediate(() => {
      sent?.()
      if (this.readyState === this.OPEN) this.emit('pong', Buffer.alloc(0))
    })
  }

  received(message: string | Buffer): void {
    const binary = typeof message !== 'string'
    this.emit('message', binary ? message : Buffer.from(message), binary)
  }

  drained(): void {
    this.#settle()
  }

  closed(code: number, reason: string): void {
    try {
      this.#settle(new Error(unsent))
    } finally {
      this.emit('close', code, Buffer.from(reason))
    }
  }

  /** Calls all callbacks that wait, then throws what the first of those threw that did. */
  #settle(error?: Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    const thrown: unknown[] = []
    for (const sent of waiting) {
      try {
        sent(error)
      } catch (failure) {
        thrown.push(failure)
      }
    }
    if (thrown.length > 0) throw thrown[0]
  }
}

function bytesOf(data: Exclude<Data, string | number>): Uint8Array {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (data instanceof Blob) {
    throw new VolantError('E_UNSUPPORTED', 'a WebSocket of app.ws sends no Blob: send its arrayBuffer()')
  }
  return new Uint8Array(data)
}
