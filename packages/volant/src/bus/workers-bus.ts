/** Makes a bus that reaches the workers of one supervisor. */
import { checkNames } from '../options/checks.ts'
import type { Bus } from '../types/bus.ts'
import { type Supervision, supervision } from '../worker/supervision.ts'
import { type BusOptions, busOptionNames, planBus } from './options.ts'
import { WorkersWire } from './workers-wire.ts'
import { WiredBus } from './wired-bus.ts'

/**
 * Makes a bus between the workers of `volant start`, each of which calls this with the same `nameSpace`. Messages pass
 * through the supervisor: no server is needed. An app that is given no bus has one of these where there are several
 * workers. In a process without a supervisor it reaches the buses of this process that have the same `nameSpace`. It does
 * not keep a process alive. Throws `E_BAD_OPTION`.
 */
export function workersBus(options: BusOptions = {}): Bus {
  checkNames('workersBus', options, busOptionNames)
  return new WiredBus(new WorkersWire(supervision()), planBus('workersBus', options))
}

/** Counts the apps that were given no bus: the nth one is the same in all workers. */
const apps = new WeakMap<Supervision, number>()

/**
 * Makes the bus of an app that was given none: one for each app, so that two apps of a process hear each other no more
 * than they would in a single process. Null in a process that is the only one.
 */
export function usualBus(): Bus | null {
  const found = supervision()
  if (found === null || found.workers < 2) return null
  const app = (apps.get(found) ?? 0) + 1
  apps.set(found, app)
  return new WiredBus(new WorkersWire(found), planBus('workersBus', { nameSpace: `volant-app-${app}` }))
}
