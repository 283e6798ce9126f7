/** Writes log lines in pino's format. What a line has is compiled once for each logger. */
// pino costs 27,000 instructions for a logged request, this 6,772 (`node lab/libraries.mjs logged`).
import { hostname } from 'node:os'
import { errorText, inString, milliseconds, now, safe } from '../log/text.ts'
import { queryReader, type Redaction } from '../log/redact.ts'
import { censored } from '../log/secrets.ts'
import { ValueWriter } from '../log/value.ts'
import { traceFields } from '../log/trace-fields.ts'
import type { RequestContext, TraceIds } from '../types/request.ts'
import type { ResponseInfo } from '../types/declaration.ts'

/** The fields that a line can have beside its level and message. */
export type LogField =
  | 'time'
  | 'pid'
  | 'hostname'
  | 'reqId'
  | 'method'
  | 'url'
  | 'route'
  | 'httpVersion'
  | 'remoteAddress'
  | 'statusCode'
  | 'responseTime'

/** Lists all fields, and those that lines have by default. */
export const allFields =
  'time pid hostname reqId method url remoteAddress statusCode responseTime route httpVersion'.split(
    ' ',
  ) as LogField[]
export const usualFields = allFields.slice(0, -2)

export interface LineOptions {
  readonly fields: readonly LogField[]
  /** The request headers in lower case. */
  readonly headers: readonly string[]
  readonly redaction: Redaction
  readonly props: ((ctx: RequestContext, info: ResponseInfo) => Record<string, unknown> | undefined) | null
}

/** A request that is over. */
export interface Entry {
  readonly ctx: RequestContext
  readonly info: ResponseInfo
  readonly level: 30 | 40 | 50
  readonly message: string
  /** The error; undefined if the line has none. */
  readonly error: unknown
}

type Read = (ctx: RequestContext, info: ResponseInfo) => unknown
type Write = (ctx: RequestContext, info: ResponseInfo) => string

/** A value of the request, and where it stands in a line and in the object that other loggers are given. */
interface Member {
  readonly under: 'req' | 'res' | null
  readonly name: LogField | 'headers'
  readonly read: Read
  /** Gives the value as JSON, without the quotes of a string. */
  readonly write: Write
  readonly quote: '"' | ''
  /** The values are few, or come again soon: each is kept with the constant text around it. */
  readonly few?: boolean
}

/** A part of a line: constant text, or what a request adds. A kept part has the constant texts beside it, too. */
type Part = string | { readonly write: Write; readonly key: Read | null }

export class LogLine {
  /** What each line is made of, in order, behind its level. */
  readonly #writers: readonly Write[]
  readonly #members: readonly Member[]
  readonly #props: LineOptions['props']
  readonly #redaction: Redaction

  constructor({ fields, headers, redaction, props }: LineOptions) {
    this.#props = props
    this.#redaction = redaction
    const parts: Part[] = []
    if (fields.includes('time')) parts.push(',"time":', { write: now, key: now })
    if (fields.includes('pid')) parts.push(`,"pid":${process.pid}`)
    if (fields.includes('hostname')) parts.push(`,"hostname":${JSON.stringify(hostname())}`)
    this.#members = membersOf(headers, redaction).filter(
      ({ name }) => name === 'headers' || fields.includes(name),
    )
    let open: Member['under'] = null
    for (const { under, name, write, read, quote, few } of this.#members) {
      if (open !== null && under !== open) parts.push('}')
      parts.push(under === open || under === null ? ',' : `,"${under}":{`)
      parts.push(`"${name}":${quote}`, { write, key: few === true ? read : null }, quote)
      open = under
    }
    if (open !== null) parts.push('}')
    this.#writers = fused(parts)
  }

  // This code runs for every request that is logged.
  text({ ctx, info, level, message, error }: Entry): string {
    const writers = this.#writers
    let line = level === 30 ? '{"level":30' : `{"level":${level}`
    for (let at = 0; at < writers.length; at++) line += (writers[at] as Write)(ctx, info)
    const ids = ctx.rare?.trace?.ids
    if (ids != null) line += traceText(ids)
    if (error !== undefined) line += `,"err":${errorText(error)}`
    if (this.#props !== null) line += this.#moreText(ctx, info)
    return line + (endings.get(message) ?? ending(message))
  }

  /** Gives the fields as an object, for loggers that write lines themselves; these add level, time and process. */
  record({ ctx, info, error }: Entry): Record<string, unknown> {
    const record: Record<string, unknown> = {}
    for (const { under, name, read } of this.#members) {
      const parent = under === null ? record : ((record[under] ??= {}) as Record<string, unknown>)
      parent[name] = read(ctx, info)
    }
    const ids = ctx.rare?.trace?.ids
    if (ids != null) Object.assign(record, traceFields(ids))
    if (error !== undefined) record['err'] = error
    const props = this.#more(ctx, info)
    for (const key of own(props)) record[key] = props?.[key]
    return record
  }

  /** Gives what the option `props` adds. If it fails, the line has everything else. */
  #more(ctx: RequestContext, info: ResponseInfo): Record<string, unknown> | undefined {
    try {
      return this.#props?.(ctx, info)
    } catch (error) {
      ctx.app.report(error, ctx)
      return undefined
    }
  }

  #moreText(ctx: RequestContext, info: ResponseInfo): string {
    const props = this.#more(ctx, info)
    if (typeof props !== 'object' || props === null) return ''
    return new ValueWriter(this.#redaction.secrets).members(props, reserved)
  }
}

