// The protocol of a server in the scenarios of TLS and HTTP/2. TRANSPORT is http, https, h2c or h2; CERT and KEY name
// files.
import { readFileSync } from 'node:fs'

const { TRANSPORT = 'http', CERT, KEY } = process.env

export const isHttp2 = TRANSPORT === 'h2c' || TRANSPORT === 'h2'
export const isSecure = TRANSPORT === 'https' || TRANSPORT === 'h2'

/** Certificate and key in PEM; null without TLS. */
export function secrets() {
  return isSecure ? { cert: readFileSync(CERT, 'utf8'), key: readFileSync(KEY, 'utf8') } : null
}
