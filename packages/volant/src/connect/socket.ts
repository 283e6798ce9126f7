/** Stands for the connection of a request: what middlewares look at, and nothing to write to. */
import { EventEmitter } from 'node:events'
import { define } from './shell.ts'
import { unsupported } from './unsupported.ts'
import type { RequestContext } from '../types/request.ts'

const write = 'reply through res'

/** A light socket. It emits `close` when the client has disconnected or the reply is complete. */
export class ConnectSocket extends EventEmitter {
  readonly remoteAddress: string
  readonly remoteFamily: string | undefined
  readonly encrypted: boolean
  readable = true
  writable = true
  destroyed = false
  readonly #ctx: RequestContext
  readonly #watch: () => void

  /** `watch` is called for the first listener. */
  constructor(ctx: RequestContext, watch: () => void) {
    super()
    const { remoteAddress, encrypted } = ctx.exchange
    this.remoteAddress = remoteAddress
    this.remoteFamily = remoteAddress === '' ? undefined : remoteAddress.includes(':') ? 'IPv6' : 'IPv4'
    this.encrypted = encrypted === true
    this.destroyed = ctx.exchange.aborted
    this.readable = !this.destroyed
    this.writable = !this.destroyed
    this.#ctx = ctx
    this.#watch = watch
  }

  override on(name: string | symbol, listener: (...values: unknown[]) => void): this {
    this.#watch()
    return super.on(name, listener)
  }

  override addListener(name: string | symbol, listener: (...values: unknown[]) => void): this {
    return this.on(name, listener)
  }

  /** Resets the connection. */
  destroy(): this {
    this.#ctx.exchange.destroy()
    return this
  }

  /** Is called when the connection is gone, or done with this request. */
  release(isGone: boolean): void {
    this.readable = false
    this.writable = false
    this.destroyed = isGone
    this.emit('close', false)
  }

  address(): { address?: string; family?: string; port?: number } {
    return {}
  }

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  cork(): void {}
  uncork(): void {}
  pause(): this {
    return this
  }
  resume(): this {
    return this
  }
}

define(ConnectSocket.prototype, {
  write: unsupported('socket.write()', write),
  end: unsupported('socket.end()', write),
  pipe: unsupported('socket.pipe()', 'read req and write to res'),
})
