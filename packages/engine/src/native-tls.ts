/**
 * The TLS of the native adapter: turns settings into plain arguments of the addon, and the result of a handshake into
 * an object.
 */
import type { Binding, TlsAnswer } from './load.ts'
import type { TlsConfig, TlsInfo } from './tls.ts'

const clientCertificates: readonly TlsConfig['clientCertificate'][] = ['none', 'optional', 'required']

/** Makes a server use `config` for new connections. Throws `E_BAD_OPTION` if it cannot be used. */
export function setTls(engine: Binding, server: number, config: TlsConfig): void {
  const certificates = config.certificates.flatMap(({ names, chain, key }) => [
    names.length,
    ...names,
    chain.length,
    ...chain,
    key,
  ])
  const { ca, crl, ciphers, groups, ticketKeys } = config
  engine.setTls(server, certificates, ca, crl, ciphers, groups, ticketKeys, tlsNumbers(config))
}

/** Gives the numbers that `set_tls` of `crates/node/src/tls_settings.rs` reads. */
function tlsNumbers(config: TlsConfig): Float64Array {
  return Float64Array.of(
    clientCertificates.indexOf(config.clientCertificate),
    config.minVersion === 'TLSv1.3' ? 1 : 0,
    config.maxVersion === 'TLSv1.3' ? 1 : 0,
    config.sessionTimeout,
    config.http2 ? 1 : 0,
  )
}

export function tlsInfoOf(answer: TlsAnswer | null): TlsInfo | null {
  if (answer === null) return null
  const [version, cipher, alpn, serverName, resumed, peer] = answer
  return { version, cipher, alpn, serverName, resumed, peer }
}
