/** Loggers as apps see them: `ctx.log`, `app.log`, and `log` of `volant/log`. */

/** The name of a level, from the least to the most severe: 10, 20, 30, 40, 50 and 60 in a line. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** Writes a line of one level. */
export interface LogMethod {
  /**
   * Writes a line: `info({ orderId }, 'paid')`, `error(error, 'failed')`. An object adds its members to the line, and an
   * error is its member `err`. `%s`, `%d` and `%o` in the message stand for the values behind it. It never throws.
   */
  (fields: unknown, message?: string, ...values: unknown[]): void
  /** Writes a line without members: `info('%s is ready', name)`. */
  (message: string, ...values: unknown[]): void
}

/** A logger that writes lines of JSON, as pino does. An instance of pino is one, too. */
export interface Log {
  /** Writes a line of level 10. */
  readonly trace: LogMethod
  /** Writes a line of level 20. */
  readonly debug: LogMethod
  /** Writes a line of level 30. */
  readonly info: LogMethod
  /** Writes a line of level 40. */
  readonly warn: LogMethod
  /** Writes a line of level 50. */
  readonly error: LogMethod
  /** Writes a line of level 60. It is also the last one before a process that ends. */
  readonly fatal: LogMethod
  /** Gives a logger whose lines all have these members: `ctx.log.child({ orderId })`. */
  child(bindings: Record<string, unknown>): Log
  /** True if lines of this level are written: for values that are costly to make. */
  isLevelEnabled(level: LogLevel): boolean
}
