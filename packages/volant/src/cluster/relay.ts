/** What workers ask of each other by the supervisor: figures, and messages to channels. */
import type { ClusterInfo, Gathered, Gathering } from '../worker/messages.ts'
import type { WorkerProcess } from './worker-process.ts'

/** How long a worker may take to answer, in milliseconds. Then its last answer stands. */
const answerTime = 800

interface Round {
  readonly asked: Set<WorkerProcess>
  readonly waits: Set<WorkerProcess>
  readonly gathering: Promise<Gathering>
  finish(): void
}

/** Asks all workers for something, and keeps what those gave that have ended. */
export class Gatherings {
  readonly #rounds = new Map<number, Round>()
  /** The number of the round that is under way, by what is asked for. */
  readonly #current = new Map<string, number>()
  /** The sums of workers that have ended, by what was asked for. */
  readonly #ended = new Map<string, Map<string, number>>()
  readonly #retired = new WeakSet<WorkerProcess>()
  #count = 0

  /**
   * Resolves when the workers have answered, `asker` among them, or had their time. Who asks while others do gets the
   * answer that they get, so that many who ask keep the workers no busier than one.
   */
  gather(
    what: string,
    asker: WorkerProcess,
    workers: ReadonlySet<WorkerProcess>,
    info: () => ClusterInfo,
  ): Promise<Gathering> {
    const current = this.#current.get(what)
    const [id, round] =
      current === undefined
        ? this.#begin(what, workers, info)
        : ([current, this.#rounds.get(current) as Round] as const)
    this.#ask(asker, id, what, round)
    if (current === undefined) {
      for (const worker of workers) {
        if (worker.state !== 'starting' && !worker.isStuck) this.#ask(worker, id, what, round)
      }
    }
    return round.gathering
  }

  #begin(
    what: string,
    workers: ReadonlySet<WorkerProcess>,
    info: () => ClusterInfo,
  ): readonly [id: number, round: Round] {
    const id = ++this.#count
    let finish = (): void => {}
    const over = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, answerTime)
      finish = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    const gathering = over.then((): Gathering => {
      this.#rounds.delete(id)
      this.#current.delete(what)
      // These are the workers of now: what one has given that came during the round may be known to somebody already.
      const given = [...workers].flatMap((worker): Gathered[] =>
        worker.given.has(what) ? [{ worker: worker.slot, value: worker.given.get(what) }] : [],
      )
      return { workers: given, ended: Object.fromEntries(this.#ended.get(what) ?? []), cluster: info() }
    })
    const round: Round = { asked: new Set(), waits: new Set(), gathering, finish }
    this.#rounds.set(id, round)
    this.#current.set(what, id)
    return [id, round]
  }

  #ask(worker: WorkerProcess, id: number, what: string, { asked, waits }: Round): void {
    if (asked.has(worker)) return
    asked.add(worker)
    waits.add(worker)
    worker.send({ volant: 'gather', id, what })
  }

  /** Takes the answer of a worker to a question, which counts even if it is late. */
  take(worker: WorkerProcess, id: number, what: string, value: unknown): void {
    this.keep(worker, what, value)
    this.#leave(worker, this.#rounds.get(id))
  }

  /** Takes what a worker gives. The end of its process may be noticed before its last words are read. */
  keep(worker: WorkerProcess, what: string, value: unknown): void {
    // It could not say: what it gave before stands.
    if ((value === null || value === undefined) && worker.given.has(what)) return
    if (this.#retired.has(worker)) {
      this.#add(what, worker.given.get(what), -1)
      this.#add(what, value, 1)
    }
    worker.given.set(what, value)
  }

  /** Adds what a worker gave last to the sums: it has ended. */
  retire(worker: WorkerProcess): void {
    this.#retired.add(worker)
    for (const round of this.#rounds.values()) this.#leave(worker, round)
    for (const [what, value] of worker.given) this.#add(what, value, 1)
  }

  #add(what: string, value: unknown, sign: 1 | -1): void {
    const { sums } = (value ?? {}) as { sums?: unknown }
    if (typeof sums !== 'object' || sums === null) return
    let all = this.#ended.get(what)
    if (all === undefined) this.#ended.set(what, (all = new Map()))
    for (const [name, number] of Object.entries(sums)) {
      if (Number.isFinite(number)) all.set(name, (all.get(name) ?? 0) + sign * (number as number))
    }
  }

  #leave(worker: WorkerProcess, round: Round | undefined): void {
    if (round?.waits.delete(worker) === true && round.waits.size === 0) round.finish()
  }
}

/** Passes bytes from a worker to those that are subscribed to a channel. */
export class Relay {
  readonly #subscribed = new Map<string, Set<WorkerProcess>>()

  subscribe(worker: WorkerProcess, channels: readonly string[]): void {
    for (const channel of channels) {
      let all = this.#subscribed.get(channel)
      if (all === undefined) this.#subscribed.set(channel, (all = new Set()))
      all.add(worker)
    }
  }

  unsubscribe(worker: WorkerProcess, channel: string): void {
    const all = this.#subscribed.get(channel)
    if (all?.delete(worker) === true && all.size === 0) this.#subscribed.delete(channel)
  }

  /** Sends to all others. One that is stuck or slow misses the message, so that messages to it do not fill the memory. */
  publish(from: WorkerProcess, channel: string, bytes: Uint8Array): void {
    for (const worker of this.#subscribed.get(channel) ?? []) {
      if (worker !== from && !worker.isStuck) {
        worker.pass({ volant: 'message', channel, bytes }, bytes.byteLength + channel.length)
      }
    }
  }

  /** Forgets a worker that has ended. */
  forget(worker: WorkerProcess): void {
    for (const channel of this.#subscribed.keys()) this.unsubscribe(worker, channel)
  }
}
