/** Resets connections of node:net. */
import type { Socket } from 'node:net'

/** Ends a connection with a reset. A Unix socket has none, so it is closed. */
export function reset(socket: Socket): void {
  try {
    socket.resetAndDestroy()
  } catch {
    // node:net throws for a Unix socket, and has no public property for the kind of a socket.
    socket.destroy()
  }
}
