/** Loads the library ws, an optional peer dependency, and declares the part of its API that is used. */
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import { VolantError } from '../errors/errors.ts'

export interface WsSocket {
  readonly readyState: number
  readonly bufferedAmount: number
  /** The code that it was closed with because of a fault of the client; 0 without one. The adapter adds it. */
  readonly fault: number
  send(data: Uint8Array | string, options: { binary: boolean }, sent?: () => void): void
  close(code?: number, reason?: string | Buffer): void
  readonly isPaused: boolean
  ping(): void
  /** Stops and starts receiving. */
  pause(): void
  resume(): void
  on(event: 'ping', listener: () => void): this
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this
  on(event: 'close', listener: (code: number, reason: Buffer) => void): this
  on(event: 'error', listener: (error: Error) => void): this
}

/** The part of a request that `handleUpgrade` reads. */
export interface WsRequest {
  readonly method: 'GET'
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The fields of the reply, which the event `headers` adds. */
  readonly fields: readonly string[]
}

export interface WsServer {
  handleUpgrade(request: WsRequest, socket: Duplex, head: Buffer, done: (socket: WsSocket) => void): void
  on(event: 'headers', listener: (lines: string[], request: WsRequest) => void): this
  on(event: 'wsClientError', listener: (error: Error, socket: Duplex, request: WsRequest) => void): this
}

export interface Ws {
  readonly WebSocket: new (...given: never[]) => WsSocket
  readonly WebSocketServer: new (options: Readonly<Record<string, unknown>>) => WsServer
}

/**
 * Loads it. Throws `E_ADAPTER` where it is not installed, where it is older than 8.21, which has no limit on fragments,
 * and on other runtimes than Node.js, which have something else by its name.
 */
export function loadWs(): Ws {
  const runtime = 'bun' in process.versions ? 'Bun' : 'deno' in process.versions ? 'Deno' : null
  if (runtime !== null) {
    throw new VolantError(
      'E_ADAPTER',
      `this app has WebSockets, which the adapter node-http does not open on ${runtime}: run it on Node.js`,
    )
  }
  const require = createRequire(import.meta.url)
  let ws: Ws
  let version: string
  try {
    ws = require('ws') as Ws
    ;({ version } = require('ws/package.json') as { version: string })
  } catch (error) {
    throw new VolantError(
      'E_ADAPTER',
      'this app has WebSockets, for which the adapter node-http needs the library ws: npm install ws',
      { cause: error },
    )
  }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === 8 && minor >= 21) return ws
  throw new VolantError(
    'E_ADAPTER',
    `the adapter node-http opens WebSockets with ws 8.21 or a later 8, and ${version} is installed: npm install ws@8`,
  )
}
