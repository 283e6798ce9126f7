/** Reads a certificate together with its private key. */
import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import type { TlsCertificate } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { notRead, readCertificates, textOf, unreadable } from './certificates.ts'

export interface CertificateWithKey {
  readonly certificate: TlsCertificate
  /** The addresses for which the certificate is valid. */
  readonly addresses: readonly string[]
  readonly warnings: readonly string[]
}

interface CertificateWithKeyOptions {
  readonly cert: unknown
  readonly key: unknown
  readonly passphrase?: unknown
  readonly names?: unknown
}

/** Reads both. Throws `E_BAD_OPTION` if certificate and key do not match, or no client would accept the certificate. */
export function readIdentity(
  where: string,
  { cert, key, passphrase, names }: CertificateWithKeyOptions,
): CertificateWithKey {
  if (cert === undefined || key === undefined) {
    const [has, lacks] = cert === undefined ? ['key', 'cert'] : ['cert', 'key']
    throw new VolantError('E_BAD_OPTION', `${where} has ${has} without ${lacks}: both belong together`)
  }
  const chain = readCertificates(`${where}.cert`, cert)
  const [leaf] = chain as [X509Certificate, ...X509Certificate[]]
  const own = readKey(`${where}.key`, key, passphrase)
  checkStrength(`${where}.key`, own)
  if (!leaf.checkPrivateKey(own)) {
    const later = chain.findIndex((each) => each.checkPrivateKey(own))
    throw new VolantError(
      'E_BAD_OPTION',
      later > 0
        ? `${where}.cert begins with a certificate that ${where}.key is not for; it is for certificate ${later + 1}, which belongs before those of its issuers`
        : `${where}.key is not the key of ${where}.cert, which is for ${describe(leaf)}`,
    )
  }
  const { hosts, addresses } = alternativesOf(leaf)
  if (hosts.length === 0 && addresses.length === 0) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}.cert names no host in its subjectAltName, so clients refuse it (RFC 9525 §6.3), whatever its subject says: make one with the names of the server, as \`npx volant cert\` does`,
    )
  }
  return {
    certificate: {
      names: names === undefined ? hosts : checkHosts(`${where}.names`, names, leaf),
      chain: chain.map(({ raw }) => raw),
      key: own.export({ type: 'pkcs8', format: 'der' }),
    },
    addresses,
    warnings: validityOf(`${where}.cert`, leaf),
  }
}

function readKey(name: string, given: unknown, passphrase: unknown): KeyObject {
  const value = Array.isArray(given) && given.length === 1 ? (given[0] as unknown) : given
  if (Array.isArray(value)) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${name} takes one key. Further certificates with their keys stand in tls.certificates: [{ cert, key }, …]`,
    )
  }
  if (passphrase !== undefined && typeof passphrase !== 'string')
    throw bad(name.replace(/key$/, 'passphrase'), passphrase, 'a text')
  const text = textOf(name, value, 'a private key')
  if (typeof text === 'string' && !text.includes('-----BEGIN ')) {
    throw notRead(name, text, 'a private key')
  }
  if (typeof text === 'string' && !text.includes('PRIVATE KEY-----'))
    throw new VolantError(
      'E_BAD_OPTION',
      `${name} is no private key; it begins with ${text.slice(0, 30).split('\n')[0]}`,
    )
  const more = passphrase === undefined ? {} : { passphrase }
  const attempts =
    typeof text === 'string'
      ? [{ key: text, format: 'pem' as const, ...more }]
      : (['pkcs8', 'pkcs1', 'sec1'] as const).map((type) => ({
          key: text,
          format: 'der' as const,
          type,
          ...more,
        }))
  let first: unknown
  for (const attempt of attempts) {
    try {
      return createPrivateKey(attempt)
    } catch (error) {
      first ??= error
    }
  }
  const isEncrypted = typeof text === 'string' && text.includes('ENCRYPTED')
  const lacksPassphrase =
    (first as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE' ||
    (isEncrypted && passphrase === undefined)
  if (lacksPassphrase)
    throw new VolantError('E_BAD_OPTION', `${name} is encrypted: give its passphrase`, { cause: first })
  throw unreadable(
    name,
    isEncrypted ? 'the key (is the passphrase right?)' : 'the key',
    first,
    'openssl pkey',
  )
}

const curves: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
}

/** Refuses keys that rustls or OpenSSL cannot sign with, or that clients do not accept. */
function checkStrength(name: string, key: KeyObject): void {
  const type: string = key.asymmetricKeyType ?? ''
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  if (type === 'ed25519' || (type === 'ec' && Object.hasOwn(curves, namedCurve))) return
  if (type === 'rsa' && modulusLength >= 2_048) return
  const what =
    type === 'rsa' ? `RSA with ${modulusLength} bits` : type === 'ec' ? `EC on ${namedCurve}` : type
  throw bad(
    name,
    what,
    `a key of RSA with at least 2048 bits, of ${Object.values(curves).join(', ')}, or of Ed25519`,
  )
}

// A label of a host name in the form of certificates: names in other scripts are A-labels (RFC 5890).
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const hostName = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`)

function alternativesOf({ subjectAltName = '' }: X509Certificate): { hosts: string[]; addresses: string[] } {
  const entries = subjectAltName.split(', ')
  const valuesOf = (kind: string): string[] =>
    entries.filter((each) => each.startsWith(kind)).map((each) => each.slice(kind.length))
  return {
    // A wildcard is valid only as the first label (RFC 9525 §6.3).
    hosts: [...new Set(valuesOf('DNS:').map((each) => each.toLowerCase().replace(/\.$/, '')))].filter(
      (each) => hostName.test(each),
    ),
    addresses: valuesOf('IP Address:').map(shortAddress),
  }
}

/** Gives an address in the form of URLs. OpenSSL writes all groups of an IPv6 address. */
export function shortAddress(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

function checkHosts(name: string, given: unknown, leaf: X509Certificate): string[] {
  const wanted = 'a list of host names such as example.com and *.example.com'
  if (!Array.isArray(given) || given.length === 0) throw bad(name, given, wanted)
  return (given as unknown[]).map((each) => {
    const host = typeof each === 'string' ? each.toLowerCase() : ''
    if (!hostName.test(host)) throw bad(name, each, wanted)
    // For the check a name replaces the wildcard.
    if (leaf.checkHost(host.replace(/^\*/, 'any')) !== undefined) return host
    throw new VolantError(
      'E_BAD_OPTION',
      `${name}: the certificate is not for ${host}; it is for ${describe(leaf)}`,
    )
  })
}

function describe({ subjectAltName, subject }: X509Certificate): string {
  return subjectAltName ?? subject?.replaceAll('\n', ', ') ?? 'nobody'
}

function validityOf(name: string, leaf: X509Certificate): string[] {
  const now = Date.now()
  const since = new Date(leaf.validFrom)
  const until = new Date(leaf.validTo)
  if (until.getTime() <= now)
    return [
      `${name}, which is for ${describe(leaf)}, expired at ${until.toISOString()}: clients refuse it. setTls() replaces it`,
    ]
  if (since.getTime() > now)
    return [
      `${name}, which is for ${describe(leaf)}, is valid from ${since.toISOString()} on: until then clients refuse it`,
    ]
  return []
}
