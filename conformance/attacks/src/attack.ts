/** Defines an attack, and carries it out over one connection or several. */
import { setImmediate as turn } from 'node:timers/promises'
import { Connection, type ConnectionOptions, type Target, refusalOf } from './connection.ts'

export interface Attack {
  /** The name on the command line and in the table. */
  readonly name: string
  /** One line that says what is sent, and the case by which the attack is known. */
  readonly about: string
  /** The limits on what the attack may cost the server. */
  readonly goal: Goal
  /** The number of repetitions, in the full and in the short form. */
  readonly times: { readonly full: number; readonly quick: number }
  /** True for an attack on TLS itself, which runs only over TLS. */
  readonly overTls?: true
  /** Limits of the server that the attack needs. */
  readonly limits?: Readonly<Record<string, number>>
  /**
   * Runs the attack. `look` reads the server's memory while an attack with goal `held` keeps the server's resources.
   */
  readonly run: (
    target: Target,
    times: number,
    patience: Patience,
    look: () => Promise<void>,
  ) => Promise<Outcome>
}

/** What an attack may cost the server, and what the server has to end. A trial that misses one of them has a fault. */
export interface Goal {
  /**
   * The number of handler runs that the server must stay below, without those whose replies were complete; null: no
   * limit.
   */
  readonly calls: number | null
  /**
   * The limit on the growth of the server's memory. `rise` allows 10 MB. The others allow more beside that: `share` ten
   * times the bytes that the attacker sent, `request` 1 MiB for each of `requests`, `handshake` 8 KiB for each
   * connection, and `held` maxBufferedReplies and 15 MB more while replies wait, with 100 MB of garbage more at its
   * peak.
   */
  readonly memory: 'rise' | 'share' | 'request' | 'held' | 'handshake'
  /**
   * What the server has to end: the connections, or at least their streams. After that it may use less than a tenth of
   * a core. Null: it has to end nothing.
   */
  readonly ends: 'connections' | 'streams' | null
  /** The most CPU time of the server, in µs for each KiB that the attacker sent; undefined: no limit. */
  readonly cpu?: number
  /**
   * The most bytes that the server may send, as a multiple of the bytes that the attacker sent; undefined: no limit.
   */
  readonly back?: number
}

/** The time limits of the server after which it ends a waiting attacker, in ms. */
export interface Patience {
  readonly headers: number
  readonly send: number
  readonly handshake: number
  /** For how long the attack waits beyond them, since busy machines are late. */
  readonly grace: number
}

export interface Outcome {
  /** Frames, requests or connections of the attack that were sent. */
  readonly count: number
  /** Bytes that were handed to the socket, and bytes that were read from it; over TLS both are plaintext. */
  readonly sent: number
  readonly received: number
  /** For example `GOAWAY ENHANCE_YOUR_CALM, closed`; for several connections each ending with its count. */
  readonly ended: string
  /** True if the server ended every connection, or at least every stream that was opened. */
  readonly closed: boolean
  readonly released: boolean
  /** Connections that the attacker tried to open, and those of them that the server refused. */
  readonly connections: number
  readonly refused: number
  /**
   * Replies that were complete before their streams were reset. Their handlers do not count as a cost of the attack.
   */
  readonly answered?: number
  /** The number of requests to which the goal `request` applies. */
  readonly requests?: number
  /** The number of replies or handshakes of other clients that failed during the attack. */
  readonly cut?: number
  /** Sentences about other faults. */
  readonly faults?: readonly string[]
}

/**
 * The time in which the server must end a connection after the last byte was sent, in ms. The default headersTimeout,
 * which ends a header block too, is longer.
 */
const closing = 8_000
/** The number of bytes that are sent before the answers of the server are read. */
const batch = 32_768

/** Sends `make(0)`, `make(1)` and so on until the server ends the connection. Gives the number that was sent. */
export async function flood(
  connection: Connection,
  times: number,
  make: (index: number) => Uint8Array,
): Promise<number> {
  let parts: Uint8Array[] = []
  let size = 0
  let done = 0
  for (let at = 0; at < times && connection.ending === 'open' && !connection.isStalled; at += 1) {
    const part = make(at)
    parts.push(part)
    size += part.length
    if (size < batch && at < times - 1) continue
    await connection.send(Buffer.concat(parts))
    done = at + 1
    parts = []
    size = 0
    await turn()
  }
  return done
}

/**
 * Opens one connection, has `act` attack on it, and waits for the server to end it. `act` gives the number that it
 * sent.
 */
export async function byOne(
  target: Target,
  act: (connection: Connection) => Promise<number>,
  { wait = closing, ...options }: ConnectionOptions & { readonly wait?: number } = {},
): Promise<Outcome> {
  const connection = await Connection.open(target, options)
  const count = await act(connection)
  // A connection that did not read learns only now how it was ended.
  connection.read()
  await connection.ended(wait)
  const outcome = outcomeOf([connection], [count])
  connection.destroy()
  return outcome
}

interface ManyOptions extends ConnectionOptions {
  readonly hold: number
  readonly until?: 'streams'
  /** Is called when everything was sent. */
  readonly look?: () => Promise<void>
  /** Describes how a connection ended. */
  readonly describe?: (connection: Connection) => string
}

/**
 * Does the same over several connections at once. They stay open until `hold` has passed, or the server has ended all
 * of them or their streams.
 */
export async function byMany(
  target: Target,
  connections: number,
  act: (connection: Connection, index: number) => Promise<number>,
  { hold, until, look, describe, ...options }: ManyOptions,
): Promise<Outcome> {
  const opened: Connection[] = []
  const refusals: unknown[] = []
  const open = async (): Promise<void> => {
    try {
      opened.push(await Connection.open(target, options))
    } catch (error) {
      refusals.push(error)
    }
  }
  // With more at once the accept queue overflows, and the system repeats the SYN only after a second.
  for (let at = 0; at < connections; at += 100)
    await Promise.all(Array.from({ length: Math.min(100, connections - at) }, open))
  let refused: readonly string[]
  try {
    refused = refusals.map(refusalOf)
  } catch (error) {
    for (const connection of opened) connection.destroy()
    throw error
  }
  const counts = await Promise.all(opened.map(act))
  await look?.()
  const deadline = performance.now() + hold
  const isOver = (connection: Connection, at: number) => () =>
    until === 'streams' && connection.finished >= (counts[at] as number)
  for (const [at, connection] of opened.entries())
    await connection.until(isOver(connection, at), Math.max(0, deadline - performance.now()))
  const outcome = outcomeOf(opened, counts, refused, describe)
  for (const connection of opened) connection.destroy()
  await turn()
  return outcome
}

function outcomeOf(
  connections: readonly Connection[],
  counts: readonly number[],
  refused: readonly string[] = [],
  describe = (connection: Connection): string => connection.describe(),
): Outcome {
  const ways = new Map<string, number>()
  const tried = connections.length + refused.length
  for (const way of [...connections.map(describe), ...refused.map((code) => `refused by ${code}`)])
    ways.set(way, (ways.get(way) ?? 0) + 1)
  const words = [...ways].map(([way, times]) => (tried === 1 ? way : `${times} × ${way}`))
  return {
    count: counts.reduce((sum, each) => sum + each, 0),
    sent: connections.reduce((sum, { sent }) => sum + sent, 0),
    received: connections.reduce((sum, { received }) => sum + received, 0),
    ended: words.join('; '),
    closed: connections.every(({ ending }) => ending !== 'open'),
    released: connections.every(
      ({ ending, finished }, at) => ending !== 'open' || finished >= (counts[at] as number),
    ),
    connections: tried,
    refused: refused.length,
  }
}
