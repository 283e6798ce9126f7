/**
 * Resolves the options of TLS: reads certificates and keys, and refuses what would only fail at the first handshake.
 */
import type { TlsConfig, TlsVersion } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkInteger, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { type CertificateText, readCertificates, readRevocations } from './certificates.ts'
import { type CertificateWithKey, readIdentity } from './identity.ts'
import { readCiphers, readGroups } from './suites.ts'

/** A certificate, and the names by which clients ask for it. */
export interface TlsCertificateOptions {
  /**
   * The host names for which clients get this certificate; `*.example.com` stands for one label of any name. Default:
   * the names of the certificate (its subjectAltName).
   */
  names?: readonly string[] | undefined
  /** The certificate, followed by those of its issuers up to the root: PEM, or DER in a list. */
  cert: CertificateText | readonly CertificateText[]
  /** The private key: PEM, or DER as PKCS#8, PKCS#1 or SEC 1. */
  key: CertificateText
  /** The passphrase of an encrypted key. */
  passphrase?: string | undefined
}

/** The options of TLS. Names and meanings are those of node:tls, if it has them. */
export interface TlsOptions {
  /** The certificate, followed by those of its issuers up to the root: PEM, or DER in a list. A path is not read. */
  cert?: CertificateText | readonly CertificateText[] | undefined
  /** The private key of `cert`: PEM, or DER as PKCS#8, PKCS#1 or SEC 1. */
  key?: CertificateText | undefined
  /** The passphrase of an encrypted key. */
  passphrase?: string | undefined
  /**
   * Certificates for further names. A client gets the certificate for the host that it asks for (SNI), else the first
   * one: `cert`, or the first of these if there is no `cert`.
   */
  certificates?: readonly TlsCertificateOptions[] | undefined
  /** True asks clients for a certificate, which one of `ca` must have issued. Default false. */
  requestCert?: boolean | undefined
  /**
   * False accepts clients without a certificate, too, if `requestCert` asks for one. A certificate that does not verify
   * is always refused. Default true.
   */
  rejectUnauthorized?: boolean | undefined
  /** The authorities that issue the certificates of clients. */
  ca?: CertificateText | readonly CertificateText[] | undefined
  /** Their lists of revoked certificates. If there is one list, each authority needs its own. */
  crl?: CertificateText | readonly CertificateText[] | undefined
  /** The oldest version that clients may use. Default `TLSv1.2`. */
  minVersion?: TlsVersion | undefined
  /** The newest version that clients may use. Default `TLSv1.3`. */
  maxVersion?: TlsVersion | undefined
  /**
   * The cipher suites in order of preference, by their names in OpenSSL or at IANA. The server's order decides.
   * Default: all nine suites, AES-256 first.
   */
  ciphers?: string | readonly string[] | undefined
  /**
   * The groups of the key exchange in order of preference: `X25519MLKEM768:X25519:prime256v1:secp384r1`. Default: all supported
   * groups.
   */
  ecdhCurve?: string | readonly string[] | undefined
  /**
   * The time in seconds for which a client may resume its session; 0 turns resumption off. Default 43,200, at most
   * 604,800 (RFC 8446 §4.6.1). A longer time than the default needs `ticketKeys`.
   */
  sessionTimeout?: number | undefined
  /**
   * 48 secret bytes that several processes share, so that each resumes the sessions of the others. Default: keys of
   * this process, which rotate.
   */
  ticketKeys?: Uint8Array | undefined
}

/** The result of `resolveTls`. */
export interface ResolvedTls {
  readonly config: TlsConfig
  /** The addresses for which the certificates are valid, beside the names. */
  readonly addresses: ReadonlySet<string>
  /** Sentences about certificates that clients refuse today. */
  readonly warnings: readonly string[]
}

const identityNames = ['names', 'cert', 'key', 'passphrase'] as const
const names = [
  'cert',
  'key',
  'passphrase',
  'certificates',
  'requestCert',
  'rejectUnauthorized',
  'ca',
  'crl',
  'minVersion',
  'maxVersion',
  'ciphers',
  'ecdhCurve',
  'sessionTimeout',
  'ticketKeys',
] as const
/** Seconds for which the keys of one process decrypt tickets. */
const halfDay = 43_200
const week = 604_800

