/** The entry `volant/log`: the logger of the current request for code that has no context. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { processLog } from './options.ts'
import { startChannel } from '../report/channels.ts'
import type { Log, LogLevel } from '../types/log.ts'

export type { Log, LogLevel, LogMethod } from '../types/log.ts'

interface Logged {
  readonly log: Log
}

const requests = new AsyncLocalStorage<Logged>()
// Requests are followed from the moment on that this entry is imported: who does not import it pays nothing for it.
startChannel.bindStore(requests as AsyncLocalStorage<unknown>, (message) => (message as { ctx: Logged }).ctx)

/** Looks up the logger for each line, and gives it the bindings of this child. */
class CurrentLog implements Log {
  readonly #outer: () => Log
  readonly #bindings: Record<string, unknown> | null
  /** The children of the loggers that had lines. */
  readonly #children = new WeakMap<Log, Log>()

  constructor(outer: () => Log, bindings: Record<string, unknown> | null) {
    this.#outer = outer
    this.#bindings = bindings
  }

  #write(level: LogLevel, line: readonly unknown[]): void {
    this.#current()[level](...(line as [unknown]))
  }

  #current(): Log {
    const log = this.#outer()
    if (this.#bindings === null) return log
    let child = this.#children.get(log)
    if (child === undefined) this.#children.set(log, (child = log.child(this.#bindings)))
    return child
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line)
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line)
  }

  info(...line: unknown[]): void {
    this.#write('info', line)
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line)
  }

  error(...line: unknown[]): void {
    this.#write('error', line)
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line)
  }

  child(bindings: Record<string, unknown>): Log {
    return new CurrentLog(() => this.#current(), bindings)
  }

  isLevelEnabled(level: LogLevel): boolean {
    return this.#current().isLevelEnabled(level)
  }
}

/**
 * The logger of the request in which it is called, for code that has no context: its lines have the id of the request,
 * as those of `ctx.log` have, also after awaits, in timers and in streams. Outside of requests it is the logger of the
 * app that was made last with the option `log`, or standard output. Children made once follow the requests, too:
 * `const log = requestLog.child({ module: 'orders' })`.
 */
export const log: Log = new CurrentLog(() => requests.getStore()?.log ?? processLog(), null)
