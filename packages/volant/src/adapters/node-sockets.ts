/** The WebSockets of a server on node:http: how they are opened, their topics, and the sweep that looks at all of them. */
import { AsyncResource } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { SocketEvents, SocketRoute } from '@volant/engine'
import { serverCloses } from '../reply/abort.ts'
import { NodeSocket } from './node-socket.ts'
import { notAscii } from './socket-exchange.ts'
import { loadWs, type Ws, type WsRequest, type WsServer, type WsSocket } from './ws-load.ts'

/** What a request says about the WebSocket that it asks for. */
export interface Asked {
  readonly key: string
  readonly extensions: string | undefined
}

export class NodeSockets {
  readonly open = new Set<NodeSocket>()
  readonly #ws: Ws = loadWs()
  readonly #servers = new Map<SocketRoute, WsServer>()
  readonly #topics = new Map<string, Set<NodeSocket>>()
  #closed = false
  #onEmpty: (() => void) | null = null

  /**
   * Sends 101 with `fields`, and makes a WebSocket of the connection. `head` was received behind the request. It runs in the
   * async context of the request. Gives null where the client has left.
   */
  accept(
    route: SocketRoute,
    asked: Asked,
    { socket, head, fields }: { socket: Socket; head: Buffer; fields: readonly string[] },
    events: SocketEvents,
  ): NodeSocket | null {
    const server = this.#serverOf(route)
    const lines: string[] = []
    let protocol: string | undefined
    for (let at = 0; at < fields.length; at += 2) {
      const name = fields[at] as string
      if (name.toLowerCase() === 'sec-websocket-protocol') protocol = fields[at + 1]
      else lines.push(`${name}: ${fields[at + 1]}`)
    }
    const { key, extensions } = asked
    const opened =
      open(server, socket, head, requestOf(key, extensions, protocol, lines)) ??
      // An offer that is malformed is declined (RFC 7692 §5.1).
      (extensions === undefined
        ? null
        : open(server, socket, head, requestOf(key, undefined, protocol, lines)))
    if (opened === null) return null
    const scope = new AsyncResource('VolantSocket', { requireManualDestroy: true })
    const made = new NodeSocket(this, { ws: opened, socket, scope, events, route })
    this.open.add(made)
    if (this.#closed) setImmediate(() => made.close(1001, serverCloses))
    return made
  }

  subscribe(topic: string, socket: NodeSocket): void {
    const subscribers = this.#topics.get(topic)
    if (subscribers === undefined) this.#topics.set(topic, new Set([socket]))
    else subscribers.add(socket)
  }

  unsubscribe(topic: string, socket: NodeSocket): void {
    const subscribers = this.#topics.get(topic)
    if (subscribers?.delete(socket) && subscribers.size === 0) this.#topics.delete(topic)
  }

  /** Sends a message to the subscribers of a topic but one. It is encoded once. */
  publish(topic: string, data: string | Uint8Array, but: NodeSocket | null = null): void {
    const subscribers = this.#topics.get(topic)
    if (subscribers === undefined) return
    const bytes = Buffer.from(data as string)
    const binary = typeof data !== 'string'
    for (const socket of subscribers) if (socket !== but) socket.sendAs(bytes, binary)
  }

  gone(socket: NodeSocket): void {
    this.open.delete(socket)
  }

  /** Is called when the app has heard of the end of one. */
  told(): void {
    if (this.open.size === 0) this.#onEmpty?.()
  }

  /** Calls `then` when none is open, and the app has heard of the end of each: their connections end some ticks before. */
  whenEmpty(then: () => void): void {
    if (this.open.size === 0) then()
    else this.#onEmpty = then
  }

  sweep(now: number): void {
    for (const socket of this.open) socket.sweep(now)
  }

  /** Closes all with 1001, also those that are opened from now on. */
  close(): void {
    this.#closed = true
    for (const socket of this.open) socket.close(1001, serverCloses)
  }

  #serverOf(route: SocketRoute): WsServer {
    let server = this.#servers.get(route)
    if (server === undefined) this.#servers.set(route, (server = serverOf(this.#ws, route)))
    return server
  }
}

function serverOf({ WebSocket, WebSocketServer }: Ws, route: SocketRoute): WsServer {
  const { compressFrom, maxFragments, maxMessageSize, closeTimeout } = route
  /** It tells what the library closes with by itself: then it gives a code alone. */
  class TellingSocket extends WebSocket {
    override fault = 0

    override close(code?: number, reason?: string | Buffer): void {
      if (code !== undefined && reason === undefined) {
        // The library closes with 1008 past the limit of fragments, which is one of size.
        this.fault = code === 1008 ? 1009 : code
        return super.close(this.fault, '')
      }
      super.close(code, reason)
    }
  }
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: true,
    // The library would reset a client for 60 pings in a row. Here it waits until it has read the pongs.
    maxPendingAutoPongs: 0,
    skipUTF8Validation: false,
    maxPayload: maxMessageSize,
    maxFragments,
    closeTimeout,
    perMessageDeflate:
      compressFrom < 0
        ? false
        : { serverNoContextTakeover: true, clientNoContextTakeover: true, threshold: compressFrom },
    WebSocket: TellingSocket,
  })
  server.on('headers', (lines, { fields }) => void lines.push(...fields))
  // Without a listener the library would answer an offer that is malformed with 400.
  server.on('wsClientError', () => {})
  return server
}

function requestOf(
  key: string,
  extensions: string | undefined,
  protocol: string | undefined,
  fields: readonly string[],
): WsRequest {
  return {
    method: 'GET',
    headers: {
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-extensions': extensions,
      'sec-websocket-protocol': protocol,
    },
    fields,
  }
}

function open(server: WsServer, socket: Socket, head: Buffer, request: WsRequest): WsSocket | null {
  let opened: WsSocket | null = null
  const isPlain = !request.fields.some((line) => notAscii.test(line))
  if (!isPlain) {
    // The library writes the head as UTF-8, but headers are Latin-1.
    socket.write = (text: unknown): boolean => {
      Reflect.deleteProperty(socket, 'write')
      return socket.write(text as string, 'latin1')
    }
  }
  server.handleUpgrade(request, socket, head, (made) => {
    opened = made
  })
  if (!isPlain) Reflect.deleteProperty(socket, 'write')
  return opened
}
