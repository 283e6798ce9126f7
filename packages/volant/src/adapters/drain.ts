/** The parts of a graceful close that the adapters in JavaScript share. */

/**
 * How far the close of a server has come. While it drains, idle connections stay, because a request may be on its way;
 * while it closes, connections are closed as soon as they are idle. In both the last reply of a connection says
 * `Connection: close`.
 */
export type Phase = 'open' | 'draining' | 'closing'

/**
 * How many rounds of the event loop may accept connections after `close`: as many as the kernel queues by default
 * (`net.core.somaxconn`), since newer versions of libuv accept one a round. A flood cannot hold the close up.
 */
const mostRounds = 4_096

/**
 * Calls `stop` once a whole round of the event loop has accepted no connection. The kernel told the clients of those that
 * wait that they are connected, and would reset them with the socket.
 */
export function stopWhenAccepted(accepted: () => number, stop: () => void): void {
  let before = accepted()
  let rounds = 0
  const look = () => {
    const now = accepted()
    if (now === before || ++rounds >= mostRounds) return stop()
    before = now
    setImmediate(look)
  }
  // The first may come in the middle of a round.
  setImmediate(() => setImmediate(look))
}

/** Calls `close` after `drainIdle` ms, when what has arrived by then was read. */
export function afterDrain(drainIdle: number, close: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(close), drainIdle)
}
