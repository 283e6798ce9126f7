/** Reads certificates and lists of revoked ones, in PEM (RFC 7468) or DER. */
import { X509Certificate } from 'node:crypto'
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'

/** A certificate: PEM as text or bytes, or DER as bytes. */
export type CertificateText = string | Uint8Array

/** Gives the certificates of a text with one or several, or of a list of such texts. Throws `E_BAD_OPTION`. */
export function readCertificates(name: string, value: unknown): X509Certificate[] {
  const list = (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((each) =>
    blocksOf(name, each, certificateBlock, 'a certificate'),
  )
  if (list.length === 0) throw bad(name, value, 'at least one certificate')
  return list.map((bytes, at) => {
    try {
      return new X509Certificate(bytes)
    } catch (error) {
      throw unreadable(name, `certificate ${at + 1}`, error, 'openssl x509')
    }
  })
}

/** Gives the lists of revoked certificates as DER. Throws `E_BAD_OPTION`. */
export function readRevocations(name: string, value: unknown): Buffer[] {
  return (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((each) =>
    blocksOf(name, each, revocationBlock, 'a list of revoked certificates'),
  )
}

const certificateBlock = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----([^-]*)-----END/g
const revocationBlock = /-----BEGIN X509 CRL-----([^-]*)-----END/g

function blocksOf(name: string, value: unknown, block: RegExp, what: string): Buffer[] {
  const text = textOf(name, value, what)
  // DER begins with a SEQUENCE, and PEM with text.
  if (typeof text !== 'string') return [text]
  const found = [...text.matchAll(block)].map(([, base64 = '']) => Buffer.from(base64, 'base64'))
  if (found.length > 0) return found
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new VolantError('E_BAD_OPTION', `${name} is a private key: give it as key, and ${what} here`)
  throw notRead(name, text, what)
}

/** Makes the error for a text without the wanted PEM. A text that is not PEM at all is most likely a path. */
export function notRead(name: string, text: string, what: string): VolantError {
  if (text.trim() === '') return new VolantError('E_BAD_OPTION', `${name} is empty: it takes ${what}`)
  if (text.includes('-----BEGIN '))
    return new VolantError(
      'E_BAD_OPTION',
      `${name} is PEM without the whole of ${what}: is the file cut off, or another one?`,
    )
  const given = text.length <= 60 ? text : `${text.slice(0, 20)}…`
  return new VolantError(
    'E_BAD_OPTION',
    `${name} takes ${what} in PEM or DER, not ${briefValue(given)}. A path is not read: give readFileSync(path)`,
  )
}

/** Gives PEM as a text, and DER as bytes. */
export function textOf(name: string, value: unknown, what: string): string | Buffer {
  if (typeof value === 'string') return value
  if (!(value instanceof Uint8Array)) throw bad(name, value, `${what} in PEM or DER: a text or bytes`)
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return bytes[0] === 0x30 && !bytes.includes('-----BEGIN ') ? bytes : bytes.toString('latin1')
}

/** Makes the error for contents that cannot be parsed. `command` shows whether the file can be read at all. */
export function unreadable(name: string, what: string, error: unknown, command: string): VolantError {
  const reason = error instanceof Error ? error.message : String(error)
  return new VolantError(
    'E_BAD_OPTION',
    `${name}: ${what} cannot be read: ${reason}. It must be what its authority or its maker gave: ${command} -in FILE -noout -text shows it`,
    { cause: error },
  )
}
