/** Addresses of clients. uWebSockets.js asks the system at every call, and only while the request has no reply. */
import type { UwsResponse } from './uws-load.ts'

/** An address as it was read; written out when it is asked for. */
export type PeerAddress = ArrayBuffer | string

/** Spares asking where all clients have one address, as behind a proxy: which connection a request came by is not known. */
export class PeerAddresses {
  /** That of all connections; null if they differ. */
  common: string | null = null

  /** A connection opens. `alone`: there is no other. */
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

/** As node:net writes it; an empty string for none. */
export function addressText(address: PeerAddress): string {
  if (typeof address === 'string') return address
  const bytes = Buffer.from(address)
  if (bytes.length !== 16) return bytes.join('.')
  if (bytes.subarray(0, 12).equals(mapped)) return `::ffff:${bytes.subarray(12).join('.')}`
  const groups = bytes.toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** IPv4 in IPv6 (RFC 4291 §2.5.5.2). */
const mapped = Buffer.from('00000000000000000000ffff', 'hex')
