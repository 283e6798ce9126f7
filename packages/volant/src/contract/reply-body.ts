/** Checks the value of a declared reply by its schema, and sends only properties that the schema declares. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ContentType } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { jsonFault, valueFault } from '../errors/json-fault.ts'
import { send } from '../reply/send.ts'
import { issueSummary } from './response-issues.ts'
import { refuseCodecs } from '../schema/refuse-parts.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { isLater, issuesIn } from '../schema/result.ts'
import { standardOf } from '../schema/standard.ts'
import { type StripPlan, stripPlanOf } from '../schema/strip/strip-plan.ts'
import { type Serializer, serializerFor } from '../schema/strip/serializer.ts'
import { undeclared } from '../schema/strip/strip.ts'
import { Unwritable } from '../schema/strip/to-json.ts'
import type { Schema } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'

/**
 * The treatment of reply properties that their schema does not declare: `strip` leaves them out; with `throw` the reply
 * is a 500, `E_RESPONSE_UNDECLARED`, and the report names them. The default is `throw`, and `strip` where NODE_ENV is
 * `production`.
 */
export type UndeclaredProperties = 'strip' | 'throw'

type Result = StandardSchemaV1.Result<unknown>

/** The body of a declared reply: checked by its schema, then written as JSON without undeclared properties. */
export class ReplyBody {
  readonly #where: string
  readonly #schema: Schema
  readonly #undeclared: UndeclaredProperties
  #standard: StandardSchemaV1.Props | null = null
  #plan: StripPlan | null = null
  #serialize: Serializer | null = null

  /** `where` names the route and the reply in errors. */
  constructor(where: string, schema: Schema, undeclaredProperties: UndeclaredProperties) {
    this.#where = where
    this.#schema = schema
    this.#undeclared = undeclaredProperties
  }

  /**
   * Gives the schema's output for `value`, or a promise of it. Throws `E_RESPONSE_INVALID`, `E_RESPONSE_UNDECLARED`,
   * `E_NOT_SERIALISABLE`.
   */
  check(value: unknown): unknown {
    const standard = (this.#standard ??= this.#standardOf())
    const { prepare } = (this.#plan ??= stripPlanOf(this.#schema, standard))
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

  /** Checks at once, where nothing can await the result. Throws `E_BAD_SCHEMA` for an asynchronous schema. */
  checkNow(value: unknown): unknown {
    const checked = this.check(value)
    if (!(checked instanceof Promise)) return checked
    checked.then(undefined, () => {})
    throw new VolantError(
      'E_BAD_SCHEMA',
      `${this.#where}: its schema is asynchronous, and only a returned value is waited for`,
    )
  }

  /** Gives a checked value as JSON text. Throws `E_NOT_SERIALISABLE`. */
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

  /** Gives a checked copy without undeclared properties. */
  copyOf(value: unknown): unknown {
    const checked = this.checkNow(value)
    return checked === undefined ? undefined : JSON.parse(this.textOf(checked))
  }

  /** Sends a checked value: text as it is, anything else as JSON. */
  send(ctx: RequestContext, checked: unknown): undefined {
    if (typeof checked === 'string') send(ctx, ContentType.text, checked, undefined, 'text')
    else send(ctx, ContentType.json, this.textOf(checked), undefined, 'reply')
  }

  #serializer(): Serializer {
    const described = jsonSchemaOf(this.#schema, 'output')
    const alreadyStripped = this.#plan?.alreadyStripped ?? false
    return serializerFor('schema' in described ? described.schema : null, { alreadyStripped })
  }

  #refuseUndeclared(value: unknown): void {
    const described = jsonSchemaOf(this.#schema, 'input')
    const found = 'schema' in described ? undeclared(value, described.schema) : null
    if (found === null) return
    const { pointers, more } = found
    const them = pointers.length + more === 1 ? 'it' : 'them'
    const names = pointers.map(shortPointer).join(', ') + (more > 0 ? ` and ${more} more` : '')
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

  /**
   * Gives the error to throw: walking a value that contains itself, or is nested too deeply, fails before
   * JSON.stringify does.
   */
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

/** The most characters of the pointer to an undeclared property. */
const longest = 200

function shortPointer(pointer: string): string {
  return `#${pointer.length > longest ? `${pointer.slice(0, longest)}…` : pointer}`
}
