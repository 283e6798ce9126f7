/**
 * The supervisor: keeps as many workers as it should, replaces those that end, hang or grow, and has all of them
 * answer what is left before it ends. It runs no code of the app, and no HTTP. It is one file, since each of these events
 * reads and changes the same few states: which workers there are, which are to be replaced, and whether all are to end.
 */
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Acceptor, addressOf, type SupervisorAddon } from '@volant/engine/supervisor'
import { printLine } from '../report/print-line.ts'
import type { ClusterInfo, FromWorker, GivenListener, RestartReason } from '../worker/messages.ts'
import { RestartDelay } from './restart-delay.ts'
import { launchOf } from './launch.ts'
import { BoundListeners } from './listeners.ts'
import type { SupervisePlan } from './options.ts'
import { reapOrphans } from './orphans.ts'
import { Relay, Gatherings } from './relay.ts'
import { ServiceManager } from './service-manager.ts'
import { lastRest, type WorkerPlan, WorkerProcess } from './worker-process.ts'

/** The milliseconds between two looks at the workers. */
const pulse = 1_000
/** Clients wait for a worker for so many milliseconds, and are then refused. */
const mostWaiting = 10_000
/** Memory past the limit counts if it was there so often in so many milliseconds. */
const excesses = 3
const excessTime = 15_000
/** So many workers may fail to start, if none ever served. */
const mostFailures = 3
/** A ready worker beats if it has said something in so many milliseconds. */
const mostSilent = 5_000
/** The longest that the next start waits while nobody serves, in milliseconds. */
const longestAlone = 1_000
/** The time for which a worker may be too large after the one that was to replace it did not start, in milliseconds. */
const excuse = 60_000
/**
 * In development idle connections of an old version are closed at once, so that no client gets its replies any more. Those
 * that it was passed last have so many milliseconds for their first request: without them, 1 of 210,000 requests failed
 * in 15 restarts under load.
 */
const lastFirsts = 50
/** How long the worker of an old version has for its last hooks in development, in milliseconds. */
const developmentRest = 500

/** What `supervise` differs in for `volant dev`. */
export interface Mode {
  readonly isDevelopment: boolean
  /** The memory that all workers count in. */
  readonly table: number | null
}

/** How the start of another version went, in development. */
export interface Renewal {
  /** The worker that runs it. */
  readonly worker: WorkerProcess
  readonly serves: boolean
  /** The worker that has served so far, and has to end if the new one serves; null if there was none. */
  readonly old: WorkerProcess | null
}

