/** Certificates for hosts, and what becomes of options of TLS. */
import assert from 'node:assert/strict'
import { type Issued, issue } from '../../src/tls/issue.ts'
import { resolveTls, type TlsOptions } from '../../src/tls/options.ts'

/** Beyond the time at which anybody runs these tests. */
export const far = new Date('2060-01-01T00:00:00Z')

export const authority = issue({ name: 'authority', use: 'authority', notAfter: far })

export const made = (names: readonly string[], more: { notBefore?: Date; notAfter?: Date } = {}): Issued =>
  issue({ name: names[0] ?? 'none', names, use: 'server', issuer: authority, notAfter: far, ...more })

export const one = made(['one.example', '*.one.example', '127.0.0.1', '::1'])

export const pemOf = ({ certificate }: Issued): string => certificate.toString()

export const keyOf = ({ key }: Issued): string => key.export({ type: 'pkcs8', format: 'pem' }) as string

export const pair = (issued: Issued) => ({ cert: pemOf(issued), key: keyOf(issued) })

export const configOf = (options: TlsOptions) => resolveTls(options, true).config

export const refuses = (options: unknown, message: RegExp) =>
  assert.throws(
    () => resolveTls(options as TlsOptions, true),
    (error: Error & { code?: string }) => {
      assert.equal(error.code, 'E_BAD_OPTION')
      assert.match(error.message, message)
      return true
    },
  )
