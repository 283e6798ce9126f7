/** What an attack is, and how one is carried out over one connection or several. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { Connection, type ConnectionOptions, type Target, refusalOf } from './connection.ts'

export interface Attack {
  /** On the command line and in the table. */
  readonly name: string
  /** One line: what is sent, and the case that it is known by. */
  readonly about: string
  /** What the attack may cost the server. */
  readonly goal: Goal
  /** How often, in full and in the short form. */
  readonly times: { readonly full: number; readonly quick: number }
  /** Only over TLS: what is attacked is TLS. */
  readonly overTls?: true
  /** Limits of the server that it is about. */
  readonly limits?: Readonly<Record<string, number>>
  /** `look` is for attacks whose goal is `held`: it reads the server's memory while they hold what they hold. */
  readonly run: (
    target: Target,
    times: number,
    patience: Patience,
    look: () => Promise<void>,
  ) => Promise<Outcome>
}

/** What an attack may cost the server, and what the server has to end. A trial that misses one has a fault. */
export interface Goal {
  /** The server runs fewer handlers than this whose replies did not come whole before; null: they are not judged. */
  readonly calls: number | null
  /**
   * How far the memory of the server may rise: by less than 10 MB (`rise`), and beside that by ten times what the
   * attacker sent (`share`), by 1 MiB for each of `requests` (`request`), by 8 KiB for each connection (`handshake`), or
   * by maxBufferedReplies and 15 MB more while replies wait, with 100 MB of garbage more at its peak (`held`).
   */
  readonly memory: 'rise' | 'share' | 'request' | 'held' | 'handshake'
  /**
   * What the server has to end: the connections, or at least their streams. After that it uses less than a tenth of a
   * core. Null: nothing.
   */
  readonly ends: 'connections' | 'streams' | null
  /** The most CPU time of the server, in µs for each KiB that the attacker sent; undefined: it is not judged. */
  readonly cpu?: number
  /** The most bytes that come back, as a multiple of what the attacker sent; undefined: they are not judged. */
  readonly back?: number
}

/** The time limits of the server that wait for an attacker, ms. */
export interface Patience {
  readonly headers: number
  readonly send: number
  readonly handshake: number
}

export interface Outcome {
  /** Frames, requests or connections of the attack that were sent. */
  readonly count: number
  /** Bytes that were handed to the socket, and bytes that were read from it: over TLS both in plaintext. */
  readonly sent: number
  readonly received: number
  /** `GOAWAY ENHANCE_YOUR_CALM, closed`; of several connections each way with its count. */
  readonly ended: string
  /** The server ended every connection, or at least every stream that was opened. */
  readonly closed: boolean
  readonly released: boolean
  /** Connections that were tried, and those of them that the server refused. */
  readonly connections: number
  readonly refused: number
  /** Replies that came whole before their streams were reset: their handlers were no waste. */
  readonly answered?: number
  /** Requests of which each may cost what goal `request` allows. */
  readonly requests?: number
  /** What others asked for meanwhile and did not get, such as whole replies or handshakes. */
  readonly cut?: number
  /** What else was wrong, in words. */
  readonly faults?: readonly string[]
}

/** For the server to end a connection when all was sent, ms. */
const closing = 2_000
/** Bytes that are sent between two looks at what the server says. */
const batch = 32_768

/** Sends `make(0)`, `make(1)` and so on until the server ends the connection; gives how many were sent. */
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

/** Opens one connection, has `act` attack by it, and waits for the server to end it. `act` gives how much was sent. */
export async function byOne(
  target: Target,
  act: (connection: Connection) => Promise<number>,
  { wait = closing, ...options }: ConnectionOptions & { readonly wait?: number } = {},
): Promise<Outcome> {
  const connection = await Connection.open(target, options)
  const count = await act(connection)
  // One that read nothing learns only now how it was ended.
  connection.read()
  await connection.ended(wait)
  const outcome = outcomeOf([connection], [count])
  connection.destroy()
  return outcome
}

interface ManyOptions extends ConnectionOptions {
  readonly hold: number
  readonly until?: 'streams'
  /** Is called when all was sent. */
  readonly look?: () => Promise<void>
  /** How a connection ended, in words. */
  readonly describe?: (connection: Connection) => string
}

/**
 * The same over several connections at once, which stay until `hold` has passed or the server has ended all of them, or
 * their streams.
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
  // More at once than a listener's queue takes would wait a second for the system to try again.
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
  await sleep(0)
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
