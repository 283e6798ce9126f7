/** Finds the certificate for a host, and tells which requests came by a connection that has another one. */
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

  /** Gives the certificate that is for `host`, in lower case; null where none is. */
  find(host: string): TlsCertificate | null {
    const exact = this.#byName.get(host)
    if (exact !== undefined) return exact
    const dot = host.indexOf('.')
    return (dot < 1 ? undefined : this.#byName.get(`*${host.slice(dot)}`)) ?? null
  }

  /** Gives the certificate that a client gets, which asks for `host` or for none. */
  served(host: string | null): TlsCertificate {
    return (host === null ? null : this.find(host)) ?? this.#first
  }

  /**
   * True for a request whose host has another certificate than the one that its connection was given. A client of HTTP/2
   * sends requests for several hosts by one connection; 421 has it open another (RFC 9110 §15.5.20).
   */
  misdirects(exchange: Exchange): boolean {
    const info = exchange.tls?.()
    // A connection that is closed already is told nothing.
    if (info === null || info === undefined) return false
    const host = hostIn(exchange.authority)
    return host !== info.serverName && this.served(host) !== this.served(info.serverName)
  }
}

/** Gives the host of an authority in lower case, without its port and the dot of the root. */
export function hostIn(authority: string): string {
  return authority.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
