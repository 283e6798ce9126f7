/** What a worker and its supervisor say to each other, over the IPC channel that Node.js gives a child process. */

/** Where an app of a worker wants to listen. The supervisor binds it for all workers. */
export interface WantedListener {
  /** The port; 0 selects a free one, the same for all workers. */
  readonly port: number
  /** The host; null stands for every address. */
  readonly host: string | null
  /** The path of a Unix socket; null for a port. */
  readonly path: string | null
  readonly backlog: number
  readonly ipv6Only: boolean
  /**
   * How many listeners without a fixed address the worker has asked for before this one. The nth one is the same in all
   * workers.
   */
  readonly ordinal: number
  /** True if clients speak TLS, so that a refusal in plain HTTP would not be understood. */
  readonly isEncrypted: boolean
  /**
   * True if the worker accepts connections itself, as node:http does: it gets the listening socket. Else it gets the
   * connections.
   */
  readonly accepts: boolean
}

/** A listener that the supervisor has. */
export interface GivenListener {
  /** Its number. Connections that are passed carry it. */
  readonly listener: number
  /** The port that it is bound to; null for a Unix socket. */
  readonly port: number | null
  /** The address that it is bound to; null for a Unix socket. */
  readonly host: string | null
  /** The socket file; null for a port. */
  readonly path: string | null
}

/** An error of the system: its code, and what it says. */
export interface ListenFault {
  readonly code: string
  readonly message: string
}

/** What a worker says of itself every second. */
export interface Beat {
  /** The seconds since its start: what grew between two beats, divided by those between them, is a rate. */
  readonly uptime: number
  /** The resident set size in bytes. */
  readonly memory: number
  /** The seconds of processor time since its start. */
  readonly cpu: number
  /** The open connections of its apps. */
  readonly connections: number
  /** The requests that are not answered yet. */
  readonly inFlight: number
  /** The requests since its start. */
  readonly requests: number
}

/** What a worker was told when it was started, in the variable `VOLANT_WORKER`. */
export interface WorkerStart {
  /** The version of this package. */
  readonly version: string
  /** The slot, from 0. */
  readonly worker: number
  /** How many workers there are. */
  readonly workers: number
  readonly isDevelopment: boolean
  /** The descriptors that it has inherited: by the first connections come, by the second listening sockets. */
  readonly connections: number
  readonly listeners: number
  /** The memory that all workers count in; null if there is none. */
  readonly table: number | null
}

/** The state of a worker: it starts, serves, and answers what is left; then it is gone. */
export type WorkerState = 'starting' | 'ready' | 'draining'

/** Why a worker was started in place of another. */
export type RestartReason = 'crash' | 'hang' | 'memory' | 'roll' | 'signal' | 'change'

/** A worker as the supervisor sees it. */
export interface WorkerInfo {
  /** The slot, from 0. The worker that replaces another has the same. */
  readonly worker: number
  /** The process id. */
  readonly pid: number
  /** How far it has come. */
  readonly state: WorkerState
  /** True while its beats are missing: it gets no connections. */
  readonly isStuck: boolean
  /** The seconds since it was started. */
  readonly uptime: number
  /** Its last beat; null before the first. */
  readonly beat: Beat | null
}

/** The supervisor and its workers. */
export interface ClusterInfo {
  /** The process id of the supervisor. */
  readonly pid: number
  /** How many workers it keeps. */
  readonly size: number
  /** The workers by slot. While one replaces another there are two of a slot. */
  readonly workers: readonly WorkerInfo[]
  /** The restarts since the supervisor started, by reason. */
  readonly restarts: Readonly<Record<RestartReason, number>>
  /** True while workers are replaced one after the other. */
  readonly isRolling: boolean
}

/** The value that one worker gave. */
export interface Gathered {
  /** The slot. */
  readonly worker: number
  /** The value; what the worker gave last, if it did not answer in time. */
  readonly value: unknown
}

/** All values that workers gave. */
export interface Gathering {
  /** The workers that gave something, in the order of their start: of two that have a slot, the new one is the last. */
  readonly workers: readonly Gathered[]
  /**
   * The sums of workers that have ended. What a worker gives may have a member `sums`, numbers by name; the supervisor adds
   * up the last ones of each worker that ends. Whole numbers have the same sum in every order.
   */
  readonly ended: Readonly<Record<string, number>>
  readonly cluster: ClusterInfo
}

/** From a worker to the supervisor. `volant` names the message; others are the app's own. */
export type FromWorker =
  | { readonly volant: 'listen'; readonly id: number; readonly wanted: WantedListener }
  /** It takes the connections of the listener. */
  | { readonly volant: 'takes'; readonly listener: number }
  | { readonly volant: 'unlisten'; readonly id: number; readonly listener: number }
  /** It serves. Its app takes at most so many milliseconds to close. */
  | { readonly volant: 'ready'; readonly closeTime: number }
  /** Somebody has sent it SIGTERM. */
  | { readonly volant: 'leaving' }
  /** It has answered what was left, and ends. */
  | { readonly volant: 'done' }
  | { readonly volant: 'beat'; readonly beat: Beat }
  | { readonly volant: 'info'; readonly id: number }
  | { readonly volant: 'gather'; readonly id: number; readonly what: string }
  | { readonly volant: 'gathered'; readonly id: number; readonly what: string; readonly value: unknown }
  | { readonly volant: 'last'; readonly what: string; readonly value: unknown }
  | { readonly volant: 'roll' }
  | { readonly volant: 'publish'; readonly channel: string; readonly bytes: Uint8Array }
  | { readonly volant: 'subscribe'; readonly id: number; readonly channels: readonly string[] }
  | { readonly volant: 'unsubscribe'; readonly id: number; readonly channel: string }

/** From the supervisor to a worker. */
export type ToWorker =
  | { readonly volant: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly volant: 'gather'; readonly id: number; readonly what: string }
  /** `/ready` says 503 from now on, and the drain follows. */
  | { readonly volant: 'leave' }
  | { readonly volant: 'drain'; readonly drainIdle: number | null }
  | { readonly volant: 'message'; readonly channel: string; readonly bytes: Uint8Array }
