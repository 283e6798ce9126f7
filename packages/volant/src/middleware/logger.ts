/** `logger()` writes a line of JSON for every request, as pino does. */
import type { Context } from '../types/context.ts'
import { HTTPError, VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { observer } from '../dispatch/declare.ts'
import { isThenable } from '../types/thenable.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import { complainOnce, type Destination, type LogStream, openDestination } from '../log/destination.ts'
import { LineLog } from '../log/line-log.ts'
import { allFields, type Entry, type LogField, LogLine, usualFields } from './log-line.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { ignoring } from '../options/ignored-requests.ts'
import { checkChoice, checkEach, checkFunction, checkNames } from '../options/checks.ts'
import { checkFieldName } from './header-option.ts'
import { type Redaction, redactionOf } from '../log/redact.ts'
import type { Log } from '../types/log.ts'
import type { RequestContext } from '../types/request.ts'
import type { ResponseInfo, ResponseListener } from '../types/declaration.ts'

/** A logger such as pino, which takes an object and a message. */
export interface EventLogger {
  /** Logs replies below 400. */
  info(event: object, message: string): unknown
  /** Logs replies from 400 on, and requests whose client disconnected. */
  warn(event: object, message: string): unknown
  /** Logs replies from 500 on, and those that broke off. */
  error(event: object, message: string): unknown
}

/** The options of `logger`: what is logged, how much of it, and where. */
export interface LoggerOptions {
  /** The least level that is logged: `info` for all replies, `warn` from 400, `error` from 500 on. Default `info`. */
  level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined
  /**
   * A file to append to, or anything with `write(line)`. Default: where the app's option `log` writes, which is standard
   * output, in the background.
   */
  destination?: string | LogStream | undefined
  /** The logger that is given an object for each request, in place of written lines: `logger({ logger: pino() })`. */
  logger?: EventLogger | undefined
  /** The fields of a line, beside level and message. Default: all but `route` and `httpVersion`. */
  fields?: readonly LogField[] | undefined
  /** The request headers to log. Default none. */
  headers?: readonly string[] | undefined
  /**
   * The values that are kept out of lines: `req.headers.NAME`, `req.query.NAME`, `req.remoteAddress`. Authorization,
   * cookies, passwords, tokens and keys are kept out anyway, unless this is false. Default: those of the app's option
   * `log`.
   */
  redact?: readonly string[] | false | undefined
  /** Gives members to add to each line; those with the line's own names are left out. */
  props?: ((ctx: Context, info: ResponseInfo) => Record<string, unknown> | undefined) | undefined
  /** The part of the requests that is logged, from 0 to 1, or a function that decides. Level `error` always is. */
  sample?: number | ((ctx: Context, info: ResponseInfo) => boolean) | undefined
  /** The requests that are never logged: paths, or a function that decides. */
  ignore?: readonly string[] | ((ctx: Context, info: ResponseInfo) => boolean) | undefined
}

const levels = { trace: 30, debug: 30, info: 30, warn: 40, error: 50, silent: Infinity } as const

/**
 * Logs every request of its scope when its reply is complete:
 *
 *     app.use(logger())
 *     // {"level":30,"time":…,"pid":…,"hostname":"…","reqId":"…","req":{"method":"GET","url":"/","remoteAddress":"…"},
 *     //  "res":{"statusCode":200},"responseTime":0.12,"msg":"request completed"}
 *
 * Replies from 400 on have level 40, those from 500 on level 50 and the error in `err`. If the client disconnects, the
 * message is "request aborted". Lines are gathered for at most 50 ms, and written when the app closes and when the
 * process exits. Without a destination they are those of the app's logger, `app.log`. To read them, `node app.js | npx pino-pretty`. The app reports unexpected errors, too: see its option
 * `report`. If the destination fails, stderr says so once, and no request fails. Throws `E_BAD_OPTION`.
 */
export function logger(options: LoggerOptions = {}): FittingMiddleware {
  checkNames('logger', options, optionNames, foreignNames.logger)
  const { level = 'info', props, destination, logger: events, fields = usualFields, headers = [] } = options
  checkChoice<string>('logger: level', level, Object.keys(levels))
  checkFunction('logger: props', props)
  if (events !== undefined && destination !== undefined) {
    throw bad('logger: destination', destination, 'nothing beside logger, which has its own')
  }
  const parts = {
    fields: checkEach('logger: fields', fields, 'an array of names', checkField),
    headers: checkEach('logger: headers', headers, 'an array of header names', checkFieldName),
    props:
      (props as ((ctx: RequestContext, info: ResponseInfo) => Record<string, unknown>) | undefined) ?? null,
  }
  const redaction = redactionOf(options.redact)
  const least = levels[level]
  const ignores: Test | null =
    options.ignore === undefined ? null : ignoring('logger: ignore', options.ignore)
  const takes = sampler(options.sample)
  const lineOf = (apps: Redaction): LogLine =>
    new LogLine({ ...parts, redaction: options.redact === undefined ? apps : redaction })
  const sinkOf = (log: Log): Sink => {
    if (!(log instanceof LineLog)) return toLogger(lineOf(redaction), log)
    return toStream(lineOf(log.parts.redaction), log.parts.destination, log.parts.least)
  }
  const own =
    events !== undefined
      ? toLogger(lineOf(redaction), checkEvents(events))
      : destination === undefined
        ? null
        : toStream(lineOf(redaction), openDestination(destination))
  let known: { readonly log: Log; readonly sink: Sink } | null = null
  const sinkFor = ({ app: { log } }: RequestContext): Sink => {
    if (known?.log !== log) known = { log, sink: sinkOf(log) }
    return known.sink
  }
  const listener: ResponseListener = (given, info) => {
    const ctx = given as unknown as RequestContext
    const error = loggableError(info)
    const severity = severityOf(info, error)
    const sink = own ?? sinkFor(ctx)
    if (severity < least || severity < sink.least || (ignores !== null && ignores(ctx, info))) return
    if (takes !== null && severity < 50 && !takes(ctx, info)) return
    const message = info.aborted
      ? 'request aborted'
      : severity === 50
        ? 'request errored'
        : 'request completed'
    sink.log({ ctx, info, level: severity, message, error })
  }
  return observer(listener, own?.flush)
}

const optionNames = [
  'level',
  'destination',
  'logger',
  'fields',
  'headers',
  'redact',
  'props',
  'sample',
  'ignore',
] as const

interface Sink {
  /** The least level that it takes. */
  readonly least: number
  log(entry: Entry): void
  flush?: () => unknown
}

function toStream(line: LogLine, destination: Destination, least = 0): Sink {
  return {
    least,
    log: (entry) => destination.write(line.text(entry)),
    flush: () => destination.flush(),
  }
}

function toLogger(line: LogLine, events: EventLogger): Sink {
  const complain = complainOnce('the logger given to logger() failed')
  return {
    least: 0,
    log(entry) {
      const event = line.record(entry)
      try {
        const taken = logTo(events, entry, event)
        if (isThenable(taken)) taken.then(undefined, complain)
      } catch (error) {
        complain(error)
      }
    },
  }
}

function logTo(events: EventLogger, { level, message }: Entry, event: object): unknown {
  if (level === 30) return events.info(event, message)
  return level === 40 ? events.warn(event, message) : events.error(event, message)
}

/** A line shows unexpected errors, and those behind a reply from 500 on. */
function loggableError({ error, status, aborted }: ResponseInfo): unknown {
  if (error === undefined) return undefined
  if (error instanceof HTTPError && status < 500) return undefined
  // Work that is aborted when the client disconnects fails; nothing is wrong with the server.
  if (aborted && ((error as Error)?.name === 'AbortError' || (error as VolantError)?.code === 'E_ABORTED'))
    return undefined
  return error
}

function severityOf({ status, aborted }: ResponseInfo, error: unknown): 30 | 40 | 50 {
  if (status >= 500 || (error !== undefined && (status < 400 || aborted))) return 50
  return status >= 400 || aborted ? 40 : 30
}

function checkEvents(events: unknown): EventLogger {
  for (const name of ['info', 'warn', 'error'] as const) {
    if (typeof (events as EventLogger | null)?.[name] !== 'function') {
      throw bad('logger: logger', events, 'something with info(), warn() and error()')
    }
  }
  return events as EventLogger
}

function checkField(option: string, name: unknown): LogField {
  return checkChoice(option, name, allFields)
}

type Test = (ctx: RequestContext, info: ResponseInfo) => boolean

function sampler(given: LoggerOptions['sample']): Test | null {
  if (given === undefined || given === 1) return null
  if (typeof given === 'function') return (ctx, info) => given(ctx as Context, info)
  if (typeof given !== 'number' || !(given >= 0 && given < 1)) {
    throw bad('logger: sample', given, 'a number from 0 to 1, or a function')
  }
  return () => Math.random() < given
}
