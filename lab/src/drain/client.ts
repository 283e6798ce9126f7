/** Clients of `lab drain`: one request at a time on a connection that is kept, each with a nonce of its own. */
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { Connection } from './connection.ts'

/** Shared by all clients of a run. */
export class Load {
  /** Where clients connect; the next one where the first refuses. */
  readonly ports: readonly number[]
  stopped = false
  sent = 0
  posts = 0
  answered = 0
  /** How many requests failed, by kind. */
  readonly failed = new Map<string, number>()
  #next = 0

  constructor(ports: readonly number[]) {
    this.ports = ports
  }

  /** Gives a port for a new connection: each in turn. */
  turn(): number {
    return this.ports[this.#next++ % this.ports.length] as number
  }

  fail(kind: string): void {
    this.failed.set(kind, (this.failed.get(kind) ?? 0) + 1)
  }
}

/**
 * Half of the requests of a client follow the reply at once: most of what crosses a stop is of these. The most between
 * the others, in ms; one in `longEvery` pauses is up to `longPause`.
 */
const pause = 20
const longPause = 7_000
const longEvery = 500

/** Sends requests until the load is stopped. It obeys `Connection: close`, and never sends a request again. */
export async function visit(load: Load, random: () => number): Promise<void> {
  let connection: Connection | null = null
  while (!load.stopped) {
    connection ??= await Connection.open(load.turn())
    if (connection === null) {
      // Nothing was sent: the next port in turn is tried.
      await sleep(1)
      continue
    }
    await rest(load, random)
    // An end that has come while it rested is seen before the connection is used again.
    await immediate()
    if (!connection.isOpen) {
      connection = null
      continue
    }
    const isPost = random() < 0.5
    const nonce = ++load.sent
    if (isPost) load.posts++
    const method = isPost ? 'POST' : 'GET'
    const fault: string | null = await connection.ask(method, nonce, random() < 0.25)
    if (fault === null) load.answered++
    else load.fail(`${method}: ${fault}`)
    if (fault === null && !connection.closes) continue
    connection.close()
    connection = null
  }
  connection?.close()
}

export async function rest(load: { readonly stopped: boolean }, random: () => number): Promise<void> {
  if (random() < 0.5) return
  const until = performance.now() + (random() < 1 / longEvery ? longPause : pause) * random()
  for (let left = 1; left > 0 && !load.stopped; left = until - performance.now())
    await sleep(Math.min(left, 100))
}
