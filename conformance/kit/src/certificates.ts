/** Makes certificates for tests anew in each process, so that no key is in the repository. */
import type { KeyObject, X509Certificate } from 'node:crypto'

interface Issued {
  readonly certificate: X509Certificate
  readonly key: KeyObject
}

interface Issuing {
  issue(options: {
    name: string
    names?: readonly string[]
    issuer?: Issued
    use: 'server' | 'client' | 'authority'
    notBefore?: Date
    notAfter: Date
  }): Issued
  revocations(authority: Issued, revoked: readonly X509Certificate[]): Buffer
}

// `volant cert` issues certificates with this file. The package does not export it.
const file = new URL('../../../../packages/volant/dist/src/tls/issue.js', import.meta.url)
const day = 86_400_000

export interface TestCertificate {
  readonly cert: string
  readonly key: string
  readonly issued: Issued
}

/** An authority, and the certificates that it has issued. */
export class TestAuthority {
  readonly ca: string
  readonly #authority: Issued
  readonly #issuing: Issuing

  private constructor(issuing: Issuing, name: string) {
    this.#issuing = issuing
    this.#authority = issuing.issue({ name, use: 'authority', notAfter: new Date(Date.now() + 9 * day) })
    this.ca = this.#authority.certificate.toString()
  }

  static async make(name = 'authority of tests'): Promise<TestAuthority> {
    return new TestAuthority((await import(file.href)) as Issuing, name)
  }

  /** Issues a certificate for a server with these names and addresses, valid for this many days. */
  server(names: readonly string[], days = 9): TestCertificate {
    return this.#make(names[0] ?? 'server', names, 'server', days)
  }

  client(name: string, days = 9): TestCertificate {
    return this.#make(name, [], 'client', days)
  }

  revoke(...revoked: readonly TestCertificate[]): Buffer {
    return this.#issuing.revocations(
      this.#authority,
      revoked.map(({ issued }) => issued.certificate),
    )
  }

  #make(name: string, names: readonly string[], use: 'server' | 'client', days: number): TestCertificate {
    const notBefore = new Date(Date.now() - 20 * day)
    const notAfter = new Date(Date.now() + days * day)
    const issued = this.#issuing.issue({ name, names, use, issuer: this.#authority, notBefore, notAfter })
    const key = issued.key.export({ type: 'pkcs8', format: 'pem' }) as string
    return { cert: issued.certificate.toString(), key, issued }
  }
}
