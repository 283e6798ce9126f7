/** The address that a server listens at, as apps and people are told it. */
import type { Address } from './exchange.ts'

/** A socket is bound to a host and a port, or to the file of a Unix socket. */
export interface Bound {
  readonly host?: string | null
  readonly port?: number | null
  readonly path?: string | null
}

/** Gives the address with its URL, for the scheme `http` if none is named. */
export function addressOf({ host, port, path }: Bound, scheme: 'http' | 'https' = 'http'): Address {
  if (typeof host !== 'string' || typeof port !== 'number') {
    return { port: null, host: null, path: path ?? '', url: `unix:${path ?? ''}` }
  }
  // Clients cannot connect to a wildcard address.
  const shown = host === '::' || host === '0.0.0.0' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return { port, host, path: null, url: `${scheme}://${shown}:${port}` }
}
