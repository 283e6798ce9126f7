/** Loads uWebSockets.js, an optional peer dependency, and declares the part of its API that is used. */
import { createRequire } from 'node:module'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { VolantError } from '../errors/errors.ts'

export interface UwsRequest {
  getCaseSensitiveMethod(): string
  getUrl(): string
  /** Gives the query; undefined without a question mark. */
  getQuery(): string | undefined
  forEach(each: (name: string, value: string) => void): void
  /** Leaves the request to the next handler that matches it. */
  setYield(yields: boolean): UwsRequest
}

/** A response object. Every call throws once the reply is complete or `onAborted` was called. */
export interface UwsResponse {
  writeStatus(status: string | Uint8Array): UwsResponse
  /** Returns true if nothing waits to be sent. An empty chunk does nothing. */
  write(chunk: string | Uint8Array): boolean
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse
  endWithoutBody(reportedLength?: number, closeConnection?: boolean): UwsResponse
  /** Returns whether all was taken, and whether the reply is complete. */
  tryEnd(chunk: string | Uint8Array, total: number): [boolean, boolean]
  getWriteOffset(): number
  onWritable(handler: (offset: number) => boolean): UwsResponse
  onAborted(handler: () => void): UwsResponse
  /** Calls the handler for each chunk, whose memory is released when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, last: boolean) => void): UwsResponse
  /** Gives 4 or 16 bytes, or none on a Unix socket. A call takes half a microsecond. */
  getRemoteAddress(): ArrayBuffer
  cork(write: () => void): UwsResponse
  close(): UwsResponse
  pause(): void
  resume(): void
  /**
   * Makes a WebSocket of the connection, after the lines that `writeStatus` was given, and calls `open` of the behaviour
   * whose context this is. The response object is gone then.
   */
  upgrade(data: UwsData, key: string, protocol: string, extensions: string, context: UwsContext): void
}

export type UwsContext = object

/** What `upgrade` was given: uWebSockets.js copies the properties of the object. */
export interface UwsData {
  owner: object
}

/** A WebSocket. Every call throws once `close` of the behaviour was called. */
export interface UwsWebSocket {
  /** Returns 1 if nothing waits, 0 if something does, and 2 if the message was dropped. */
  send(message: string | Uint8Array, binary: boolean, compress: boolean): number
  getBufferedAmount(): number
  /** Sends a close frame and ends the connection. Calls `close` of the behaviour before it returns. */
  end(code: number, reason: string): void
  /** Resets the connection. Calls `close` of the behaviour before it returns. */
  close(): void
  ping(): number
  subscribe(topic: string): boolean
  unsubscribe(topic: string): boolean
  /** Sends to all subscribers but this socket, which must have subscribed to something before. */
  publish(topic: string, message: string | Uint8Array, binary: boolean, compress: boolean): boolean
  getUserData(): UwsData
}

/** What the WebSockets of a pattern do. The memory behind each ArrayBuffer is released when the handler returns. */
export interface UwsBehaviour {
  maxPayloadLength: number
  maxBackpressure: number
  /** The time in seconds; 0 for none. */
  idleTimeout: number
  sendPingsAutomatically: boolean
  closeOnBackpressureLimit: boolean
  compression: number
  /** Is called for each GET with a Sec-WebSocket-Key of 24 characters. */
  upgrade(response: UwsResponse, request: UwsRequest, context: UwsContext): void
  open(socket: UwsWebSocket): void
  message(socket: UwsWebSocket, message: ArrayBuffer, binary: boolean): void
  drain(socket: UwsWebSocket): void
  dropped(socket: UwsWebSocket, message: ArrayBuffer, binary: boolean): void
  ping(socket: UwsWebSocket): void
  pong(socket: UwsWebSocket): void
  close(socket: UwsWebSocket, code: number, reason: ArrayBuffer): void
}

export type ListenSocket = object

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp
  ws(pattern: string, behaviour: UwsBehaviour): UwsApp
  publish(topic: string, message: string | Uint8Array, binary: boolean, compress: boolean): boolean
  /** Calls the handler for each change: 1 for a connection that opens and −1 for one that closes. */
  filter(handler: (response: UwsResponse, change: number) => void): UwsApp
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): UwsApp
  listen_unix(done: (socket: ListenSocket | false) => void, path: string): UwsApp
  close(): UwsApp
}

export interface Uws {
  App(): UwsApp
  us_listen_socket_close(socket: ListenSocket): void
  us_socket_local_port(socket: ListenSocket): number
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number
  readonly DISABLED: number
  readonly SHARED_COMPRESSOR: number
  readonly SHARED_DECOMPRESSOR: number
  _cfg?(name: string): void
}

/**
 * The environment variable that uWebSockets.js reads once in a process, when it is loaded: the most bytes of a head
 * that arrives in pieces.
 */
const sizeVariable = 'UWS_HTTP_MAX_HEADERS_SIZE'
const defaultSize = 4_096

let loaded: Uws | null = null

/**
 * Loads uWebSockets.js with room for heads of `maxHeaderSize` bytes, unless it was loaded or its environment variable
 * was set before. Throws `E_ADAPTER` where it is not installed or has no binary for this Node.js, and for a
 * `maxHeaderSize` larger than the process has room for.
 */
export function loadUws(maxHeaderSize: number): Uws {
  loaded ??= load(maxHeaderSize)
  const size = Number(getEnvironmentData(sizeVariable))
  if (size < maxHeaderSize) {
    throw new VolantError(
      'E_ADAPTER',
      `uWebSockets.js takes heads of ${size} bytes in this process, which is less than limits.maxHeaderSize ` +
        `(${maxHeaderSize}): set the environment variable ${sizeVariable} to it before the process starts, ` +
        `or create the app with the largest limit first`,
    )
  }
  return loaded
}

function load(maxHeaderSize: number): Uws {
  const given = process.env[sizeVariable]
  // The environment of a worker is a copy that native code does not see. The main thread may have loaded uWebSockets.js
  // before.
  const settable = given === undefined && isMainThread
  if (settable) process.env[sizeVariable] = String(maxHeaderSize)
  const uws = requireUws()
  // Processes that this one starts must not inherit the variable.
  if (settable) delete process.env[sizeVariable]
  const size = settable ? maxHeaderSize : Number.parseInt(given ?? '', 10) || defaultSize
  if (getEnvironmentData(sizeVariable) === undefined) setEnvironmentData(sizeVariable, size)
  return uws
}

function requireUws(): Uws {
  try {
    const uws = createRequire(import.meta.url)('uWebSockets.js') as Uws
    // This leaves out the header `uWebSockets: 20`.
    uws._cfg?.('silent')
    return uws
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    throw new VolantError(
      'E_ADAPTER',
      absent
        ? 'the adapter uwebsockets needs uWebSockets.js: npm install uWebSockets.js@npm:@uwsjs/core@20.51.4'
        : `uWebSockets.js is installed but does not load on Node.js ${process.versions.node}, ${process.platform} ` +
            `${process.arch}: it is made for Node.js 20 and 22, and needs its optional platform package (not ` +
            `--omit=optional). ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}
