/** The output of a procedure: its schema checks what the handler returns, and only declared properties are sent. */
import { VolantError } from '../errors/errors.ts'
import { ReplyBody, type UndeclaredProperties } from '../contract/reply-body.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { strip } from '../schema/strip/strip.ts'
import { isThenable } from '../types/thenable.ts'
import type { Schema } from '../types/parts.ts'
import type { Placed } from './router.ts'

/** The declared output of one procedure, for one way to call it: the schema's, or none at all for `output(null)`. */
export class Output {
  readonly #path: string
  readonly #schema: Schema | null
  readonly #reply: ReplyBody | null
  #strip: ((value: unknown) => unknown) | null = null

  constructor(path: string, schema: Schema | null, undeclared: UndeclaredProperties) {
    this.#path = path
    this.#schema = schema
    this.#reply =
      schema === null ? null : new ReplyBody(`the output of the procedure ${path}`, schema, undeclared)
  }

  /** Gives the schema's output for a value, or a promise of it. */
  check(value: unknown): unknown {
    return this.#reply === null ? refuseValue(this.#path, value, 'output(null)') : this.#reply.check(value)
  }

  /** Gives a checked value as JSON. */
  textOf(checked: unknown): string {
    return this.#reply === null ? 'null' : this.#reply.textOf(checked)
  }

  /** Checks a value and strips it: for callers that get a value rather than JSON. */
  valueOf(value: unknown): unknown {
    const checked = this.check(value)
    return isThenable(checked)
      ? checked.then((settled: unknown) => this.stripped(settled))
      : this.stripped(checked)
  }

  /** Gives a checked value without undeclared properties. */
  stripped(checked: unknown): unknown {
    this.#strip ??= stripperOf(this.#schema)
    return this.#strip(checked)
  }
}

/** Throws `E_RESPONSE_INVALID` for any value. */
export function refuseValue(path: string, value: unknown, output: string): undefined {
  if (value === undefined) return undefined
  throw new VolantError(
    'E_RESPONSE_INVALID',
    `the procedure ${path} has ${output} and returned a value: return nothing, or declare the schema of the value`,
  )
}

function stripperOf(schema: Schema | null): (value: unknown) => unknown {
  const described = schema === null ? null : jsonSchemaOf(schema, 'output')
  return described !== null && 'schema' in described
    ? (value) => strip(value, described.schema)
    : (value) => value
}

/** A procedure for one way to call it, which decides what happens to undeclared properties. */
export interface Served extends Placed {
  readonly output: Output | null
}

export function served(placed: Placed, undeclared: UndeclaredProperties): Served {
  const { output, isEmpty } = placed.procedure
  const declared = isEmpty || output !== null
  return { ...placed, output: declared ? new Output(placed.path, output, undeclared) : null }
}
