/** What goes in and out of a WebSocket: messages as they are, or values of the schemas `in` and `out` as JSON. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ReplyBody, type UndeclaredProperties } from '../contract/reply-body.ts'
import { briefValue } from '../errors/brief-value.ts'
import { HTTPError, VolantError } from '../errors/errors.ts'
import { jsonFault, valueFault } from '../errors/json-fault.ts'
import { parseJson } from '../request/json.ts'
import { issuesOf } from '../request/validation.ts'
import { isLater, issuesIn } from '../schema/result.ts'
import { standardOf } from '../schema/standard.ts'
import type { Schema } from '../types/parts.ts'
import type { InvalidMessage } from '../types/web-socket.ts'
import { shortReason } from './close-code.ts'

/** Reads messages by the schema `in`. It is compiled by the first message. */
export class MessageReader {
  readonly #where: string
  readonly #schema: Schema
  readonly #maxDepth: number
  #standard: StandardSchemaV1.Props | null = null

  constructor(where: string, schema: Schema, maxDepth: number) {
    this.#where = `${where}: in`
    this.#schema = schema
    this.#maxDepth = maxDepth
  }

  /** Gives what the schema makes of a message, or what is wrong with it. Throws `E_BAD_SCHEMA`. */
  read(message: string | Buffer): { readonly value: unknown } | { readonly problem: InvalidMessage } {
    if (typeof message !== 'string') return { problem: problemOf(1003, 'a message is text here', message) }
    let value: unknown
    try {
      value = parseJson(message, this.#maxDepth)
    } catch (error) {
      if (!(error instanceof HTTPError)) throw error
      return {
        problem: problemOf(1007, faults[error.code ?? ''] ?? 'the message is not valid JSON', message),
      }
    }
    const standard = (this.#standard ??= standardOf(this.#schema, this.#where))
    const result = standard.validate(value)
    if (isLater(result)) {
      result.then(undefined, () => {})
      throw new VolantError(
        'E_BAD_SCHEMA',
        `${this.#where} answers with a promise, and messages have to stay in their order: check what takes time in the hook message`,
      )
    }
    const issues = issuesIn(result, standard, this.#where)
    if (issues === null) return { value: (result as StandardSchemaV1.SuccessResult<unknown>).value }
    const found = issuesOf('message', issues, [])
    return { problem: problemOf(1008, reasonOf(found), message, found) }
  }
}

/** Names the first fault, since the reason of the close is all that the client gets to see. */
function reasonOf([first]: InvalidMessage['issues']): string {
  const reason = 'the message is not what its schema asks for'
  return first === undefined ? reason : shortReason(`${reason}: ${first.pointer} ${first.detail}`)
}

const faults: Readonly<Record<string, string>> = {
  E_JSON_DEPTH: 'the message is nested too deeply',
  E_JSON_PROTO: 'the message has a key named __proto__',
}

function problemOf(
  code: InvalidMessage['code'],
  reason: string,
  message: string | Buffer,
  issues: InvalidMessage['issues'] = [],
): InvalidMessage {
  return { code, reason, issues, message }
}

/** Gives what is sent for a message. Throws where it is none. */
export interface MessageWriter {
  write(message: unknown): string | Uint8Array
  /** Gives a value as JSON. */
  json(value: unknown): string
}

/** Gives the writer of a route: by the schema `out`, or of texts and bytes without one. */
export function messageWriter(
  where: string,
  out: Schema | null,
  undeclared: UndeclaredProperties,
): MessageWriter {
  if (out === null) return plain
  const body = new ReplyBody(`a message of ${where}`, out, undeclared)
  const json = (value: unknown): string => body.textOf(body.checkNow(value))
  return { write: json, json }
}

const plain: MessageWriter = {
  write: (message) => {
    checkMessage(message)
    return message
  },
  json: (value) => {
    let text: string | undefined
    try {
      text = JSON.stringify(value)
    } catch (error) {
      throw unserialisable(jsonFault(value), error)
    }
    const fault = text === undefined || text === '{}' ? valueFault(value) : null
    if (fault !== null) throw unserialisable(fault)
    return text as string
  },
}

/** Throws `E_SOCKET_MESSAGE` for anything but text and bytes. */
export function checkMessage(message: unknown): asserts message is string | Uint8Array {
  if (typeof message === 'string' || message instanceof Uint8Array) return
  throw new VolantError(
    'E_SOCKET_MESSAGE',
    `a message is a string or a Uint8Array, not ${briefValue(message)}: ws.json(value) sends a value as JSON, publish takes JSON.stringify(value), and a route with the schema \`out\` takes values of it`,
  )
}

function unserialisable(fault: string | null, cause?: unknown): unknown {
  if (fault === null) return cause
  return new VolantError('E_NOT_SERIALISABLE', `a message cannot be written as JSON: ${fault}`, { cause })
}
