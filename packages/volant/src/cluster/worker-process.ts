/** One worker: its process, what it said, and how it ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Acceptor } from '@volant/engine/supervisor'
import { readVariables } from './env-files.ts'
import type { Beat, FromWorker, ToWorker, WorkerInfo, WorkerStart, WorkerState } from '../worker/messages.ts'

/** How a worker is started. */
export interface WorkerPlan {
  readonly folder: string
  readonly execArgv: readonly string[]
  readonly file: string
  readonly args: readonly string[]
  readonly table: number | null
  readonly start: Omit<WorkerStart, 'connections' | 'listeners' | 'table'>
}

/** Why a worker was killed: `change`, because its code changed before it served; `stop`, by the second signal. */
export type KillReason = 'hang' | 'start' | 'late' | 'change' | 'stop'

/** What a supervisor wants to know of its workers. */
export interface WorkerEvents {
  message(worker: WorkerProcess, message: FromWorker): void
  ended(worker: WorkerProcess): void
}

/** The descriptors in the worker: 0 to 2 are standard, 3 is the channel of Node.js. */
const connections = 4
const listeners = 5
const table = 6

/** The variables by which a service manager speaks to the supervisor, and to nobody else. */
const notInherited = [
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
  'LISTEN_PID',
  'LISTEN_FDS',
  'LISTEN_FDNAMES',
]

/** Read when the supervisor starts: the files may change. */
const variablesOfFiles = readVariables()

export class WorkerProcess {
  readonly slot: number
  readonly startedAt = performance.now()
  /** The listeners that it serves. */
  readonly listeners = new Set<number>()
  /** What it gave last when it was asked, by what it was asked for. */
  readonly given = new Map<string, unknown>()
  state: WorkerState = 'starting'
  beat: Beat | null = null
  /** The milliseconds since the last beat in which the supervisor ran. */
  silent = 0
  /** When its memory was past the limit. */
  readonly excesses: number[] = []
  closeTime = 0
  /** Its memory is not looked at before this time: the worker that was to replace it did not start. */
  excusedUntil = 0
  /** It was killed for this reason. */
  killedFor: KillReason | null = null
  /** Resolves with true when it serves, and with false when it has ended before. */
  readonly settled: Promise<boolean>
  /** Resolves when it has ended. */
  readonly over: Promise<void>
  /** Its exit code or the signal that ended it; null while it runs. */
  ending: string | null = null
  /** Null for one that could not be started. */
  #child: ChildProcess | null = null
  #number = -1
  /** The bytes of messages that wait to be sent. */
  #waiting = 0
  readonly #acceptor: Acceptor
  #settle: (serves: boolean) => void = () => {}

