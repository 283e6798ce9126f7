/**
 * Reads the certificate of a service that uses HTTPS: `cert.pem` and `key.pem` of one folder, as `volant cert` writes
 * them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App, TlsOptions } from 'volant'
import { UsageError } from './command-line.ts'

/** Reads both files. Throws `UsageError`. */
export function tlsOf(folder: string): TlsOptions {
  return { cert: read(join(folder, 'cert.pem')), key: read(join(folder, 'key.pem')) }
}

/** Makes the app load its certificate anew at each SIGHUP. An invalid one is reported, and the old one stays in use. */
export function reloadOnSignal(app: App, folder: string): void {
  process.on('SIGHUP', () => {
    try {
      app.setTls(tlsOf(folder))
      console.log('The certificate was read anew')
    } catch (error) {
      console.error(`The certificate stays as it was: ${(error as Error).message}`)
    }
  })
}

function read(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UsageError(
      `no certificate for HTTPS: ${(error as Error).message}; npm run cert writes one for development to .cert`,
    )
  }
}
