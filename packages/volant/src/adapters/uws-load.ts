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
}

export type ListenSocket = object

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp
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
