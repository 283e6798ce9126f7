/** Clients of a cluster: they keep their connections, and none of them sends a request again. */
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { rest } from '../drain/client.ts'
import { Connection, usualPatience } from '../drain/connection.ts'
import { mulberry32 } from '../random.ts'

/** A request that failed. */
export interface Lost {
  readonly method: 'GET' | 'POST' | 'connect'
  /** What was wrong. */
  readonly fault: string
  /** The port of the client's end; null where it could not connect. */
  readonly port: number | null
  /** Who answered on this connection before. */
  readonly worker: string | null
  /** When it was sent and when it failed, by `performance.now()`. */
  readonly sent: number
  readonly failed: number
}

/** What the clients of a run share and found. */
export class ClusterLoad {
  readonly port: number
  /** Longer than any reply takes, in ms. */
  readonly patience: number
  stopped = false
  sent = 0
  /** The nonces of the POSTs that were answered rightly. */
  readonly answeredPosts: number[] = []
  posts = 0
  answered = 0
  readonly lost: Lost[] = []
  /** Workers in the order of their first reply here, with the time of it. */
  readonly seen = new Map<string, number>()
  /** Workers that answered with another status than 200. */
  readonly refusing = new Set<string>()
  #visits: Promise<void>[] = []

  constructor(port: number, patience: number = usualPatience) {
    this.port = port
    this.patience = patience
  }

  /** Begins with so many clients. */
  start(clients: number, seed: number): void {
    const random = mulberry32(seed)
    this.#visits = Array.from({ length: clients }, () => this.#visit(mulberry32(random() * 2 ** 32)))
  }

  /** Ends the clients when each has its last reply. */
  async stop(): Promise<void> {
    this.stopped = true
    await Promise.all(this.#visits)
  }

  /** Sends requests until the load is stopped. A connection that the server ended between two requests is no failure. */
  async #visit(random: () => number): Promise<void> {
    let connection: Connection | null = null
    while (!this.stopped) {
      const begun = performance.now()
      connection ??= await Connection.open(this.port)
      if (connection === null) {
        this.#lose({ method: 'connect', fault: 'refused', port: null, worker: null, sent: begun })
        // A port that nobody listens on refuses thousands of times a second.
        await sleep(20)
        continue
      }
      await rest(this, random)
      // An end that has come while it rested is seen before the connection is used again.
      await immediate()
      if (!connection.isOpen) {
        connection = null
        continue
      }
      const isRight: boolean = await this.ask(connection, random() < 0.5 ? 'POST' : 'GET', random() < 0.25)
      if (isRight && !connection.closes) continue
      connection.close()
      connection = null
    }
    connection?.close()
  }

  /** Sends one request on a connection; true when it was answered rightly. */
  async ask(connection: Connection, method: 'GET' | 'POST', split = false): Promise<boolean> {
    const nonce = ++this.sent
    if (method === 'POST') this.posts++
    const [sent, { worker, port }] = [performance.now(), connection]
    const fault = await connection.ask(method, nonce, split, this.patience)
    if (fault !== null) {
      if (connection.worker !== null) this.refusing.add(connection.worker)
      this.#lose({ method, fault, port, worker, sent })
      return false
    }
    this.answered++
    if (method === 'POST') this.answeredPosts.push(nonce)
    const by = connection.worker
    if (by !== null && !this.seen.has(by)) this.seen.set(by, performance.now())
    return true
  }

  #lose(lost: Omit<Lost, 'failed'>): void {
    this.lost.push({ ...lost, failed: performance.now() })
  }
}

/** What happened to POSTs, by the clients and by what the workers wrote down. */
export interface Posts {
  /** Run more than once. */
  readonly twice: number
  /** Answered, and in no worker's list: nobody ran it. */
  readonly unrun: number
}

export function comparePosts(answered: readonly number[], ran: readonly number[]): Posts {
  const once = new Set(ran)
  return { twice: ran.length - once.size, unrun: answered.filter((nonce) => !once.has(nonce)).length }
}

/** How many failed, by kind, most first, as lines of a list. */
export function linesOf(lost: readonly Lost[]): string {
  const kinds = new Map<string, number>()
  for (const { method, fault } of lost) {
    const kind = `${method}: ${fault}`
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  return [...kinds]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, mostKinds)
    .map(([kind, times]) => `    ${times.toLocaleString('en-US').padStart(6)}  ${kind}\n`)
    .join('')
}

/** More are of no help to a reader. */
const mostKinds = 12
