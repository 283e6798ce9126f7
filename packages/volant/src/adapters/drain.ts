/** The parts of a graceful close that the adapters in JavaScript share. */

/**
 * How far the close of a server has come. It first accepts the connections that wait. While it drains, idle connections
 * stay, because a request may be on its way; while it closes, connections are closed as soon as they are idle. In all
 * three the last reply of a connection says `Connection: close`.
 */
export type Phase = 'open' | 'accepting' | 'draining' | 'closing'

/**
 * How many rounds of the event loop may accept connections after `close`: as many as the kernel queues by default
 * (`net.core.somaxconn`), since newer versions of libuv accept one a round. A flood cannot hold the close up.
 */
const mostRounds = 4_096
/** A round that takes less than this, in ms, did nothing else: no connection came between its look and the end. */
const shortRound = 0.1
/** How many rounds are waited for a short one. */
const mostLongRounds = 100
/**
 * The longest time in ms until the socket closes, even if connections still arrive: requests that were received wait
 * for it. A busy machine takes a few hundred ms for a hundred connections.
 */
const longest = 2_000

/**
 * Calls `stop` once a whole round of the event loop has accepted no connection. The kernel told the clients of those that
 * wait that they are connected, and would reset them with the socket.
 */
export function stopWhenAccepted(accepted: () => number, stop: () => void): void {
  const start = performance.now()
  let [before, began, rounds, long] = [accepted(), 0, 0, 0]
  const look = () => {
    const now = performance.now()
    if (now - start > longest) return stop()
    const isShort = now - began < shortRound || ++long > mostLongRounds
    if ((accepted() === before && isShort) || ++rounds > mostRounds) return stop()
    before = accepted()
    began = now
    setImmediate(look)
  }
  // The first may come in the middle of a round.
  setImmediate(() => setImmediate(look))
}

/** Calls `close` after `drainIdle` ms, when what has arrived by then was read. */
export function afterDrain(drainIdle: number, close: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(close), drainIdle)
}
