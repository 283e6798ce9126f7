/**
 * Declared replies: what a handler gives is checked by the schema of its status, and only what the schema names is sent.
 * Nothing of a schema is compiled before the first reply of its status.
 */
import { Readable } from 'node:stream'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ContentType } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { jsonFault, valueFault } from '../errors/json-fault.ts'
import { endReply, replyEmpty, sendText } from '../reply/reply.ts'
import { issueSummary } from './response-issues.ts'
import { refuseCodecs } from '../schema/refuse-parts.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { isLater, issuesIn } from '../schema/result.ts'
import { standardOf } from '../schema/standard.ts'
import { type Preparation, preparationOf } from '../schema/strip-plan.ts'
import { type Serializer, serializerFor } from '../schema/serializer.ts'
import { undeclared } from '../schema/strip.ts'
import { Unwritable } from '../schema/to-json.ts'
import { isIterator } from '../reply/stream-reply.ts'
import { isThenable } from '../types/thenable.ts'
import type { Responses, Schema } from '../types/parts.ts'
import type { DeclaredReplies, RequestContext } from '../types/request.ts'

/**
 * What becomes of properties of a reply that its schema does not name: `strip` leaves them out; with `throw` the reply is
 * a 500, `E_RESPONSE_UNDECLARED`, and what is reported names them. Default `throw`, and `strip` where NODE_ENV
 * is `production`.
 */
export type UndeclaredProperties = 'strip' | 'throw'

type Result = StandardSchemaV1.Result<unknown>

/** One declared body. */
export class Reply {
  readonly #where: string
  readonly #schema: Schema
  readonly #undeclared: UndeclaredProperties
  #standard: StandardSchemaV1.Props | null = null
  #preparation: Preparation | null = null
  #serialize: Serializer | null = null

  /** `where` names the route and the reply in errors. */
  constructor(where: string, schema: Schema, undeclaredProperties: UndeclaredProperties) {
    this.#where = where
    this.#schema = schema
    this.#undeclared = undeclaredProperties
  }

