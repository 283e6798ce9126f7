/** A logger that writes lines in pino's format. */
import { hostname } from 'node:os'
import type { Destination } from './destination.ts'
import type { Redaction } from './redact.ts'
import { errorText, inString, now, shortened } from './text.ts'
import { ValueWriter } from './value.ts'
import type { Log, LogLevel } from '../types/log.ts'
import { supervision } from '../worker/supervision.ts'

export const levels = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Infinity,
} as const
type Severity = 10 | 20 | 30 | 40 | 50 | 60

/** These names are the line's own: members with them are left out, so that no value takes their place. */
const ownNames = new Set(['level', 'time', 'pid', 'hostname', 'reqId', 'msg'])
/** A child may have the id of a request: those of the framework do. */
const namesOfChild = new Set([...ownNames].filter((name) => name !== 'reqId'))

/** What a logger and its children share. */
export interface LineLogParts {
  /** The least level that is written. */
  readonly least: number
  readonly destination: Destination
  readonly redaction: Redaction
}

export class LineLog implements Log {
  readonly parts: LineLogParts
  /** The constant members, and those of the children. */
  readonly #head: string

  constructor(parts: LineLogParts, head = processFields()) {
    this.parts = parts
    this.#head = head
  }

  trace(first: unknown, ...more: unknown[]): void {
    if (this.parts.least <= 10) this.#write(10, first, more)
  }

  debug(first: unknown, ...more: unknown[]): void {
    if (this.parts.least <= 20) this.#write(20, first, more)
  }

  info(first: unknown, ...more: unknown[]): void {
    if (this.parts.least <= 30) this.#write(30, first, more)
  }

  warn(first: unknown, ...more: unknown[]): void {
    if (this.parts.least <= 40) this.#write(40, first, more)
  }

  error(first: unknown, ...more: unknown[]): void {
    if (this.parts.least <= 50) this.#write(50, first, more)
  }

  fatal(first: unknown, ...more: unknown[]): void {
    if (this.parts.least > 60) return
    this.#write(60, first, more)
    void this.parts.destination.flush()
  }

  child(bindings: Record<string, unknown>): LineLog {
    const { secrets } = this.parts.redaction
    return new LineLog(this.parts, this.#head + new ValueWriter(secrets).members(bindings, namesOfChild))
  }

  isLevelEnabled(level: LogLevel): boolean {
    return levels[level] >= this.parts.least
  }

  #write(level: Severity, first: unknown, more: unknown[]): void {
    let rest: string
    try {
      rest = this.#rest(first, more)
    } catch {
      // A proxy threw, or the `toString` of a value.
      rest = ',"msg":"[Unreadable]"'
    }
    this.parts.destination.write(`{"level":${level},"time":${now()}${this.#head}${rest}}\n`)
  }

  #rest(first: unknown, more: readonly unknown[]): string {
    const { redaction } = this.parts
    const isText = typeof first === 'string'
    // With a text in front, everything behind it is a value.
    const [message, ...values] = isText ? [first, ...more] : more
    let text = message === undefined ? undefined : String(message)
    let line = ''
    let used = 0
    if (text !== undefined && values.length > 0) {
      text = text.replace(placeholder, (found) => {
        if (found === '%%') return '%'
        return used < values.length ? shown(values[used++], found, redaction) : found
      })
    }
    // `log.error('failed', error)`: an error that the message does not name would be lost.
    const given = isText ? values.slice(used).find(isError) : first
    if (isError(given)) {
      line += `,"err":${errorText(given)}`
      text ??= String(given.message)
    } else if (typeof given === 'object' && given !== null) {
      line += new ValueWriter(redaction.secrets).members(given, ownNames)
      text ??= messageIn(given)
    } else if (!isText && first !== undefined && text === undefined) text = shown(first, '%s', redaction)
    return text === undefined ? line : `${line},"msg":"${inString(shortened(text))}"`
  }
}

function processFields(): string {
  // It is asked for here and not when the module is loaded, which may be before the supervisor is known.
  const worker = supervision()?.worker
  if (worker !== undefined) for (const names of [ownNames, namesOfChild]) names.add('worker')
  const place = worker === undefined ? '' : `,"worker":${worker}`
  return `,"pid":${process.pid},"hostname":"${inString(hostname())}"${place}`
}

const placeholder = /%[sdifoOj%]/g

function shown(value: unknown, how: string, { secrets }: Redaction): string {
  try {
    if (typeof value === 'string') return value
    if (how === '%d' || how === '%f') return String(Number(value))
    if (how === '%i') return String(Math.trunc(Number(value)))
    return new ValueWriter(secrets).value(value) ?? String(value)
  } catch {
    return '[Unreadable]'
  }
}

function isError(value: unknown): value is Error {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}

/** An object may have the message as its member `msg`, as it may for pino. */
function messageIn(fields: object): string | undefined {
  const { msg } = fields as { msg?: unknown }
  return typeof msg === 'string' ? msg : undefined
}
