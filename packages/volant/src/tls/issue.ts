/**
 * Issues certificates (RFC 5280) with keys on the curve P-256, and lists of revoked certificates, because node:crypto
 * can only read certificates. They are for development and tests.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { bits, identifier, integer, octets, sequence, set, tagged, time, truth, utf8 } from './der.ts'

/** A certificate with its private key. */
export interface Issued {
  readonly certificate: X509Certificate
  readonly key: KeyObject
}

export interface IssueOptions {
  /** The common name. */
  readonly name: string
  /** Host names, which may have a wildcard as their first label, and addresses. An authority has none. */
  readonly names?: readonly string[]
  /** The authority that signs it; undefined makes it self-signed. */
  readonly issuer?: Issued
  /** The use: `server`, `client`, or `authority`, which signs others. */
  readonly use: 'server' | 'client' | 'authority'
  /**
   * The names for which an authority may sign certificates: suffixes of host names, and networks such as `127.0.0.0/8`.
   */
  readonly permitted?: readonly string[]
  readonly notBefore?: Date
  readonly notAfter: Date
}

const oid = {
  commonName: '2.5.4.3',
  organisation: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  nameConstraints: '2.5.29.30',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

const signature = sequence(identifier(oid.ecdsaWithSha256))
const hour = 3_600_000

/** Makes a key and a certificate for it. */
export function issue(options: IssueOptions): Issued {
  const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { issuer, notAfter, notBefore = new Date(Date.now() - hour) } = options
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const subject = nameOf(options.name)
  const content = sequence(
    tagged(0, true, integer(Buffer.from([2]))),
    integer(serialNumber()),
    signature,
    issuer === undefined ? subject : subjectOf(issuer.certificate),
    sequence(time(notBefore), time(notAfter)),
    subject,
    spki,
    tagged(3, true, sequence(...extensionsOf(options, keyId(spki), issuer))),
  )
  return { certificate: new X509Certificate(signed(content, issuer?.key ?? key)), key }
}

/** Makes an authority's list of the certificates that it revoked (RFC 5280 §5), as DER. */
export function revocations(authority: Issued, revoked: readonly X509Certificate[]): Buffer {
  const now = new Date(Date.now() - hour)
  const entries = revoked.map(({ serialNumber: serial }) =>
    sequence(integer(Buffer.from(serial, 'hex')), time(now)),
  )
  const extensions = sequence(
    extension(oid.authorityKeyId, sequence(tagged(0, false, keyIdOf(authority)))),
    extension(oid.crlNumber, integer(Buffer.from([1]))),
  )
  return signed(
    sequence(
      integer(Buffer.from([1])),
      signature,
      subjectOf(authority.certificate),
      time(now),
      time(new Date(now.getTime() + 30 * 24 * hour)),
      ...(entries.length > 0 ? [sequence(...entries)] : []),
      tagged(0, true, extensions),
    ),
    authority.key,
  )
}

function signed(content: Buffer, key: KeyObject): Buffer {
  return sequence(content, signature, bits(sign('sha256', content, { key, dsaEncoding: 'der' })))
}

/**
 * Gives a number of 127 bits, of which 126 are random. RFC 5280 §4.1.2.2 requires a positive number of at most 20 bytes.
 */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40
  return bytes
}

function nameOf(commonName: string): Buffer {
  return sequence(
    set(sequence(identifier(oid.organisation), utf8('Volant development'))),
    set(sequence(identifier(oid.commonName), utf8(commonName))),
  )
}

/** Gives the subject of a certificate that this file has issued. node:crypto gives it as text, line by line. */
function subjectOf(certificate: X509Certificate): Buffer {
  const commonName = /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? ''
  return nameOf(commonName)
}

/**
 * Gives the SHA-1 of the key's bits (RFC 5280 §4.2.1.2 (1)). They are the end of the SubjectPublicKeyInfo: 65 bytes for
 * a point of P-256.
 */
function keyId(spki: Buffer): Buffer {
  return createHash('sha1').update(spki.subarray(-65)).digest()
}

function keyIdOf({ key }: Issued): Buffer {
  return keyId(createPublicKey(key as never).export({ type: 'spki', format: 'der' }))
}

function extension(name: string, value: Buffer, critical = false): Buffer {
  return sequence(identifier(name), ...(critical ? [truth()] : []), octets(value))
}

function extensionsOf(
  { use, names = [], permitted = [] }: IssueOptions,
  id: Buffer,
  issuer: Issued | undefined,
): Buffer[] {
  const signer = issuer === undefined ? id : keyIdOf(issuer)
  const list = [
    extension(oid.subjectKeyId, octets(id)),
    extension(oid.authorityKeyId, sequence(tagged(0, false, signer))),
  ]
  if (use === 'authority') {
    // pathLenConstraint 0 means that it signs no other authorities. Bits 5 and 6 are keyCertSign and cRLSign.
    list.push(extension(oid.basicConstraints, sequence(truth(), integer(Buffer.from([0]))), true))
    list.push(extension(oid.keyUsage, bits(Buffer.from([0x06]), 1), true))
    if (permitted.length > 0) {
      // Names alone do not limit the purpose. Without this extension it could sign for mail or for programs.
      list.push(extension(oid.extendedKeyUsage, sequence(identifier(oid.serverAuth))))
      list.push(extension(oid.nameConstraints, constraints(permitted), true))
    }
    return list
  }
  const purpose = use === 'server' ? oid.serverAuth : oid.clientAuth
  list.push(extension(oid.basicConstraints, sequence(), true))
  // Bit 0 is digitalSignature.
  list.push(extension(oid.keyUsage, bits(Buffer.from([0x80]), 7), true))
  list.push(extension(oid.extendedKeyUsage, sequence(identifier(purpose))))
  if (names.length > 0) list.push(extension(oid.subjectAltName, sequence(...names.map(alternative))))
  return list
}

/** Writes a dNSName, or the bytes of an iPAddress (RFC 5280 §4.2.1.6). */
function alternative(name: string): Buffer {
  return isIP(name) === 0
    ? tagged(2, false, Buffer.from(name, 'ascii'))
    : tagged(7, false, addressBytes(name))
}

/** Writes the permitted names. The mask of an address follows it (RFC 5280 §4.2.1.10). */
function constraints(permitted: readonly string[]): Buffer {
  const subtrees = permitted.map((each) => {
    const [address = '', width] = each.split('/')
    if (width === undefined) return sequence(tagged(2, false, Buffer.from(each, 'ascii')))
    const bytes = addressBytes(address)
    const mask = bytes.map((_, at) => (0xff00 >> Math.min(8, Math.max(0, Number(width) - at * 8))) & 0xff)
    return sequence(tagged(7, false, bytes, mask))
  })
  return sequence(tagged(0, true, ...subtrees))
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  const groups = [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]))
}