/** Checks the options. Throws `E_BAD_OPTION`, which names the option, for a value that cannot be used. */
export function resolveTls(options: TlsOptions, http2: boolean): ResolvedTls {
  checkNames('tls', options, names, foreignNames.tls)
  const identities = identitiesOf(options)
  const clientCertificate = clientPolicy(options)
  const minVersion = checkVersion('tls.minVersion', options.minVersion ?? 'TLSv1.2')
  const maxVersion = checkVersion('tls.maxVersion', options.maxVersion ?? 'TLSv1.3')
  if (minVersion > maxVersion) throw bad('tls.minVersion', minVersion, 'at most tls.maxVersion')
  return {
    config: {
      certificates: identities.map(({ certificate }) => certificate),
      ca: clientCertificate === 'none' ? [] : rawOf(readCertificates('tls.ca', options.ca)),
      crl: options.crl === undefined ? [] : readRevocations('tls.crl', options.crl),
      clientCertificate,
      minVersion,
      maxVersion,
      ciphers: readCiphers(options.ciphers, minVersion, maxVersion),
      groups: readGroups(options.ecdhCurve),
      ...resumptionOf(options),
      http2,
    },
    addresses: new Set(identities.flatMap(({ addresses }) => addresses)),
    warnings: identities.flatMap(({ warnings }) => warnings),
  }
}

function identitiesOf({ cert, key, passphrase, certificates = [] }: TlsOptions): CertificateWithKey[] {
  if (!Array.isArray(certificates)) throw bad('tls.certificates', certificates, 'a list of { cert, key }')
  const list = (certificates as TlsCertificateOptions[]).map((each, at) => {
    const where = `tls.certificates[${at}]`
    checkNames(where, each, identityNames, foreignNames.tlsCertificate)
    return readIdentity(where, each)
  })
  if (cert === undefined && key === undefined) {
    if (list.length > 0) return list
    throw new VolantError(
      'E_BAD_OPTION',
      'tls needs a certificate: tls: { cert: readFileSync(…), key: readFileSync(…) }. `npx volant cert` makes one for development',
    )
  }
  return [readIdentity('tls', { cert, key, passphrase }), ...list]
}

function checkVersion(name: string, value: unknown): TlsVersion {
  if (value === 'TLSv1.2' || value === 'TLSv1.3') return value
  throw bad(name, value, 'TLSv1.2 or TLSv1.3 (1.0 and 1.1 are not spoken: RFC 8996)')
}

function clientPolicy({
  requestCert,
  rejectUnauthorized,
  ca,
  crl,
}: TlsOptions): TlsConfig['clientCertificate'] {
  const isOptional = !checkFlag('tls.rejectUnauthorized', rejectUnauthorized, true)
  if (checkFlag('tls.requestCert', requestCert, false)) {
    if (ca !== undefined) return isOptional ? 'optional' : 'required'
    throw new VolantError(
      'E_BAD_OPTION',
      "tls.requestCert needs tls.ca: the authority that issues the clients' certificates. Public authorities are no default",
    )
  }
  const without = Object.entries({ ca, crl, rejectUnauthorized }).find(
    ([, value]) => value !== undefined,
  )?.[0]
  if (without === undefined) return 'none'
  const issuers = ". Those of the issuers of this server's certificate stand behind it in tls.cert"
  throw new VolantError(
    'E_BAD_OPTION',
    `tls.${without} is about the certificates of clients, which only requestCert: true asks for${without === 'rejectUnauthorized' ? '' : issuers}`,
  )
}

function resumptionOf(options: TlsOptions): Pick<TlsConfig, 'sessionTimeout' | 'ticketKeys'> {
  const { sessionTimeout: asked = halfDay } = options
  const sessionTimeout = checkInteger('tls.sessionTimeout', asked, [0, week], `seconds, 0 to ${week}`)
  const ticketKeys = ticketKeysOf(options.ticketKeys)
  if (sessionTimeout > halfDay && ticketKeys === null)
    throw new VolantError(
      'E_BAD_OPTION',
      `tls.sessionTimeout above ${halfDay} needs tls.ticketKeys: without them each process has keys of its own, which last for ${halfDay} s at most`,
    )
  return { sessionTimeout, ticketKeys }
}

function ticketKeysOf(value: unknown): Buffer | null {
  if (value === undefined) return null
  if (value instanceof Uint8Array && value.length === 48) return Buffer.from(value)
  const length = value instanceof Uint8Array ? `${value.length} bytes` : value
  throw bad('tls.ticketKeys', length, '48 random bytes that all processes share: randomBytes(48)')
}

function rawOf(list: readonly { readonly raw: Buffer }[]): Buffer[] {
  return list.map(({ raw }) => raw)
}
