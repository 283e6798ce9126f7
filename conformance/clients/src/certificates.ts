/**
 * The authority of a test and the certificates it signs, made by openssl in a folder that is removed when the test file
 * ends.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** The reason to skip tests that need certificates; false if they run. */
export const withoutOpenssl: string | false = spawnSync('openssl', ['version'], {
  encoding: 'utf8',
}).stdout?.startsWith('OpenSSL 3')
  ? false
  : 'OpenSSL 3 is not installed'

/** A certificate and its key as PEM. */
export interface Identity {
  readonly cert: string
  readonly key: string
  /** The hash of the key, in the form of Chromium's option `--ignore-certificate-errors-spki-list`. */
  readonly pin: string
  /** The serial number in hexadecimal digits, as `X509Certificate` gives it. */
  readonly serialNumber: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']

export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'volant-authority-'))
  /** The path of the root certificate, for clients to trust. */
  readonly file = join(this.folder, 'ca.pem')
  readonly cert: string
  #count = 0

  constructor() {
    after(() => rmSync(this.folder, { recursive: true, force: true }))
    const extensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign']
    this.#request('ca', '/CN=Volant test authority', extensions)
    this.cert = readFileSync(this.file, 'utf8')
  }

  /** Makes a certificate for servers on this machine. */
  issue(): Identity {
    const name = `host-${this.#count++}`
    const extensions = [
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature',
      'extendedKeyUsage=serverAuth',
    ]
    this.#request(name, '/CN=localhost', extensions, ['-CA', this.file, '-CAkey', this.#path('ca.key')])
    const cert = readFileSync(this.#path(`${name}.pem`), 'utf8')
    const { publicKey, serialNumber } = new X509Certificate(cert)
    const spki = publicKey.export({ type: 'spki', format: 'der' })
    return {
      cert,
      key: readFileSync(this.#path(`${name}.key`), 'utf8'),
      pin: createHash('sha256').update(spki).digest('base64'),
      serialNumber,
    }
  }

  #request(name: string, subject: string, extensions: string[], signer: string[] = []): void {
    const files = ['-keyout', this.#path(`${name}.key`), '-out', this.#path(`${name}.pem`)]
    const more = extensions.flatMap((each) => ['-addext', each])
    const args = ['req', '-x509', ...newKey, '-subj', subject, ...files, ...signer, ...more]
    execFileSync('openssl', args, { stdio: 'pipe' })
  }

  #path(name: string): string {
    return join(this.folder, name)
  }
}
