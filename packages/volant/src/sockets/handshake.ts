/**
 * The handshake of a WebSocket as the client sends it (RFC 6455 §4.2.1, RFC 8441 §5), and the choice of the
 * subprotocol.
 */
import { BodyKind, type Exchange } from '@volant/engine'
import { refusal } from '../errors/errors.ts'
import { token } from '../request/parameters.ts'

/** Matches 16 bytes in base64, without bits that are lost. */
const key = /^[A-Za-z0-9+/]{21}[AQgw]==$/
const tokens = new RegExp(`^[ \\t]*${token}[ \\t]*(?:,[ \\t]*${token}[ \\t]*)*$`)

/**
 * Throws 426 for a version other than 13, and 400 for a bad key, a body, or malformed subprotocols. HTTP/2 has no key
 * (RFC 8441 §5.1), and there a client that names no version means 13.
 */
export function checkHandshake(exchange: Exchange): void {
  const keyed = exchange.httpVersion !== '2'
  const version = exchange.header('sec-websocket-version')
  if (version !== '13' && (keyed || version !== undefined)) {
    throw refusal('E_WEBSOCKET_VERSION', 'Sec-WebSocket-Version is 13 here', versions)
  }
  if (keyed && !key.test(exchange.header('sec-websocket-key') ?? '')) throw refusal('E_WEBSOCKET_KEY')
  if (exchange.bodyKind !== BodyKind.none) {
    throw refusal('E_WEBSOCKET_HANDSHAKE', 'the request for a WebSocket has a body')
  }
  const offered = exchange.header('sec-websocket-protocol')
  if (offered !== undefined && !tokens.test(offered)) {
    throw refusal('E_WEBSOCKET_HANDSHAKE', 'Sec-WebSocket-Protocol is not a list of names')
  }
}

/** The field of a 426 that has the adapter name `websocket` in Upgrade (RFC 6455 §4.4). */
export const versions = { 'sec-websocket-version': '13' } as const

/** Gives the first of the client's subprotocols that is listed; empty without one. */
export function chooseProtocol(exchange: Exchange, listed: readonly string[]): string {
  if (listed.length === 0) return ''
  const offered = exchange.header('sec-websocket-protocol')?.split(',') ?? []
  return offered.map((name) => name.trim()).find((name) => listed.includes(name)) ?? ''
}
