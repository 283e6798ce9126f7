/** Counts connections by the address of their peer, for `maxConnectionsPerAddress`. */
import type { Socket } from 'node:net'
import { networkOf } from '../request/network.ts'

export class PeerCounts {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Counts a connection until it is closed. Closes it and gives false if its peer has the most connections already. */
  admits(socket: Socket): boolean {
    const { remoteAddress } = socket
    if (this.#most === 0 || remoteAddress === undefined) return true
    const peer = remoteAddress.includes(':') ? networkOf(remoteAddress) : remoteAddress
    const count = this.#counts.get(peer) ?? 0
    if (count >= this.#most) {
      socket.destroy()
      return false
    }
    this.#counts.set(peer, count + 1)
    socket.once('close', () => {
      const left = (this.#counts.get(peer) ?? 0) - 1
      if (left > 0) this.#counts.set(peer, left)
      else this.#counts.delete(peer)
    })
    return true
  }
}
