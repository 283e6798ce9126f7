/** What a worker knows of its supervisor, and asks of it. */
import type { Beat, ClusterInfo, Gathering, GivenListener, WantedListener } from './messages.ts'

/** The supervisor, as the code in a worker sees it. `preload.ts` puts it in place before the app is loaded. */
export interface Supervision {
  /** The slot of this worker, from 0. The worker that replaces it has the same. */
  readonly worker: number
  /** How many workers there are. */
  readonly workers: number
  /** True under `volant dev`. */
  readonly isDevelopment: boolean
  /** The descriptor of the memory that all workers count in; null if there is none. */
  readonly table: number | null
  /** The descriptor of the socket by which connections are passed. */
  readonly connections: number
  /** Binds a listener, or gives the one that another worker has asked for. Rejects with the system's error. */
  listen(wanted: WantedListener): Promise<GivenListener>
  /** Has the connections of the listener come to this worker from now on. */
  take(listener: number): void
  /** Gives the descriptor of the listening socket that `listen` was asked for with `accepts`. */
  receiveListener(): number
  /** Resolves when no more connections of the listener come to this worker. */
  unlisten(listener: number): Promise<void>
  /** Calls `listener` when the drain of this worker is near: `/ready` says 503 from then on. */
  onLeave(listener: () => void): void
  /**
   * Calls `listener` when this worker is to answer what is left. The process ends when the promises of all listeners are
   * settled. `drainIdle` stands for the limit of that name, if it is not null.
   */
  onDrain(listener: (drainIdle: number | null) => Promise<void>): void
  /** Has `counts` say in each beat what the apps of one copy of this package count. */
  onBeat(counts: () => Pick<Beat, 'connections' | 'inFlight' | 'requests'>): void
  /** Says that this worker serves. Its app takes at most so many milliseconds to close. */
  ready(closeTime: number): void
  /** Gives all workers, as the supervisor sees them. Rejects when the supervisor has ended. */
  info(): Promise<ClusterInfo>
  /**
   * Asks all workers, this one among them, for what they give by `onGather`. Resolves within a second: who does not
   * answer counts with its last value. Rejects if the supervisor has ended, or does not answer for two seconds.
   */
  gather(what: string): Promise<Gathering>
  /**
   * Answers `gather`. What it gives is cloned (`structuredClone`). It is also called when the worker ends: what a worker
   * gave last that was killed is what it was asked for last.
   */
  onGather(what: string, answer: () => unknown): void
  /** Has all workers replaced, one after the other. */
  roll(): void
  /**
   * Sends bytes to all other workers that are subscribed to the channel. Resolves when the supervisor has them, and
   * rejects when it is gone.
   */
  publish(channel: string, bytes: Uint8Array): Promise<void>
  /** Resolves when all that is published to these channels from then on arrives. */
  subscribe(channels: readonly string[]): Promise<void>
  /** Resolves when nothing of the channel arrives any more. */
  unsubscribe(channel: string): Promise<void>
  /** Has `listener` get what other workers publish. */
  onMessage(listener: (channel: string, bytes: Uint8Array) => void): void
}

/** Other copies of this package in the worker find it by this name. */
const place: unique symbol = Symbol.for('volant.supervision') as never

type Holder = { [place]?: Supervision }

export function setSupervision(supervision: Supervision): void {
  ;(globalThis as Holder)[place] = supervision
}

/** Gives the supervisor of this process, or null if it has none: in a process of its own, and in threads of a worker. */
export function supervision(): Supervision | null {
  return (globalThis as Holder)[place] ?? null
}
