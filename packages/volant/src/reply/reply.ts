/** Turns each kind of value that a handler may return into a reply. */
import { Readable } from 'node:stream'
import { ContentType } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { checkHeaderValue, engineHeaders } from './header.ts'
import { jsonFault, valueFault } from '../errors/json-fault.ts'
import { requestName } from './late-reply.ts'
import { bad } from '../options/bad-option.ts'
import { isDevelopment, warnOfLoss } from './lost-members.ts'
import { briefValue } from '../errors/brief-value.ts'
import { checkStatus } from './status.ts'
import { send } from './send.ts'
import { isGenerator, isIterator } from './source.ts'
import { sendGenerated, sendStream } from './stream-reply.ts'
import { isExpired, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import type { Source } from '../types/reply-options.ts'

/**
 * Replies with what a handler returned:
 *
 * | value | reply |
 * |---|---|
 * | undefined, null | 204 without body; the status set by `ctx.status`, if any |
 * | string | text/plain |
 * | object, array, number, boolean | JSON |
 * | Uint8Array, ArrayBuffer | application/octet-stream |
 * | `Blob` | streamed, with its type |
 * | `Response` | its status, headers and body |
 * | `ReadableStream`, `Readable`, (async) iterator | streamed |
 * | what a generator function gave | streamed, from its first chunk on |
 * | `Error` | as if thrown |
 *
 * Gives a promise where the reply is given later. Throws `E_ALREADY_REPLIED` for a second reply, unless it was not
 * `returned`: then that is only reported.
 *
 * `Map` and `Set` are refused (`E_NOT_SERIALISABLE`): JSON has no such thing, and would make `{}` of them.
 */
export function reply(ctx: RequestContext, value: unknown, returned = true): Promise<void> | void {
  if (ctx.phase > ReplyPhase.reopened && returned && !ctx.exchange.aborted && !isExpired(ctx)) {
    throw new VolantError(
      'E_ALREADY_REPLIED',
      `a handler or middleware of ${requestName(ctx)} returned ${briefValue(value)} after the request had its reply: either reply or return a value`,
    )
  }
  if (typeof value === 'string') return send(ctx, ContentType.text, value, undefined, 'text')
  if (value === undefined || value === null) return replyEmpty(ctx)
  if (typeof value !== 'object') return sendJson(ctx, value, undefined)
  const made = value.constructor
  if (made === Object || made === Array) return sendJson(ctx, value, undefined)
  if (value instanceof Uint8Array) return sendBytes(ctx, value, undefined)
  if (value instanceof Response) return sendResponse(ctx, value)
  if (value instanceof Error) throw value
  if (value instanceof ArrayBuffer) return sendBytes(ctx, new Uint8Array(value), undefined)
  if (returned && isGenerator(value)) return sendGenerated(ctx, value)
  if (value instanceof ReadableStream || value instanceof Readable || isIterator(value)) {
    return sendStream(ctx, value as Source, undefined)
  }
  if (value instanceof Blob) return sendBlob(ctx, value)
  return sendJson(ctx, value, undefined)
}

export function replyEmpty(ctx: RequestContext): void {
  send(ctx, ContentType.custom, null, ctx.statusCode === 0 ? 204 : ctx.statusCode, 'reply')
}

export function sendJson(ctx: RequestContext, value: unknown, status: number | undefined): void {
  // This comes before `send`, so that a value which cannot be serialised leaves the reply open for the error.
  const text =
    ctx.responses === null ? jsonText(ctx, value) : ctx.responses.jsonText(value, status ?? ctx.status())
  send(ctx, ContentType.json, text, status, 'json')
}

/** Gives a value as JSON. Throws `E_NOT_SERIALISABLE` for a value that JSON cannot carry. */
export function jsonText(ctx: RequestContext, value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw unserialisable(ctx, jsonFault(value), error)
  }
  // JSON.stringify writes `{}` for a Map, a promise and the like.
  const fault = text === undefined || text === '{}' ? valueFault(value) : null
  if (fault !== null) throw unserialisable(ctx, fault)
  if (isDevelopment && (text as string).includes('{}')) warnOfLoss(ctx, value)
  return text as string
}

/** Gives the error to throw. An error of the value itself, from a getter or toJSON, is thrown as it is. */
function unserialisable(ctx: RequestContext, fault: string | null, cause?: unknown): unknown {
  if (fault === null) return cause
  return new VolantError(
    'E_NOT_SERIALISABLE',
    `the reply of ${requestName(ctx)} cannot be written as JSON: ${fault}`,
    cause === undefined ? undefined : { cause },
  )
}

export function sendText(
  ctx: RequestContext,
  value: string,
  type: ContentType,
  status: number | undefined,
): void {
  const text = typeof value === 'string' ? value : String(value)
  send(ctx, type, text, status, type === ContentType.html ? 'html' : 'text')
}

export function sendBytes(ctx: RequestContext, value: Uint8Array, status: number | undefined): void {
  if (!(value instanceof Uint8Array)) {
    throw new VolantError(
      'E_NOT_SERIALISABLE',
      `ctx.bytes takes a Buffer or another Uint8Array, not ${briefValue(value)}, in ${requestName(ctx)}`,
    )
  }
  send(ctx, ContentType.bytes, value, status, 'bytes')
}

/** Sends a web `Response`. Its headers replace those of the context; Set-Cookie headers are added. */
function sendResponse(ctx: RequestContext, response: Response): void {
  if (response.bodyUsed) {
    throw new VolantError(
      'E_NOT_SERIALISABLE',
      `${requestName(ctx)} replied with a Response whose body was read before: make a new one, or read a clone()`,
    )
  }
  const status = checkStatus(response.status)
  for (const [name, value] of response.headers) {
    // A proxied Response carries the framing of the connection it came from.
    if (name === 'set-cookie' || engineHeaders.has(name)) continue
    ctx.header(name, value)
  }
  for (const cookie of response.headers.getSetCookie()) ctx.append('set-cookie', cookie)
  ctx.statusCode = status
  if (response.body !== null) return sendStream(ctx, response.body, { type: null })
  send(ctx, ContentType.custom, null, status, 'reply')
}

function sendBlob(ctx: RequestContext, blob: Blob): void {
  const type = blob.type === '' ? 'application/octet-stream' : blob.type
  sendStream(ctx, blob.stream() as Source, { type: ctx.hasType ? null : type, length: blob.size })
}

/** Gives a Location value. Characters that a URL may not have are escaped; control characters are refused. */
export function location(to: string): string {
  if (typeof to !== 'string')
    throw bad('redirect', to, 'a URL as text, for example /users or https://example.com/')
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(to)) return checkHeaderValue('location', to.replaceAll('\t', '\0'))
  return to.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(Buffer.from(text).toString()))
}
