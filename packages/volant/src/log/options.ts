/** The app's option `log`, and the logger that it makes. */
import { checkChoice, checkNames } from '../options/checks.ts'
import { bad } from '../options/bad-option.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { type LogStream, openDestination } from './destination.ts'
import { levels, LineLog } from './line-log.ts'
import { logRedaction } from './redact.ts'
import type { Log } from '../types/log.ts'

/** The options of the app's logger: of `app.log`, `ctx.log`, and of `logger()` where it has no destination. */
export interface LogOptions {
  /** The least level that is written. Default `info`. */
  level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent' | undefined
  /** A file to append to, or anything with `write(line)`. Default: standard output, written in the background. */
  destination?: string | LogStream | undefined
  /**
   * The values that are kept out of lines, beside authorization, cookies, passwords, tokens and keys: a name such as
   * `iban` stands for members anywhere, `card.number` and `orders.*.note` for one place. Those of `logger()` are here,
   * too: `req.headers.x-key`, `req.query.code`, `req.remoteAddress`. With false nothing is kept out.
   */
  redact?: readonly string[] | false | undefined
}

/** Makes the logger of the option `log`. Throws `E_BAD_OPTION`. */
export function openLog(given: unknown): Log {
  if (given === false)
    return new LineLog({ least: Infinity, destination: nowhere, redaction: logRedaction(undefined) })
  if (isLog(given)) return given
  checkNames('createApp: log', given, ['level', 'destination', 'redact'], foreignNames.log)
  const { level = 'info', destination, redact } = given as LogOptions
  const names = Object.keys(levels) as (keyof typeof levels)[]
  return new LineLog({
    least: levels[checkChoice('createApp: log.level', level, names)],
    redaction: logRedaction(redact),
    destination: openDestination(destination, 'createApp: log.destination'),
  })
}

const nowhere = { write(): void {}, flush(): void {} }

const methods = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'child', 'isLevelEnabled'] as const

function isLog(given: unknown): given is Log {
  if (typeof (given as Log | null | undefined)?.info !== 'function') return false
  const absent = methods.filter((name) => typeof (given as Log)[name] !== 'function')
  if (absent.length === 0) return true
  throw bad(
    'createApp: log',
    given,
    `options, false, or a logger such as pino(): this one has no ${absent.join(', ')}`,
  )
}

let usual: Log | null = null
let latest: Log | null = null

/** Gives the logger of apps without the option: it writes to standard output. */
export function usualLog(): Log {
  return (usual ??= openLog({}))
}

/** Remembers the logger of the app that was made last with the option. */
export function rememberLog(log: Log): void {
  latest = log
}

/** Gives the logger for code that runs outside of requests. */
export function processLog(): Log {
  return latest ?? usualLog()
}

/** Resolves when the lines so far were handed to the system; null stands for the logger of apps without the option. */
export async function flushLog(given: Log | null): Promise<void> {
  const log = given ?? usual
  if (log instanceof LineLog) await log.parts.destination.flush()
}
