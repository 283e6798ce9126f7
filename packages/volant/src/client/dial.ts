/** Makes one attempt to connect: finds the route, and gives a WebSocket of the platform. */
import { pathOf, queryOf } from './address.ts'
import { ClientError } from './error.ts'
import { add, addCookies, type SendOptions } from './send.ts'
import type { ClientRoute } from '../types/client-routes.ts'
import type {
  ConnectOptions,
  LooseSocketInput,
  PlatformSocket,
  SocketInput,
  WebSocketClass,
} from './socket-types.ts'

/** What an attempt needs. */
export interface Dialled {
  /** The address without its query, which may have a secret. */
  readonly url: string
  /** True where the messages that the client sends are JSON; otherwise they are text or bytes. */
  readonly sendsJSON: boolean
  /** True where the messages that the server sends are JSON. */
  readonly receivesJSON: boolean
  /** Throws `TypeError` where the platform cannot make such a connection. */
  open(): PlatformSocket
}

/** Rejects with `TypeError` for what the next attempt cannot mend. */
export type Dial = () => Promise<Dialled>

/** Gives the attempts of one socket. Throws `TypeError` where the platform has no WebSocket. */
export function dialOf(
  base: string,
  operation: string,
  find: () => ClientRoute | Promise<ClientRoute>,
  input: SocketInput<LooseSocketInput>,
  options: ConnectOptions,
  client: SendOptions,
): Dial {
  const Class = options.WebSocket ?? (globalThis as { WebSocket?: WebSocketClass }).WebSocket
  if (!Class) {
    throw new TypeError(
      "this platform has no WebSocket (Node.js has one from 22 on): install ws, and give its class as connect's option WebSocket",
    )
  }
  return async () => {
    const { params = {}, query = {}, headers, cookies = {} } = (await given(operation, 'input', input)) ?? {}
    const protocols = (await given(operation, 'protocols', options.protocols)) ?? []
    const fields = new Headers()
    add(fields, await given(operation, 'headers', client.headers, operation))
    const row = await find()
    if (row[0] !== 'WS') throw new TypeError(`${operation} is no WebSocket: call it, client.${operation}(…)`)
    const page = (globalThis as { location?: { href: string } }).location?.href
    const url = new URL(base + pathOf(row[1], params) + queryOf(query), page)
    url.protocol = url.protocol.replace('http', 'ws')
    const own = new Headers()
    for (const each of [headers, options.headers]) {
      add(fields, each)
      add(own, each)
    }
    addCookies(fields, cookies)
    return {
      url: url.href.split('?')[0]!,
      sendsJSON: !!row[2]?.includes('in'),
      receivesJSON: !!row[2]?.includes('out'),
      open: () => opened(Class, url.href, [...protocols], fields, [...own].length > 0, operation),
    }
  }
}

/** A function of the user may fail for a while: the server that it asks for a token may be away, too. */
async function given<T, A extends unknown[]>(
  operation: string,
  name: string,
  value: T | ((...args: A) => T | Promise<T>),
  ...args: A
): Promise<T> {
  if (typeof value !== 'function') return value
  try {
    return await (value as (...args: A) => T | Promise<T>)(...args)
  } catch (cause) {
    throw new ClientError(operation, `the function of ${name} threw: ${(cause as Error)?.message ?? cause}`, {
      cause,
    })
  }
}

/** Throws `TypeError` where the platform refuses the arguments: the next attempt would have the same. */
function opened(
  Class: WebSocketClass,
  url: string,
  protocols: string[],
  fields: Headers,
  isOwn: boolean,
  operation: string,
): PlatformSocket {
  const headers = Object.fromEntries(fields)
  const hasHeaders = Object.keys(headers).length > 0
  try {
    // Node.js, Bun, Deno and the package ws take an object.
    return new Class(url, hasHeaders ? { headers, protocols } : protocols)
  } catch (cause) {
    // Browsers take it for text, which is no subprotocol.
    const isBrowser = hasHeaders && cause instanceof DOMException
    if (isBrowser && !isOwn) return opened(Class, url, protocols, new Headers(), isOwn, operation)
    const words = isBrowser
      ? 'browsers send no headers of a page: give the value in the query, as a subprotocol, or in the first message'
      : (cause as Error).message
    throw new TypeError(`${operation} cannot be connected: ${words}`, { cause })
  }
}