  /**
   * What the schema makes of `value`, or a promise of it. Throws `E_RESPONSE_INVALID`, `E_RESPONSE_UNDECLARED`,
   * `E_NOT_SERIALISABLE`.
   */
  check(value: unknown): unknown {
    const standard = (this.#standard ??= this.#standardOf())
    const { prepare } = (this.#preparation ??= preparationOf(this.#schema, standard))
    let result: Result | Promise<Result>
    try {
      if (this.#undeclared === 'throw') this.#refuseUndeclared(value)
      result = standard.validate(prepare === null ? value : prepare(value))
    } catch (error) {
      throw this.#unchecked(value, error)
    }
    if (!isLater(result)) return this.#accept(result, standard)
    return Promise.resolve(result).then(
      (settled: Result) => this.#accept(settled, standard),
      (error: unknown) => {
        throw this.#unchecked(value, error)
      },
    )
  }

  #standardOf(): StandardSchemaV1.Props {
    refuseCodecs(this.#schema, this.#where)
    return standardOf(this.#schema, this.#where, 'response')
  }

  /** `check` where nobody can wait. Throws `E_BAD_SCHEMA` for a schema that is asynchronous. */
  checkNow(value: unknown): unknown {
    const checked = this.check(value)
    if (!(checked instanceof Promise)) return checked
    checked.then(undefined, () => {})
    throw new VolantError(
      'E_BAD_SCHEMA',
      `${this.#where}: its schema is asynchronous, and only a returned value is waited for`,
    )
  }

  /** A checked value as JSON text. Throws `E_NOT_SERIALISABLE`. */
  textOf(checked: unknown): string {
    const serialize = (this.#serialize ??= this.#serializer())
    let text: string | undefined
    try {
      text = serialize(checked)
    } catch (error) {
      throw this.#unserialisable(jsonFault(checked), error)
    }
    const fault = text === undefined || text === '{}' ? valueFault(checked) : null
    if (fault !== null) throw this.#unserialisable(fault)
    return text
  }

  /** Checked, and without what the schema does not name. */
  copyOf(value: unknown): unknown {
    const checked = this.checkNow(value)
    return checked === undefined ? undefined : JSON.parse(this.textOf(checked))
  }

  #serializer(): Serializer {
    const described = jsonSchemaOf(this.#schema, 'output')
    const alreadyStripped = this.#preparation?.alreadyStripped ?? false
    return serializerFor('schema' in described ? described.schema : null, { alreadyStripped })
  }

  #refuseUndeclared(value: unknown): void {
    const described = jsonSchemaOf(this.#schema, 'input')
    const found = 'schema' in described ? undeclared(value, described.schema) : null
    if (found === null) return
    const { pointers, more } = found
    const them = pointers.length + more === 1 ? 'it' : 'them'
    const names = pointers.map(nameOf).join(', ') + (more > 0 ? ` and ${more} more` : '')
    throw new VolantError(
      'E_RESPONSE_UNDECLARED',
      `${this.#where} does not declare ${names}: declare ${them}, or leave ${them} out; in production ${them === 'it' ? 'it' : 'they'} would not be sent`,
    )
  }

  #accept(result: Result, standard: StandardSchemaV1.Props): unknown {
    const issues = issuesIn(result, standard, this.#where)
    if (issues === null) return (result as StandardSchemaV1.SuccessResult<unknown>).value
    throw new VolantError(
      'E_RESPONSE_INVALID',
      `${this.#where} is not what its schema says: ${issueSummary(issues, standard.vendor)}`,
    )
  }

  /** Whoever walks a value that is a cycle, or too deep, fails before JSON does. */
  #unchecked(value: unknown, error: unknown): unknown {
    const isDeep = error instanceof RangeError && error.message.includes('call stack')
    if (!isDeep && !(error instanceof Unwritable)) return error
    return this.#unserialisable(jsonFault(value) ?? (isDeep ? 'it is nested too deeply' : null), error)
  }

  #unserialisable(fault: string | null, cause?: unknown): unknown {
    if (fault === null) return cause
    return new VolantError('E_NOT_SERIALISABLE', `${this.#where} cannot be written as JSON: ${fault}`, {
      cause,
    })
  }
}

/** Characters of the place of an undeclared property. */
const longest = 200

function nameOf(pointer: string): string {
  return `#${pointer.length > longest ? `${pointer.slice(0, longest)}…` : pointer}`
}

/** The declared replies of a route. */
export class ResponsePlan implements DeclaredReplies {
  readonly #where: string
  readonly #responses: Responses
  readonly #undeclared: UndeclaredProperties
  readonly #replies = new Map<number, Reply | null>()

  constructor(where: string, responses: Responses, undeclaredProperties: UndeclaredProperties) {
    this.#where = where
    this.#responses = responses
    this.#undeclared = undeclaredProperties
  }

  has(status: number): boolean {
    return Object.hasOwn(this.#responses, status)
  }

  /** Null where the status has no content. Throws `E_RESPONSE_STATUS` for one that is not declared. */
  replyOf(status: number): Reply | null {
    const known = this.#replies.get(status)
    if (known !== undefined) return known
    const schema = this.has(status) ? this.#responses[status] : undefined
    if (schema === undefined) {
      const declared = Object.keys(this.#responses).join(', ')
      throw new VolantError(
        'E_RESPONSE_STATUS',
        `${this.#where} replies with status ${status} but declares ${declared}: ctx.reply(status, value) names one`,
      )
    }
    const reply =
      schema === null
        ? null
        : new Reply(`the reply of ${this.#where} with status ${status}`, schema, this.#undeclared)
    this.#replies.set(status, reply)
    return reply
  }

  jsonText(value: unknown, status: number): string {
    const reply = this.replyOf(status)
    return reply === null ? this.refuseContent(status, false) : reply.textOf(reply.checkNow(value))
  }

  text(value: string, status: number): string {
    const reply = this.replyOf(status)
    if (reply === null) return this.refuseContent(status, false)
    const checked = reply.checkNow(value)
    return typeof checked === 'string' ? checked : reply.textOf(checked)
  }

  reply(ctx: RequestContext, status: number, value: unknown): void {
    const reply = this.replyOf(status)
    if (reply === null) {
      if (value !== undefined && value !== null) this.refuseContent(status, false)
      replyEmpty(ctx)
    } else {
      if (value === undefined) this.refuseContent(status, true)
      send(ctx, reply, reply.checkNow(value))
    }
  }

  /** Throws `E_RESPONSE_STATUS`: content where none is declared, or none where some is. */
  refuseContent(status: number, expected: boolean): never {
    throw new VolantError(
      'E_RESPONSE_STATUS',
      expected
        ? `${this.#where} declares a value for status ${status} and gave none`
        : `${this.#where} declares status ${status} without content and gave a value`,
    )
  }
}

/** `handler`, whose replies have this type unless it sets another. */
export function typedAs(
  mediaType: string,
  handler: (ctx: RequestContext) => unknown,
): (ctx: RequestContext) => unknown {
  return (ctx) => {
    if (!ctx.hasType) ctx.header('content-type', mediaType)
    return handler(ctx)
  }
}

/** `handler` under the contract of its route: what it returns is checked, and so is what it replies with by itself. */
export function underContract(
  handler: (ctx: RequestContext) => unknown,
  plan: ResponsePlan,
): (ctx: RequestContext) => unknown {
  return (ctx) => {
    ctx.responses = plan
    let value: unknown
    try {
      value = handler(ctx)
    } catch (error) {
      return release(ctx, error)
    }
    if (!isThenable(value)) return giveOrRelease(ctx, plan, value)
    // Promises of other libraries may call back more than once.
    const promise = value instanceof Promise ? (value as Promise<unknown>) : Promise.resolve(value)
    return promise.then(
      (settled) => giveOrRelease(ctx, plan, settled),
      (error: unknown) => release(ctx, error),
    )
  }
}

function giveOrRelease(ctx: RequestContext, plan: ResponsePlan, value: unknown): unknown {
  try {
    return give(ctx, plan, value)
  } catch (error) {
    return release(ctx, error)
  }
}

/** A middleware that catches the error replies for itself: the contract was the handler's. */
function release(ctx: RequestContext, error: unknown): never {
  ctx.responses = null
  throw error
}

function give(ctx: RequestContext, plan: ResponsePlan, value: unknown): unknown {
  // Whoever replies twice, or too late, is told so by the chain.
  if (ctx.replied || ctx.exchange.aborted) return value
  if (value === undefined || value === ctx) return giveNothing(ctx, plan)
  if (isUnchecked(value)) return value
  const status = ctx.statusCode === 0 ? 200 : ctx.statusCode
  const reply = plan.replyOf(status)
  if (reply === null) return value === null ? undefined : plan.refuseContent(status, false)
  const checked = reply.check(value)
  if (!(checked instanceof Promise)) return send(ctx, reply, checked)
  return checked.then(
    (settled: unknown) => send(ctx, reply, settled),
    (error: unknown) => release(ctx, error),
  )
}

function giveNothing(ctx: RequestContext, plan: ResponsePlan): undefined {
  // ctx.file and its like reply when they are through.
  if (ctx.ownReplies > 0) return
  const usual = plan.has(200) && !plan.has(204) ? 200 : 204
  const status = ctx.statusCode === 0 ? usual : ctx.statusCode
  if (plan.replyOf(status) !== null) plan.refuseContent(status, true)
  ctx.statusCode = status
}

function send(ctx: RequestContext, reply: Reply, checked: unknown): undefined {
  if (typeof checked === 'string') sendText(ctx, checked, ContentType.text, undefined)
  else endReply(ctx, ContentType.json, reply.textOf(checked), undefined, 'reply')
}

/** What no schema describes goes as it is; the types of a contract refuse it. */
function isUnchecked(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { constructor } = value
  if (constructor === Object || constructor === Array) return false
  return (
    value instanceof Uint8Array ||
    value instanceof Response ||
    value instanceof Error ||
    value instanceof ArrayBuffer ||
    value instanceof ReadableStream ||
    value instanceof Readable ||
    value instanceof Blob ||
    isIterator(value)
  )
}
