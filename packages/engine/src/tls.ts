/** The settings of TLS in the form that adapters take: every option is resolved and checked, and every file is read. */

/** A certificate, and the names by which it is chosen. */
export interface TlsCertificate {
  /**
   * Host names in lower case, each exact or with a wildcard as its first label (`*.example.com`). The first certificate
   * is also used for clients that name no host, or one that no certificate has.
   */
  readonly names: readonly string[]
  /** The chain as DER: the certificate itself, then those of its issuers. */
  readonly chain: readonly Buffer[]
  /** The private key as PKCS#8 DER. */
  readonly key: Buffer
}

/** The settings of TLS of one server. */
export interface TlsConfig {
  /** At least one certificate. */
  readonly certificates: readonly TlsCertificate[]
  /** The authorities of clients' certificates as DER. They are used unless `clientCertificate` is `none`. */
  readonly ca: readonly Buffer[]
  /** The lists of revoked certificates as DER. */
  readonly crl: readonly Buffer[]
  /** Says whether clients are asked for a certificate. A certificate that does not verify is always refused. */
  readonly clientCertificate: 'none' | 'optional' | 'required'
  readonly minVersion: TlsVersion
  readonly maxVersion: TlsVersion
  /** Names of OpenSSL in order of preference. An empty list stands for all suites. */
  readonly ciphers: readonly string[]
  /** Names of OpenSSL in order of preference. An empty list stands for the default groups. */
  readonly groups: readonly string[]
  /** The time in seconds for which a session can be resumed; 0 turns resumption off. */
  readonly sessionTimeout: number
  /** 48 bytes that processes share so that each resumes the sessions of the others; null makes keys that rotate. */
  readonly ticketKeys: Buffer | null
  /** True offers HTTP/2 (`h2`) beside `http/1.1` in ALPN (RFC 7301). */
  readonly http2: boolean
}

/** A version of TLS: 1.2 (RFC 5246) or 1.3 (RFC 8446). */
export type TlsVersion = 'TLSv1.2' | 'TLSv1.3'

/** The result of a TLS handshake. */
export interface TlsInfo {
  readonly version: TlsVersion
  /** The OpenSSL name of the cipher suite. */
  readonly cipher: string
  /** The protocol that ALPN chose; null if the client did not use ALPN. */
  readonly alpn: string | null
  /** The host that the client named (SNI), in lower case; null if it named none. */
  readonly serverName: string | null
  /** True if an earlier session was resumed. */
  readonly resumed: boolean
  /** The client's certificate as DER; null if it sent none. */
  readonly peer: Buffer | null
}