export class Supervisor {
  readonly plan: SupervisePlan
  readonly #mode: Mode
  readonly #addon: SupervisorAddon
  readonly #acceptor: Acceptor
  readonly #listeners: BoundListeners
  readonly #manager: ServiceManager
  readonly #gatherings = new Gatherings()
  readonly #relay = new Relay()
  readonly #workers = new Set<WorkerProcess>()
  readonly #delays: readonly RestartDelay[]
  readonly #restarts: Record<RestartReason, number> = {
    crash: 0,
    hang: 0,
    memory: 0,
    roll: 0,
    signal: 0,
    change: 0,
  }
  /** The slots whose next worker is started while the one before serves. */
  readonly #replaced = new Set<number>()
  /** The workers that are to be replaced. */
  readonly #condemned = new Set<WorkerProcess>()
  /** Replacements come one after the other. */
  #queue: Promise<unknown> = Promise.resolve()
  #rolls = 0
  /** The roll that waits, or else is under way. */
  #nextRoll: Promise<boolean> = Promise.resolve(true)
  #isRolling = false
  #hasServed = false
  /** A worker was ready. */
  #wasReady = false
  #failures = 0
  #isStopping = false
  /** True once the supervisor has told all workers to leave. */
  #hasLeft = false
  /** The restarts that are due. */
  readonly #due = new Set<NodeJS.Timeout>()
  #ticked = performance.now()
  /** Since when no worker is ready. */
  #deserted = performance.now()
  #timer: NodeJS.Timeout | undefined
  readonly #finish: (code: number) => void
  /** Resolves with the exit code when all workers have ended. */
  readonly finished: Promise<number>
  /** Is called when all workers serve for the first time. */
  onServing: ((addresses: readonly string[]) => void) | null = null
  /** Is called in development when another version serves, or did not start. */
  onRenewal: ((renewal: Renewal) => void) | null = null
  /** Is called in development when a worker that served has ended by itself. No other is started. */
  onEnd: ((worker: WorkerProcess) => void) | null = null

  constructor(plan: SupervisePlan, addon: SupervisorAddon, mode: Mode) {
    this.plan = plan
    this.#mode = mode
    this.#addon = addon
    this.#acceptor = addon.acceptor()
    this.#listeners = new BoundListeners(this.#acceptor)
    this.#manager = new ServiceManager(addon)
    this.#delays = Array.from({ length: plan.workers }, () => new RestartDelay())
    let finish: (code: number) => void = () => {}
    this.finished = new Promise((resolve) => {
      finish = resolve
    })
    this.#finish = finish
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), pulse)
    if (this.#mode.isDevelopment) return void this.renew('change')
    for (let slot = 0; slot < this.plan.workers; slot++) this.#launch(slot)
  }

  get info(): ClusterInfo {
    return {
      pid: process.pid,
      size: this.plan.workers,
      workers: [...this.#workers].map(({ info }) => info).toSorted((a, b) => a.worker - b.worker),
      restarts: { ...this.#restarts },
      isRolling: this.#isRolling,
    }
  }

  /** Gives whether a worker serves, and the supervisor is not ending. */
  get isReady(): boolean {
    return !this.#isStopping && this.#beating.length > 0
  }

  /** Gives whether a worker beats, or the first ones still start. */
  get isAlive(): boolean {
    if (!this.#wasReady) return this.#workers.size > 0
    return [...this.#workers].some(({ state, silent, beat }) =>
      state === 'ready' ? silent < mostSilent : state === 'draining' && beat !== null,
    )
  }

  get #beating(): WorkerProcess[] {
    return this.#ready.filter(({ isStuck }) => !isStuck)
  }

  /**
   * Replaces all workers, one slot after the other: the new one serves before the old one answers what is left. Resolves
   * with false if a new one did not start; then the old ones stay. A call during a roll has one more follow it.
   */
  async roll(reason: RestartReason = 'roll'): Promise<boolean> {
    if (this.#mode.isDevelopment) return this.renew(reason)
    if (this.#rolls > 1) return this.#nextRoll
    this.#rolls++
    this.#nextRoll = this.#enqueue(async () => {
      this.#isRolling = true
      if (this.#hasServed) this.#manager.reloading()
      const started = performance.now()
      let fails = true
      try {
        for (let slot = 0; slot < this.plan.workers; slot++) {
          if (this.#isStopping || !(await this.#replace(slot, reason))) return false
        }
        fails = false
        const seconds = ((performance.now() - started) / 1_000).toFixed(1)
        printLine(`volant: all workers were replaced, in ${seconds} s`)
        return true
      } finally {
        this.#isRolling = false
        this.#rolls--
        if (this.#hasServed && !this.#isStopping) this.#manager.ready(this.plan.workers, fails)
      }
    })
    return this.#nextRoll
  }

  /**
   * Starts the version of now, in development. The old one serves until this one does, and then ends soon. A worker that is
   * starting is killed: it may have loaded the code of before. Gives whether the version serves.
   */
  async renew(reason: RestartReason): Promise<boolean> {
    if (this.#isStopping) return false
    const isFirst = !this.#hasServed
    for (const worker of this.#workers) if (worker.state === 'starting') worker.kill('change')
    const worker = this.#launch(0)
    const serves = await worker.settled
    if (this.#isStopping || worker.killedFor === 'change') return false
    const old = this.#ready.filter((each) => each.startedAt < worker.startedAt)
    this.onRenewal?.({ worker, serves, old: old.at(-1) ?? null })
    if (!serves) return false
    if (!isFirst) this.#restarts[reason]++
    for (const each of old) each.spare()
    await sleep(lastFirsts)
    for (const each of old) {
      const { isStuck } = each
      each.drain(0, developmentRest)
      if (isStuck) each.kill('late')
    }
    await Promise.all(old.map(({ over }) => over))
    return true
  }

  /** Has all workers answer what is left; the second call ends them at once. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): void {
    if (this.#isStopping) return this.#abort(signal)
    this.#isStopping = true
    this.#manager.stopping()
    for (const worker of this.#workers) worker.send({ volant: 'leave' })
    const delay = this.#ready.length === 0 ? 0 : this.plan.drainDelay
    setTimeout(() => {
      this.#acceptor.stopListening()
      for (const worker of this.#workers) {
        if (this.#mode.isDevelopment) worker.drain(0, developmentRest)
        else worker.drain(null)
      }
      this.#hasLeft = true
      this.#desertion()
      this.#end()
    }, delay)
  }

  #abort(signal: NodeJS.Signals): void {
    for (const worker of this.#workers) worker.kill('stop')
    this.#acceptor.stopListening()
    this.#finish(128 + (constants.signals[signal] ?? 0))
  }

  get #ready(): WorkerProcess[] {
    return [...this.#workers].filter(({ state }) => state === 'ready')
  }

  #launch(slot: number): WorkerProcess {
    const plan = (): WorkerPlan => launchOf(this.plan, slot, this.#mode)
    const worker = new WorkerProcess(slot, plan, this.#acceptor, {
      message: (from, message) => this.#receive(from, message),
      ended: (from) => this.#ended(from),
    })
    this.#workers.add(worker)
    const timer = setTimeout(() => {
      printLine(
        `volant: ${nameOf(worker)} has not listened within ${this.plan.startTimeout / 1_000} s (startTimeout): it is killed. The module has to call app.listen(); a port that it opens by other means is not shared`,
      )
      worker.kill('start')
    }, this.plan.startTimeout)
    void worker.settled.then(() => clearTimeout(timer))
    return worker
  }

  #receive(worker: WorkerProcess, message: FromWorker): void {
    // The last words may be read after the end was noticed. Its number may be that of another worker by then.
    if (worker.ending !== null && message?.volant !== 'gathered' && message?.volant !== 'last') return
    worker.hear()
    try {
      this.#obey(worker, message)
    } catch (error) {
      // Code of the app may have sent it, and not this package.
      printLine(`volant: a message of ${nameOf(worker)} is not understood: ${String(error)}`)
    }
  }

  #obey(worker: WorkerProcess, message: FromWorker): void {
    switch (message?.volant) {
      case 'listen': {
        const { id, wanted } = message
        void this.#listeners.give(worker, wanted).then((value) => {
          if ('listener' in value) this.#remember(value, wanted.isEncrypted)
          worker.send({ volant: 'answer', id, value })
        })
        return
      }
      case 'takes':
        return this.#listeners.attach(worker, message.listener)
      case 'unlisten':
        this.#listeners.release(worker, message.listener)
        return worker.send({ volant: 'answer', id: message.id, value: null })
      case 'ready':
        // The longest time that a timer takes.
        worker.closeTime = Math.min(Math.max(worker.closeTime, Number(message.closeTime) || 0), 2 ** 31 - 1e5)
        return this.#serve(worker)
      case 'leaving':
        return this.#replaceSoon(worker, 'signal')
      case 'done':
        return
      case 'beat':
        this.#weigh(worker, message.beat.memory)
        worker.beat = message.beat
        return
      case 'info':
        return worker.send({ volant: 'answer', id: message.id, value: this.info })
      case 'gather': {
        const { id, what } = message
        void this.#gatherings
          .gather(what, worker, this.#workers, () => this.info)
          .then((value) => worker.send({ volant: 'answer', id, value }))
        return
      }
      case 'gathered':
        return this.#gatherings.take(worker, message.id, message.what, message.value)
      case 'last':
        return this.#gatherings.keep(worker, message.what, message.value)
      case 'roll':
        return void this.roll()
      case 'publish':
        return this.#relay.publish(worker, message.channel, message.bytes)
      case 'subscribe':
        this.#relay.subscribe(worker, message.channels)
        return worker.send({ volant: 'answer', id: message.id, value: null })
      case 'unsubscribe':
        this.#relay.unsubscribe(worker, message.channel)
        return worker.send({ volant: 'answer', id: message.id, value: null })
    }
  }

  readonly #addresses = new Map<number, string>()

  #remember(given: GivenListener, isEncrypted: boolean): void {
    this.#addresses.set(given.listener, addressOf(given, isEncrypted ? 'https' : 'http').url)
  }

  #serve(worker: WorkerProcess): void {
    if (worker.state !== 'starting' || worker.killedFor !== null || this.#isStopping) return
    worker.serve()
    this.#wasReady = true
    this.#delays[worker.slot]?.serves()
    this.#desertion()
    if (this.#hasServed || this.#ready.length < this.plan.workers) return
    this.#hasServed = true
    this.#manager.ready(this.plan.workers)
    for (const address of this.#listeners.unused) {
      printLine(
        `volant: systemd passes a socket at ${address}, where the app does not listen: nobody answers there`,
      )
    }
    this.onServing?.([...this.#addresses.values()])
  }

  #ended(worker: WorkerProcess): void {
    this.#workers.delete(worker)
    this.#gatherings.retire(worker)
    this.#relay.forget(worker)
    this.#desertion()
    if (!this.#mode.isDevelopment) this.#tellEnd(worker)
    if (this.#isStopping) return this.#end()
    // `renew` waits for those that start, and has asked for the end of those that drain.
    if (this.#mode.isDevelopment) {
      if (worker.state === 'ready' && this.#ready.length === 0) this.onEnd?.(worker)
      return
    }
    // Whoever asked for its end, or waits for its start, goes on by itself.
    if (worker.state === 'draining') return
    if (this.#replaced.has(worker.slot)) return
    this.#restart(worker)
  }

  #tellEnd(worker: WorkerProcess): void {
    if (worker.killedFor === 'late')
      printLine(
        `volant: ${nameOf(worker)} was killed: it had not ended ${worker.closeTime + lastRest} ms after it should`,
      )
    if (worker.killedFor !== null || (worker.state === 'draining' && worker.ending === 'code 0')) return
    if (worker.pid === 0)
      return printLine(`volant: worker ${worker.slot} could not be started: ${worker.ending}`)
    const isEarly = worker.state === 'starting'
    const advice = isEarly && worker.ending === 'code 0' ? ': the module has to call app.listen()' : ''
    printLine(
      `volant: ${nameOf(worker)} has ended${isEarly ? ' before it listened' : ''}, with ${worker.ending}${advice}`,
    )
  }

  #restart({ slot, state, killedFor }: WorkerProcess): void {
    if (!this.#wasReady && state === 'starting' && ++this.#failures >= mostFailures) {
      printLine(
        `volant: ${this.#failures} workers have ended before they listened, and none ever served: the supervisor ends. What they wrote stands above`,
      )
      this.#isStopping = true
      for (const worker of this.#workers) worker.kill('start')
      this.#exitCode = 1
      return this.#end()
    }
    this.#restarts[killedFor === 'hang' ? 'hang' : 'crash']++
    const own = (this.#delays[slot] as RestartDelay).next()
    // While nobody serves, and no other is on its way, clients wait for this one.
    const isAlone = this.#workers.size === 0 && this.#due.size === 0
    const delay = isAlone ? Math.min(own, longestAlone) : own
    if (delay === 0) return void this.#launch(slot)
    printLine(`volant: the next worker ${slot} starts in ${Math.ceil(delay)} ms`)
    const timer = setTimeout(() => {
      this.#due.delete(timer)
      if (!this.#isStopping) this.#launch(slot)
    }, delay)
    this.#due.add(timer)
  }

  #exitCode = 0

  #end(): void {
    if (this.#workers.size > 0) return
    clearInterval(this.#timer)
    for (const timer of this.#due) clearTimeout(timer)
    this.#acceptor.stopListening()
    this.#finish(this.#exitCode)
  }

  /** Replaces a worker unless that is under way. */
  #replaceSoon(worker: WorkerProcess, reason: RestartReason): void {
    const { slot } = worker
    if (this.#isStopping || worker.state !== 'ready' || this.#condemned.has(worker)) return
    if (this.#mode.isDevelopment) return void this.renew(reason)
    this.#condemned.add(worker)
    void this.#enqueue(async () => {
      if (worker.state === 'ready' && worker.ending === null) await this.#replace(slot, reason)
      this.#condemned.delete(worker)
    })
  }

  /** Starts another worker of a slot, and has the old one leave when it serves. Gives whether it did. */
  async #replace(slot: number, reason: RestartReason): Promise<boolean> {
    // One that is starting may have loaded the code of before.
    const starting = [...this.#workers].find((worker) => worker.slot === slot && worker.state === 'starting')
    await starting?.settled
    if (this.#isStopping) return false
    const old = this.#ready.find((worker) => worker.slot === slot)
    // The next start of a slot whose worker has ended is still to come.
    if (old === undefined) return true
    this.#replaced.add(slot)
    const worker = this.#launch(slot)
    const serves = await worker.settled
    this.#replaced.delete(slot)
    if (this.#isStopping) return false
    if (!serves) {
      printLine(`volant: the worker that was to replace ${nameOf(old)} did not start: the old one stays`)
      // It may have ended meanwhile.
      if (old.ending !== null) this.#restart(worker)
      old.excusedUntil = performance.now() + excuse
      return false
    }
    this.#restarts[reason]++
    old.drain(null)
    // At most one generation answers what is left.
    await old.over
    return true
  }

  #enqueue<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(step)
    this.#queue = result.catch(() => {})
    return result
  }

  #weigh(worker: WorkerProcess, memory: number): void {
    const now = performance.now()
    if (memory <= this.plan.maxMemory || worker.state !== 'ready' || now < worker.excusedUntil) return
    worker.excesses.push(now)
    while ((worker.excesses[0] as number) < now - excessTime) worker.excesses.shift()
    if (worker.excesses.length < excesses || this.#condemned.has(worker)) return
    const mebibytes = Math.round(memory / 2 ** 20)
    printLine(`volant: ${nameOf(worker)} has ${mebibytes} MiB, more than maxMemory: it is replaced`)
    this.#replaceSoon(worker, 'memory')
  }

  #tick(): void {
    const now = performance.now()
    // After a pause of the whole machine no worker is late: the time is counted in which the supervisor ran.
    const passed = Math.min(now - this.#ticked, pulse)
    this.#ticked = now
    this.#acceptor.tick()
    this.#desertion()
    reapOrphans(this.#addon)
    for (const worker of this.#workers) {
      worker.miss(passed)
      if (worker.state !== 'ready' || worker.silent < this.plan.hangTimeout || isInspected) continue
      printLine(
        `volant: ${nameOf(worker)} has not beaten for ${Math.round(worker.silent / 1_000)} s (hangTimeout): its event loop is blocked, and it is killed`,
      )
      worker.kill('hang')
    }
    if (this.isAlive) this.#manager.live()
    if (this.#ready.length > 0) this.#listeners.retain([...this.#workers], this.plan.startTimeout)
  }

  /** Refuses clients that have waited too long for a worker. */
  #desertion(): void {
    const now = performance.now()
    if (this.#beating.length > 0) this.#deserted = now
    // When the workers leave, nobody serves the connections that still wait.
    this.#acceptor.setRefusing(this.#hasLeft || now - this.#deserted > mostWaiting)
  }
}

/** A debugger stops workers for as long as somebody looks at them. */
const isInspected = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((each) =>
  /--inspect/.test(each),
)

function nameOf({ slot, pid }: WorkerProcess): string {
  return `worker ${slot} (pid ${pid})`
}