  /** `plan` may throw: then the worker has ended with this error, as one does that cannot be started. */
  constructor(slot: number, plan: () => WorkerPlan, acceptor: Acceptor, events: WorkerEvents) {
    this.slot = slot
    this.#acceptor = acceptor
    let fault: unknown
    try {
      const [number, connectionsEnd, listenersEnd] = acceptor.addWorker()
      this.#number = number
      this.#child = this.#spawn(plan(), connectionsEnd, listenersEnd)
    } catch (error) {
      fault = error
    }
    if (this.#number >= 0) acceptor.spawned(this.#number)
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.over = new Promise((resolve) => {
      const end = (ending: string): void => {
        if (this.ending !== null) return
        this.ending = ending
        this.#settle(false)
        if (this.#number >= 0) acceptor.removeWorker(this.#number)
        events.ended(this)
        resolve()
      }
      const child = this.#child
      if (child === null) {
        // Nobody knows of this worker before the constructor has returned.
        process.nextTick(() => end(fault instanceof Error ? fault.message : String(fault)))
        return
      }
      child.once('exit', (code, signal) => end(signal ?? `code ${code}`))
      // It could not be started, or a message could not be sent because it has ended.
      child.on('error', (error) => {
        if (child.pid === undefined) end(error.message)
      })
      child.on('message', (message) => events.message(this, message as FromWorker))
    })
  }

  #spawn(plan: WorkerPlan, connectionsEnd: number, listenersEnd: number): ChildProcess {
    const start: WorkerStart = {
      ...plan.start,
      connections,
      listeners,
      table: plan.table === null ? null : table,
    }
    const env: NodeJS.ProcessEnv = { ...process.env, VOLANT_WORKER: JSON.stringify(start) }
    for (const name of [...notInherited, ...variablesOfFiles]) delete env[name]
    return spawn(process.execPath, [...plan.execArgv, plan.file, ...plan.args], {
      cwd: plan.folder,
      env,
      serialization: 'advanced',
      stdio: [
        'ignore',
        'inherit',
        'inherit',
        'ipc',
        connectionsEnd,
        listenersEnd,
        ...(plan.table === null ? [] : [plan.table]),
      ],
    })
  }

  /** Gives its number in the acceptor, which another worker gets once this one has ended. */
  get number(): number {
    return this.#number
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get uptime(): number {
    return (performance.now() - this.startedAt) / 1_000
  }

  /** Gives whether its beats are missing. */
  get isStuck(): boolean {
    return this.state === 'ready' && this.silent > mostSilent
  }

  get info(): WorkerInfo {
    const { slot: worker, pid, state, isStuck, uptime, beat } = this
    return { worker, pid, state, isStuck, uptime, beat }
  }

  /** Has it get connections. */
  serve(): void {
    if (this.state !== 'starting') return
    this.state = 'ready'
    this.silent = 0
    this.#setTakes(true)
    this.#settle(true)
  }

  /** Is called for each message: its event loop turns. Beats may wait behind others. */
  hear(): void {
    const wasStuck = this.isStuck
    this.silent = 0
    if (wasStuck) this.#setTakes(true)
  }

  /** Counts milliseconds without a beat. */
  miss(milliseconds: number): void {
    if (this.state !== 'ready') return
    this.silent += milliseconds
    if (this.isStuck) this.#setTakes(false)
  }

  send(message: ToWorker): void {
    // The callback gets the error of a channel that is closed; without it the error would be emitted.
    if (this.#child?.connected === true) this.#child.send(message, () => {})
  }

  /** Sends a message of so many bytes, unless too much waits for the worker already. */
  pass(message: ToWorker, bytes: number): void {
    if (this.#child?.connected !== true || this.#waiting + bytes > mostWaiting) return
    this.#waiting += bytes + messageBytes
    this.#child.send(message, () => {
      this.#waiting -= bytes + messageBytes
    })
  }

  /** Has no more connections come to it. */
  spare(): void {
    this.#setTakes(false)
  }

  #setTakes(takes: boolean): void {
    if (this.ending === null) this.#acceptor.setTakes(this.#number, takes)
  }

  /**
   * Has it answer what is left, and end. No connections come to it from now on. It has `rest` milliseconds for its last
   * hooks once its connections are gone.
   */
  drain(drainIdle: number | null, rest = lastRest): void {
    if (this.state === 'draining' || this.ending !== null) return
    const wasServing = this.state === 'ready'
    this.state = 'draining'
    this.spare()
    if (!wasServing) return this.kill('start')
    this.send({ volant: 'drain', drainIdle })
    const timer = setTimeout(() => this.kill('late'), this.closeTime + rest)
    timer.unref()
    void this.over.then(() => clearTimeout(timer))
  }

  kill(reason: KillReason): void {
    this.killedFor ??= reason
    this.#child?.kill('SIGKILL')
  }
}

/** So many bytes of messages may wait for a worker that reads slowly. What comes then is lost, which a bus notices. */
const mostWaiting = 8 << 20
/** What a message costs beside its bytes, about. */
const messageBytes = 200
/** A worker that has not said anything for so many milliseconds gets no connections: two beats, and what a beat is late. */
const mostSilent = 2_500
/** How long a worker usually has for its last hooks, in milliseconds. */
export const lastRest = 5_000
