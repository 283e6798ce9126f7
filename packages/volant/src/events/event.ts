/** Writes a server-sent event: the fields of WHATWG HTML §9.2.6, and nothing of streams. */
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'
import { jsonFault, valueFault } from '../errors/json-fault.ts'
import type { EncodedEvent, ServerSentEvent } from '../types/events.ts'

/** A comment without text, which keeps a quiet connection open. */
export const heartbeat = ':\n\n'

/**
 * Gives the text of an event. An object that has `data`, `comment` or `retry`, and no member but those of
 * `ServerSentEvent`, is an event; any other value is the data of one. Throws `E_BAD_EVENT` for a field that cannot be
 * sent, and `E_NOT_SERIALISABLE` for data that JSON cannot carry.
 */
export function eventText(value: unknown): string {
  if (typeof value === 'string') return `${dataLines(value)}\n`
  if (!isEvent(value)) return `data: ${jsonOf(value)}\n\n`
  const { data, event, id, retry, comment } = value
  let text = ''
  if (comment !== undefined) text += lines(':', checkString('comment', comment))
  if (retry !== undefined) text += `retry: ${checkRetry(retry)}\n`
  if (id !== undefined) text += `id: ${checkId(id)}\n`
  if (event !== undefined && event !== '') text += `event: ${checkLine('event', event)}\n`
  if (data !== undefined) text += typeof data === 'string' ? dataLines(data) : `data: ${jsonOf(data)}\n`
  return `${text}\n`
}

/**
 * Gives the bytes of an event, for `stream.send` of many streams: it is written once, and not once for each of them.
 * Throws as `stream.send` does.
 */
export function encodeEvent(event: unknown): EncodedEvent {
  return new EventBytes(Buffer.from(event instanceof EventBytes ? event.bytes : eventText(event)))
}

/** Gives what a stream sends for a value: bytes that were made before, or a text. */
export function chunkOf(value: unknown): string | Uint8Array {
  return value instanceof EventBytes ? value.bytes : eventText(value)
}

class EventBytes implements EncodedEvent {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

const fields = new Set(['data', 'event', 'id', 'retry', 'comment'])

function isEvent(value: unknown): value is ServerSentEvent {
  if (typeof value !== 'object' || value === null) return false
  const { data, comment, retry } = value as ServerSentEvent
  if (data === undefined && comment === undefined && retry === undefined) return false
  for (const name in value) if (!fields.has(name)) return false
  return true
}

/** A browser ends a line at CR, LF or CRLF, and joins the lines of `data` with LF. */
const lineBreak = /\r\n|\r|\n/

function dataLines(text: string): string {
  return text.includes('\n') || text.includes('\r') ? lines('data:', text) : `data: ${text}\n`
}

function lines(prefix: string, text: string): string {
  return text
    .split(lineBreak)
    .map((line) => `${prefix} ${line}\n`)
    .join('')
}

/** JSON writes line breaks as escapes, so its text is one line. */
function jsonOf(value: unknown): string {
  if (value instanceof Uint8Array)
    throw unserialisable('it is bytes, and events are text: write them in base64')
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    const fault = jsonFault(value)
    throw fault === null ? error : unserialisable(fault, error)
  }
  if (text === undefined)
    throw unserialisable(typeof value === 'undefined' ? 'it is undefined' : `it is a ${typeof value}`)
  const fault = text === '{}' ? valueFault(value) : null
  if (fault !== null) throw unserialisable(fault)
  return text
}

function unserialisable(fault: string, cause?: unknown): VolantError {
  return new VolantError(
    'E_NOT_SERIALISABLE',
    `the data of a server-sent event cannot be written as JSON: ${fault}`,
    cause === undefined ? undefined : { cause },
  )
}

function checkString(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new VolantError(
    'E_BAD_EVENT',
    `the ${name} of a server-sent event is a text, not ${briefValue(value)}, so the event was not sent`,
  )
}

function checkLine(name: string, value: unknown): string {
  const text = checkString(name, value)
  if (!text.includes('\n') && !text.includes('\r')) return text
  throw new VolantError(
    'E_BAD_EVENT',
    `the ${name} of a server-sent event has a line break, which would begin another field, so the event was not sent: ${briefValue(text)}. Take it out, or send it in data`,
  )
}

function checkId(value: unknown): string {
  const text = checkLine('id', typeof value === 'number' ? String(value) : value)
  if (!text.includes('\0')) return text
  throw new VolantError(
    'E_BAD_EVENT',
    `the id of a server-sent event has a NUL, for which browsers ignore it, so the event was not sent: ${briefValue(text)}. Take it out`,
  )
}

/** Checks `retry`, of which browsers take digits alone. */
function checkRetry(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new VolantError(
    'E_BAD_EVENT',
    `retry of a server-sent event is a whole number of milliseconds, not ${briefValue(value)}, so the event was not sent`,
  )
}
