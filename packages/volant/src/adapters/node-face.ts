/** The server of node:http as libraries see it that attach themselves to one, such as Socket.IO. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Address } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { nodeHttp } from '../errors/node-http.ts'

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Gets the requests of an app before the app does, and the upgrades that no route of `app.ws` has. It has the listener of
 * the app for `request`, which libraries call for what is not theirs. It emits `close` when the app begins to close.
 */
export class NodeFace extends nodeHttp.Server {
  #serve: OnRequest = () => {}
  #address: Address | null = null
  /** True where the app got the request that is being offered. */
  #passed = false

  constructor() {
    super()
    this.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#passed = true
      this.#serve(request, response)
    })
  }

  /** Has requests that nobody takes go to `serve`. */
  passTo(serve: OnRequest): void {
    this.#serve = serve
  }

  /** Offers a request. Gives true where the app did not get it. */
  takes(request: IncomingMessage, response: ServerResponse): boolean {
    this.#passed = false
    this.emit('request', request, response)
    return !this.#passed
  }

  /** True where somebody waits for upgrades. */
  get wantsUpgrades(): boolean {
    return this.listenerCount('upgrade') > 0
  }

  /** Tells that the app listens. */
  begin(address: Address): void {
    this.#address = address
    this.emit('listening')
  }

  override address(): { address: string; family: string; port: number } | string | null {
    const { host, port, path } = this.#address ?? {}
    if (port === undefined || port === null) return path ?? null
    const address = host ?? ''
    return { address, port, family: address.includes(':') ? 'IPv6' : 'IPv4' }
  }

  /** Calls `done` alone: the app is closed by `app.close()`. */
  override close(done?: (error?: Error) => void): this {
    if (done !== undefined) process.nextTick(done)
    return this
  }

  override listen(): never {
    throw new VolantError('E_UNSUPPORTED', 'app.nodeServer does not listen by itself: call app.listen()')
  }
}
