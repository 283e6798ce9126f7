/** Replies an adapter gives without the app: requests that are refused before a handler is chosen. */
import { type ErrorCode, errorTable } from '../errors/errors.ts'
import { phrases } from '../errors/phrases.ts'

/** A 426 in HTTP/1.1 names the protocol to use in its place, for this connection (RFC 9110 §15.5.22, §7.8). */
export const upgradeFields = ['Upgrade', 'HTTP/1.1', 'Connection', 'upgrade'] as const

/** The problem+json body for a code of the table. */
export function refusalText(code: ErrorCode): string {
  const { status } = errorTable[code]
  return JSON.stringify({ type: 'about:blank', title: phrases[status] ?? 'Error', status, code })
}

/** The bytes of a whole reply that closes its connection, for requests that never became an exchange. */
export function refusalBytes(code: ErrorCode): string {
  const { status } = errorTable[code]
  const body = refusalText(code)
  return (
    `HTTP/1.1 ${status} ${phrases[status] ?? 'Error'}\r\n` +
    `Content-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Date: ${new Date().toUTCString()}\r\nConnection: close\r\n\r\n${body}`
  )
}
