/** SIGTERM and SIGINT close every listening app of the process; a second one ends it as if nobody listened. */
import { inspect } from 'node:util'
import { printLine } from '../report/print-line.ts'

interface Closable {
  close(): Promise<void>
  stats(): { readonly connections: number }
}

/** A close that takes longer than so many ms says what it waits for. */
const silence = 1_000

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

/** Says why Ctrl-C seems to do nothing: a browser keeps its connections, for example. */
function tellWait(): void {
  let open = 0
  for (const app of apps) open += app.stats().connections
  if (open === 0) return
  const what = open === 1 ? 'a connection that is' : `${open} connections that are`
  printLine(
    `volant: closing waits for ${what} open: ${open === 1 ? 'it ends' : 'they end'} after drainIdle when idle, else after shutdownTimeout. Press Ctrl-C again to end at once`,
  )
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
  if (signal === 'SIGINT') setTimeout(tellWait, silence).unref()
}
