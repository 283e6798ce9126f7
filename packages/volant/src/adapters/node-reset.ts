/** Ends connections of node:net by force. */
import type { Socket } from 'node:net'

/** Ends a connection with a reset; a Unix socket, which has none, without one. */
export function reset(socket: Socket): void {
  try {
    socket.resetAndDestroy()
  } catch {
    // node:net throws for a Unix socket, and has no public way to ask what a socket is.
    socket.destroy()
  }
}
