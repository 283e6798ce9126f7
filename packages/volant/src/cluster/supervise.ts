/** `supervise()` runs an app in several processes. */
import { closeSync } from 'node:fs'
import { createTable, supervisorAddon } from '@volant/engine/supervisor'
import { VolantError } from '../errors/errors.ts'
import { printLine } from '../report/print-line.ts'
import type { ClusterInfo } from '../worker/messages.ts'
import { supervision } from '../worker/supervision.ts'
import { currentFolder } from './folder.ts'
import { planOf, type SuperviseOptions } from './options.ts'
import { Supervisor } from './supervisor.ts'

/** A supervisor that runs. */
export interface Supervised {
  /** Resolves with the exit code when all workers have ended. */
  readonly finished: Promise<number>
  /** Gives the workers and how they are. */
  info(): ClusterInfo
  /**
   * Replaces all workers, one after the other, as SIGHUP does. Resolves with false if a new one did not start; then the
   * old ones stay.
   */
  roll(): Promise<boolean>
  /** Has all workers answer what is left, as SIGTERM does. The second call ends them at once. */
  stop(): void
}

/**
 * Runs an app in several processes, which share its ports:
 *
 *     await supervise({ module: './dist/main.js', workers: 'auto' }).finished
 *
 * The file listens by itself, as with `node FILE`, and is run once by each worker. This process listens for them, passes
 * each connection to the worker with the fewest, and replaces workers that end. SIGTERM and SIGINT stop it, SIGHUP
 * replaces the workers one after the other. Import nothing of the app where you call it.
 *
 * Throws `E_BAD_OPTION`; `E_UNSUPPORTED` where the engine cannot be loaded, and in a worker.
 */
export function supervise(options: SuperviseOptions): Supervised {
  const supervisor = supervisorOf(options, false)
  supervisor.onServing = (addresses) => tellServing(addresses, supervisor.plan.workers)
  supervisor.start()
  return {
    finished: supervisor.finished,
    info: () => supervisor.info,
    roll: () => supervisor.roll(),
    stop: () => supervisor.stop(),
  }
}

/** Makes a supervisor that has not started. Throws as `supervise` does. */
export function supervisorOf(options: SuperviseOptions, isDevelopment: boolean): Supervisor {
  if (supervision() !== null) {
    throw new VolantError(
      'E_UNSUPPORTED',
      'supervise() was called in a worker: let the file that calls it and the file of the app be two',
    )
  }
  const found = supervisorAddon()
  if ('reason' in found) {
    throw new VolantError(
      'E_UNSUPPORTED',
      `a supervisor needs the native engine, and ${found.reason}. Run one process: node FILE`,
    )
  }
  const { addon } = found
  const plan = planOf(options, () => addon.parallelism(), currentFolder())
  const table = tableOf()
  const supervisor = new Supervisor(plan, addon, { isDevelopment, table })
  if (table !== null) void supervisor.finished.then(() => closeSync(table))
  handleSignals(supervisor)
  const { control } = plan
  // It needs node:http, whose memory a supervisor without it does not have.
  if (control !== null) {
    void import('./control.ts')
      .then(({ openControl }) => openControl(control, supervisor))
      .then((close) => supervisor.finished.then(close))
  }
  return supervisor
}

/** The bytes of the table that workers count in. It has room for 491,000 keys, and takes memory as it fills. */
const tableBytes = 16 << 20

/** A single worker has it too: it is replaced by others, which go on with the counts. */
function tableOf(): number | null {
  try {
    return createTable(tableBytes)
  } catch (error) {
    printLine(`volant: there is no memory for counts that workers share: ${(error as Error).message}`)
    return null
  }
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Handles signals until all workers have ended. */
function handleSignals(supervisor: Supervisor): void {
  const obey = (signal: NodeJS.Signals): void => {
    // A terminal that is closed sends it, too.
    const isTerminal = process.stdout.isTTY || process.stderr.isTTY
    if (signal === 'SIGHUP' && !isTerminal) void supervisor.roll()
    else supervisor.stop(signal)
  }
  for (const signal of signals) process.on(signal, obey)
  void supervisor.finished.then(() => {
    for (const signal of signals) process.off(signal, obey)
  })
}

export function tellServing(addresses: readonly string[], workers: number): void {
  const count = workers === 1 ? '1 worker' : `${workers} workers`
  printLine(`volant: listening on ${addresses.join(' and ')} (${count})`, 'stdout')
}
