/** The worker's end of the IPC channel: what it asks, and what it is told. */
import type { SupervisorAddon } from '@volant/engine/supervisor'
import type {
  Beat,
  ClusterInfo,
  FromWorker,
  Gathering,
  GivenListener,
  ListenFault,
  ToWorker,
  WantedListener,
  WorkerStart,
} from './messages.ts'
import type { Supervision } from './supervision.ts'

/** The milliseconds between two beats. */
const pulse = 1_000
/** How long a worker whose supervisor is gone lets idle connections stay, in milliseconds. */
const lastIdle = 1_000
/** A blocked event loop does not notice that the supervisor is gone: the process then ends after so many milliseconds. */
const patience = 3_000
/** A supervisor that has not answered after so many milliseconds is stopped, or has ended: workers have less time. */
const longestGather = 2_000
/** How long a worker may take to end by itself once its supervisor is gone, in milliseconds. */
const lastRest = 15_000
/** How long the supervisor may take to answer, in milliseconds. */
const longestAnswer = 10_000
const orphan = 'the supervisor of this worker has ended'

type Counts = Pick<Beat, 'connections' | 'inFlight' | 'requests'>
interface Pending {
  resolve(value: never): void
  reject(error: Error): void
  readonly timer: NodeJS.Timeout | undefined
}
/** `Omit` of a union keeps what all of its members have; this keeps the members apart. */
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

export class WorkerEnd implements Supervision {
  readonly worker: number
  readonly workers: number
  readonly isDevelopment: boolean
  readonly table: number | null
  readonly connections: number
  readonly #listeners: number
  readonly #addon: SupervisorAddon
  readonly #pending = new Map<number, Pending>()
  #asked = 0
  readonly #answers = new Map<string, () => unknown>()
  readonly #leaves: (() => void)[] = []
  readonly #drains: ((drainIdle: number | null) => Promise<void>)[] = []
  readonly #counts: (() => Counts)[] = []
  readonly #messages: ((channel: string, bytes: Uint8Array) => void)[] = []
  #draining = false
  #hasTold = false

  constructor(start: WorkerStart, addon: SupervisorAddon) {
    this.worker = start.worker
    this.workers = start.workers
    this.isDevelopment = start.isDevelopment
    this.table = start.table
    this.connections = start.connections
    this.#listeners = start.listeners
    this.#addon = addon
  }

