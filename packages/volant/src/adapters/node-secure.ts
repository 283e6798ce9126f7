/** Reads internals of node:tls: the TCP socket below a TLSSocket, and the number of bytes in its queue. */
import type { Socket } from 'node:net'

/** The internals of node:net and node:tls. Other runtimes may not have them. */
interface Inside {
  readonly _parent?: Socket | null
  readonly _handle?: {
    getpeername?(address: object): number
    readonly bytesWritten?: number
    readonly writeQueueSize?: number
  } | null
  readonly _writableState?: { readonly writelen?: number }
}

/** Gives the socket below a TLSSocket; null for another socket. */
export function rawOf(socket: Socket): Socket | null {
  return (socket as Inside)._parent ?? null
}

/** Returns true when a connection has no peer any more. A peer that has only ended its sending side still exists. */
export function isCut(raw: Socket | null): boolean {
  const { _handle: handle } = (raw ?? {}) as Inside
  // `remoteAddress` does not help, because node:net asks the kernel for it once and keeps the answer.
  return handle?.getpeername !== undefined && handle.getpeername({}) !== 0
}

/** Gives the number of bytes that the kernel has taken. node:net itself reports a write only when all of it is sent. */
export function bytesSent(socket: Socket): number {
  const { bytesWritten, writeQueueSize } = ((rawOf(socket) ?? socket) as Inside)._handle ?? {}
  if (bytesWritten !== undefined && writeQueueSize !== undefined) return bytesWritten - writeQueueSize
  return socket.bytesWritten - socket.writableLength
}

/** Returns true when the kernel has taken all bytes of a connection. Returns false also when that is not known. */
export function isFlushed(socket: Socket): boolean {
  return ((rawOf(socket) ?? socket) as Inside)._handle?.writeQueueSize === 0
}

/**
 * Gives the number of waiting bytes of a socket that TLS has passed to the kernel already. node:tls reports that a turn
 * of the event loop later. Gives 0 if the kernel has no room, and without TLS.
 */
export function bytesPassing(socket: Socket): number {
  const raw = rawOf(socket) as Inside | null
  if (raw?._handle?.writeQueueSize !== 0) return 0
  return (socket as Inside)._writableState?.writelen ?? 0
}
