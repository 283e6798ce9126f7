/** The replies that an adapter sends without the app, to requests that are refused before a handler is chosen. */
import { type ErrorCode, errorTable } from '../errors/errors.ts'
import { phrases } from '../errors/phrases.ts'

/**
 * The headers of a 426 in HTTP/1.1 name the protocol to use in its place, for this connection (RFC 9110 §15.5.22,
 * §7.8).
 */
const upgradeFields = ['Upgrade', 'HTTP/1.1', 'Connection', 'upgrade'] as const

/** Gives them for a 426 with these headers: one that says which version of WebSocket there is asks for that protocol. */
export function upgradeFieldsOf(headers: readonly string[]): readonly string[] {
  const isSocket = headers.some((text, at) => at % 2 === 0 && text.toLowerCase() === 'sec-websocket-version')
  return isSocket ? ['Upgrade', 'websocket', 'Connection', 'upgrade'] : upgradeFields
}

/** Gives the problem+json body for a code of the table. */
export function refusalText(code: ErrorCode, detail?: string): string {
  const { status } = errorTable[code]
  return JSON.stringify({ type: 'about:blank', title: phrases[status] ?? 'Error', status, code, detail })
}

/** Gives the bytes of a complete reply that closes its connection, for requests that never became an exchange. */
export function refusalBytes(code: ErrorCode, detail?: string): string {
  const { status } = errorTable[code]
  const body = refusalText(code, detail)
  return (
    `HTTP/1.1 ${status} ${phrases[status] ?? 'Error'}\r\n` +
    `Content-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Date: ${new Date().toUTCString()}\r\nConnection: close\r\n\r\n${body}`
  )
}