  /** Begins to listen to the supervisor, and to beat. */
  open(): void {
    this.#addon.follow(this.connections, patience)
    process.on('message', (message) => this.#receive(message as ToWorker))
    process.on('disconnect', () => this.#orphaned())
    // What keeps the process alive is the app.
    process.channel?.unref()
    // A terminal sends these to all processes, by Ctrl-C and when it is closed. The supervisor tells the workers what to do.
    process.on('SIGINT', () => {})
    process.on('SIGHUP', () => {})
    process.on('SIGTERM', () => this.#send({ volant: 'leaving' }))
    // An error that nobody catches, or a listener of the app's own, may end the process without a drain.
    process.on('exit', () => this.#tellLast())
    setInterval(() => this.#beat(), pulse).unref()
  }

  async listen(wanted: WantedListener): Promise<GivenListener> {
    const answer = await this.#ask<GivenListener | ListenFault>({ volant: 'listen', wanted }, null)
    if ('listener' in answer) return answer
    throw Object.assign(new Error(answer.message), { code: answer.code })
  }

  take(listener: number): void {
    this.#send({ volant: 'takes', listener })
  }

  receiveListener(): number {
    return this.#addon.receiveListener(this.#listeners)
  }

  async unlisten(listener: number): Promise<void> {
    await this.#ask({ volant: 'unlisten', listener }).catch(() => {})
  }

  ready(closeTime: number): void {
    this.#send({ volant: 'ready', closeTime })
  }

  onLeave(listener: () => void): void {
    this.#leaves.push(listener)
  }

  onDrain(listener: (drainIdle: number | null) => Promise<void>): void {
    this.#drains.push(listener)
  }

  onBeat(counts: () => Counts): void {
    this.#counts.push(counts)
  }

  info(): Promise<ClusterInfo> {
    return this.#ask<ClusterInfo>({ volant: 'info' })
  }

  gather(what: string): Promise<Gathering> {
    return this.#ask<Gathering>({ volant: 'gather', what }, longestGather)
  }

  onGather(what: string, answer: () => unknown): void {
    this.#answers.set(what, answer)
  }

  roll(): void {
    this.#send({ volant: 'roll' })
  }

  publish(channel: string, bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const message: FromWorker = { volant: 'publish', channel, bytes }
      if (!process.connected) return reject(new Error(orphan))
      process.send?.(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)))
    })
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    await this.#ask({ volant: 'subscribe', channels })
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#ask({ volant: 'unsubscribe', channel })
  }

  onMessage(listener: (channel: string, bytes: Uint8Array) => void): void {
    this.#messages.push(listener)
  }

  /**
   * Rejects after `longest` milliseconds: a supervisor that is stopped answers nothing, and closing an app must not wait
   * for it. With null it waits, as an app does that wants to listen: the supervisor would have the listener nevertheless.
   */
  #ask<T>(
    question: WithoutId<Extract<FromWorker, { id: number }>>,
    longest: number | null = longestAnswer,
  ): Promise<T> {
    const id = ++this.#asked
    return new Promise<T>((resolve, reject) => {
      if (!process.connected) return reject(new Error(orphan))
      const late = (): void =>
        this.#settled(id)?.reject(
          new Error(`the supervisor of this worker has not answered within ${longest} ms`),
        )
      const timer = longest === null ? undefined : setTimeout(late, longest)
      this.#pending.set(id, { resolve, reject, timer })
      // The channel keeps the process alive until the answer is there.
      process.channel?.ref()
      this.#send({ ...question, id } as FromWorker)
    })
  }

  /** Gives the question that is settled now; undefined for one that was settled before. */
  #settled(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    clearTimeout(pending?.timer)
    this.#pending.delete(id)
    if (this.#pending.size === 0) process.channel?.unref()
    return pending
  }

  #send(message: FromWorker): void {
    if (!process.connected) return
    // The callback gets the error of a channel that is closing; without it the error would be emitted.
    process.send?.(message, undefined, undefined, () => {})
  }

  #receive(message: ToWorker): void {
    switch (message?.volant) {
      case 'answer':
        return this.#settled(message.id)?.resolve(message.value as never)
      case 'gather':
        return this.#send({
          volant: 'gathered',
          id: message.id,
          what: message.what,
          value: this.#answerOf(message.what),
        })
      case 'leave':
        for (const leave of this.#leaves) leave()
        return
      case 'drain':
        return void this.#drain(message.drainIdle)
      case 'message':
        for (const each of this.#messages) each(message.channel, message.bytes)
        return
    }
  }

  #answerOf(what: string): unknown {
    try {
      return this.#answers.get(what)?.() ?? null
    } catch {
      return null
    }
  }

  #beat(): void {
    const counts = this.#counts.map((each) => each())
    const sum = (name: keyof Counts): number => counts.reduce((total, each) => total + each[name], 0)
    const { user, system } = process.cpuUsage()
    this.#send({
      volant: 'beat',
      beat: {
        uptime: process.uptime(),
        memory: process.memoryUsage.rss(),
        cpu: (user + system) / 1e6,
        connections: sum('connections'),
        inFlight: sum('inFlight'),
        requests: sum('requests'),
      },
    })
  }

  /** Answers what is left, and ends the process. */
  async #drain(drainIdle: number | null): Promise<void> {
    if (this.#draining) return
    this.#draining = true
    for (const leave of this.#leaves) leave()
    // A handler of the app's own, which may close what Volant does not know. The process then ends by itself.
    const isOwn = process.listenerCount('SIGTERM') > 1
    if (isOwn) process.emit('SIGTERM', 'SIGTERM')
    if (this.#drains.length === 0 && isOwn) return
    await Promise.allSettled(this.#drains.map((drain) => drain(drainIdle)))
    this.#tellLast()
    const end = (): void => void (isOwn ? process.disconnect?.() : process.exit())
    if (!process.connected) return end()
    // Messages are written in their order, so this one is the last.
    const done: FromWorker = { volant: 'done' }
    process.send?.(done, undefined, undefined, end)
  }

  /**
   * Says what the worker gives last: after its drain, or when it ends in another way. In the event `exit` the channel is
   * written to before the process is gone.
   */
  #tellLast(): void {
    if (this.#hasTold) return
    this.#hasTold = true
    for (const what of this.#answers.keys()) this.#send({ volant: 'last', what, value: this.#answerOf(what) })
  }

  /** Is called when the supervisor is gone. No more connections come. */
  #orphaned(): void {
    this.#addon.goOnFor(lastRest)
    for (const id of this.#pending.keys()) this.#settled(id)?.reject(new Error(orphan))
    void this.#drain(lastIdle)
  }
}
