/** Reads internals of node:tls: the TCP socket below a TLSSocket, and how much that has queued. */
import type { Socket } from 'node:net'

/** What node:net and node:tls keep to themselves; other runtimes may have none of it. */
interface Inside {
  readonly _parent?: Socket | null
  readonly _handle?: {
    getpeername?(address: object): number
    readonly bytesWritten?: number
    readonly writeQueueSize?: number
  } | null
  readonly _writableState?: { readonly writelen?: number }
}

/** Gives the socket below one of TLS; null for another. */
export function rawOf(socket: Socket): Socket | null {
  return (socket as Inside)._parent ?? null
}

/** True for a connection that has no peer any more, unlike one whose peer has ended its sending side. */
export function isCut(raw: Socket | null): boolean {
  const { _handle: handle } = (raw ?? {}) as Inside
  // `remoteAddress` is no help: node:net asks the kernel for it once and keeps the answer.
  return handle?.getpeername !== undefined && handle.getpeername({}) !== 0
}

/** Gives how many bytes the kernel has taken: node:net itself tells no part of a write before all of it is sent. */
export function bytesSent(socket: Socket): number {
  const { bytesWritten, writeQueueSize } = ((rawOf(socket) ?? socket) as Inside)._handle ?? {}
  if (bytesWritten !== undefined && writeQueueSize !== undefined) return bytesWritten - writeQueueSize
  return socket.bytesWritten - socket.writableLength
}

/** True where the kernel has taken all bytes of a connection; false also where that is not known. */
export function isFlushed(socket: Socket): boolean {
  return ((rawOf(socket) ?? socket) as Inside)._handle?.writeQueueSize === 0
}

/**
 * Gives how many of the bytes that wait in a socket are on their way: TLS has them, and tells a turn of the event loop later
 * that the kernel took them. 0 where the kernel has no room, and without TLS.
 */
export function bytesPassing(socket: Socket): number {
  const raw = rawOf(socket) as Inside | null
  if (raw?._handle?.writeQueueSize !== 0) return 0
  return (socket as Inside)._writableState?.writelen ?? 0
}
