/** Makes a certificate for 127.0.0.1 and localhost for one run, with the program openssl. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  /** Paths of files in PEM. */
  readonly cert: string
  readonly key: string
  remove(): void
}

/** Makes a certificate with an ECDSA key on P-256. Throws an `Error` that says which program is missing. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'volant-certificate-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=localhost', '-addext', names]
  const files = ['-keyout', key, '-out', cert]
  const made = spawnSync('openssl', ['req', '-x509', ...kind, ...subject, ...files], { encoding: 'utf8' })
  if (made.status !== 0) {
    remove()
    throw new Error(`no certificate could be made: ${made.error?.message ?? made.stderr.trim()}`)
  }
  return { cert, key, remove }
}
