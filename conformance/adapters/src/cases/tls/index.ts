/** TLS. */
import type { Kit } from '../../kit.ts'
import { serverCertificates } from './certificates.ts'
import { clientCertificates } from './client-certificates.ts'
import { tlsHandshakes } from './handshakes.ts'

export function tlsCases(kit: Kit): void {
  serverCertificates(kit)
  clientCertificates(kit)
  tlsHandshakes(kit)
}