/** Joins neighbours: V8 makes an object for each part that a line is joined of, and takes them apart again to write it. */
function fused(parts: readonly Part[]): Write[] {
  const writers: Write[] = []
  for (let at = 0; at < parts.length;) {
    const before = textFrom(parts, at)
    at += before.count
    const part = parts[at++]
    if (part === undefined || typeof part === 'string') {
      if (before.text !== '') writers.push(() => before.text)
    } else if (part.key === null) {
      if (before.text !== '') writers.push(() => before.text)
      writers.push(part.write)
    } else {
      const after = textFrom(parts, at)
      at += after.count
      writers.push(kept(before.text, part.write, after.text, part.key))
    }
  }
  return writers
}

function textFrom(parts: readonly Part[], from: number): { text: string; count: number } {
  let text = ''
  let at = from
  for (; typeof parts[at] === 'string'; at++) text += parts[at] as string
  return { text, count: at - from }
}

const endings = new Map<string, string>()

function ending(message: string): string {
  const text = `,"msg":"${message}"}\n`
  endings.set(message, text)
  return text
}

/** The ids are hexadecimal: there is nothing to escape. */
function traceText(ids: TraceIds): string {
  const { trace_id, span_id, trace_flags } = traceFields(ids)
  return `,"trace_id":"${trace_id}","span_id":"${span_id}","trace_flags":"${trace_flags}"`
}

/** Gives all members in the order of a line. */
function membersOf(headers: readonly string[], redaction: Redaction): readonly Member[] {
  const query = queryReader(redaction)
  const ip = redaction.remoteAddress ? () => censored : (ctx: RequestContext) => ctx.ip
  // The framework made the id, or `requestId` found it sound: there is nothing to escape.
  const id: Write = (ctx) => ctx.id
  const method: Write = (ctx) => ctx.method
  // The texts are looked at one by one, since joining them first would copy them.
  const url: Write = (ctx) => {
    const path = inString(ctx.path)
    return ctx.exchange.query === '' ? path : path + inString(query(ctx))
  }
  const status: Write = (_, info) => String(info.status)
  const time: Write = (_, info) => milliseconds(info.duration)
  return [
    { under: null, name: 'reqId', read: id, write: id, quote: '"' },
    { under: 'req', name: 'method', read: method, write: method, quote: '"', few: true },
    { under: 'req', name: 'url', read: (ctx) => ctx.path + query(ctx), write: url, quote: '"' },
    text('route', (ctx) => ctx.pattern ?? ''),
    text('httpVersion', (ctx) => ctx.httpVersion),
    { ...text('remoteAddress', ip), few: true },
    ...(headers.length === 0 ? [] : [headersMember(headers, redaction)]),
    { under: 'res', name: 'statusCode', read: (_, info) => info.status, write: status, quote: '', few: true },
    { under: null, name: 'responseTime', read: (...of) => Number(time(...of)), write: time, quote: '' },
  ]
}

function text(name: LogField, read: (ctx: RequestContext) => string): Member {
  return { under: 'req', name, read, write: (ctx) => inString(read(ctx)), quote: '"' }
}

/** As many texts are kept at most: addresses are many, but come again soon. */
const mostKept = 1_000

function kept(before: string, write: Write, after: string, key: Read): Write {
  const texts = new Map<unknown, string>()
  let lastKey: unknown
  let last: string | undefined
  return (ctx, info) => {
    const value = key(ctx, info)
    if (value === lastKey && last !== undefined) return last
    let text = texts.get(value)
    if (text === undefined) {
      if (texts.size === mostKept) texts.clear()
      texts.set(value, (text = before + write(ctx, info) + after))
    }
    lastKey = value
    last = text
    return text
  }
}

function headersMember(names: readonly string[], { headers, secrets }: Redaction): Member {
  const redacted = new Set(names.filter((name) => headers.has(name) || secrets.has(name)))
  const read = (ctx: RequestContext): Record<string, string> => {
    // A schema may have replaced `ctx.headers`.
    const all = ctx.exchange.headers()
    const chosen: [string, string][] = []
    for (const name of names) {
      const value = all[name]
      if (value !== undefined) chosen.push([name, redacted.has(name) ? censored : value])
    }
    return Object.fromEntries(chosen)
  }
  return { under: 'req', name: 'headers', read, write: (ctx) => safe(JSON.stringify(read(ctx))), quote: '' }
}

/** The last one would become the prototype of the object that other loggers are given. */
const reserved = new Set('level time pid hostname reqId req res responseTime err msg __proto__'.split(' '))

/** Gives the names that are not the line's own. */
function own(props: Record<string, unknown> | undefined): string[] {
  if (typeof props !== 'object' || props === null) return []
  return Object.keys(props).filter((key) => !reserved.has(key))
}
