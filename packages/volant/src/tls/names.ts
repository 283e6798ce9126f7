/** Finds the certificate for a host, and detects requests on a connection with another certificate. */
import type { Exchange, TlsCertificate, TlsConfig } from '@volant/engine'

/** The certificates of a server by name. */
export class CertificateNames {
  readonly #first: TlsCertificate
  readonly #byName = new Map<string, TlsCertificate>()

  constructor({ certificates }: TlsConfig) {
    this.#first = certificates[0] as TlsCertificate
    for (const certificate of certificates)
      for (const name of certificate.names) if (!this.#byName.has(name)) this.#byName.set(name, certificate)
  }

  /** Gives the certificate for `host`, which must be in lower case; null if there is none. */
  find(host: string): TlsCertificate | null {
    const exact = this.#byName.get(host)
    if (exact !== undefined) return exact
    const dot = host.indexOf('.')
    return (dot < 1 ? undefined : this.#byName.get(`*${host.slice(dot)}`)) ?? null
  }

  /** Gives the certificate for a client that asks for `host`, or for no host. */
  served(host: string | null): TlsCertificate {
    return (host === null ? null : this.find(host)) ?? this.#first
  }

  /**
   * Returns true when the host of a request has another certificate than that of its connection. A client of HTTP/2
   * sends requests for several hosts on one connection. After a 421 it opens another one (RFC 9110 §15.5.20).
   */
  misdirects(exchange: Exchange): boolean {
    const info = exchange.tls?.()
    // A closed connection has no handshake to compare with.
    if (info === null || info === undefined) return false
    const host = hostIn(exchange.authority)
    return host !== info.serverName && this.served(host) !== this.served(info.serverName)
  }
}

/** Gives the host of an authority in lower case, without its port and the dot of the root. */
export function hostIn(authority: string): string {
  return authority.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
