/** The addresses of clients. uWebSockets.js asks the system at every call, and only while the request has no reply. */
import type { UwsResponse } from './uws-load.ts'

/** An address as it was read. It becomes text when it is used. */
export type PeerAddress = ArrayBuffer | string

/**
 * Saves asking the system where all clients have one address, as behind a proxy. The connection of a request is not
 * known.
 */
export class PeerAddresses {
  /** The address of all connections; null if they differ. */
  common: string | null = null

  /** Is called when a connection opens. `alone` says that there is no other. */
  opened(response: UwsResponse, alone: boolean): void {
    if (!alone && this.common === null) return
    const text = addressText(response.getRemoteAddress())
    if (alone) this.common = text
    else if (this.common !== text) this.common = null
  }

  of(response: UwsResponse): PeerAddress {
    return this.common ?? response.getRemoteAddress()
  }
}

/** Gives an address as node:net writes it; '' without one. */
export function addressText(address: PeerAddress): string {
  if (typeof address === 'string') return address
  const bytes = Buffer.from(address)
  if (bytes.length !== 16) return bytes.join('.')
  if (bytes.subarray(0, 12).equals(mapped)) return `::ffff:${bytes.subarray(12).join('.')}`
  const groups = bytes.toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** The prefix of IPv4 addresses in IPv6 (RFC 4291 §2.5.5.2). */
const mapped = Buffer.from('00000000000000000000ffff', 'hex')
