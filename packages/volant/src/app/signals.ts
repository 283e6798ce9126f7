/** SIGTERM and SIGINT close every listening app of the process; a second one ends it as if nobody listened. */
import { inspect } from 'node:util'
import { printLine } from '../report/print-line.ts'

interface Closable {
  close(): Promise<void>
}

const apps = new Set<Closable>()
const signals = ['SIGTERM', 'SIGINT'] as const
let stopping = false

export function closeOnSignal(app: Closable): void {
  if (apps.size === 0) for (const signal of signals) process.on(signal, onSignal)
  apps.add(app)
}

/** Is called when `app` is closed. With the last app the signals have their default meaning again. */
export function forgetSignal(app: Closable): void {
  if (!apps.delete(app) || apps.size > 0) return
  stopping = false
  for (const signal of signals) process.off(signal, onSignal)
}

/** Prints the error. It is not thrown, since the other apps still have requests to answer. */
function tell(error: unknown): void {
  process.exitCode = 1
  printLine(`volant: close() failed: ${inspect(error)}`)
}

function onSignal(signal: NodeJS.Signals): void {
  if (stopping) {
    for (const app of apps) apps.delete(app)
    for (const each of signals) process.off(each, onSignal)
    process.kill(process.pid, signal)
    return
  }
  stopping = true
  for (const app of apps) app.close().catch(tell)
}
