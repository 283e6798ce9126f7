/** What comes out of a procedure, checked by its schema and without what that does not name. */
import { VolantError } from '../errors/errors.ts'
import { Reply, type UndeclaredProperties } from '../contract/responses.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { strip } from '../schema/strip.ts'
import { isThenable } from '../types/thenable.ts'
import type { Schema } from '../types/parts.ts'
import type { Placed } from './router.ts'

/** The output of one procedure behind one door. */
export interface Output {
  /** What the schema makes of a value, or a promise of it. */
  check(value: unknown): unknown
  /** A checked value as JSON. */
  textOf(checked: unknown): string
  /** `check`, for those who get a value rather than JSON. */
  valueOf(value: unknown): unknown
  /** A checked value without undeclared properties. */
  stripped(checked: unknown): unknown
}

class DeclaredOutput implements Output {
  readonly #schema: Schema
  readonly #reply: Reply
  #strip: ((value: unknown) => unknown) | null = null

  constructor(path: string, schema: Schema, undeclared: UndeclaredProperties) {
    this.#schema = schema
    this.#reply = new Reply(`the output of the procedure ${path}`, schema, undeclared)
  }

  check(value: unknown): unknown {
    return this.#reply.check(value)
  }

  textOf(checked: unknown): string {
    return this.#reply.textOf(checked)
  }

  valueOf(value: unknown): unknown {
    const checked = this.check(value)
    return isThenable(checked)
      ? checked.then((settled: unknown) => this.stripped(settled))
      : this.stripped(checked)
  }

  stripped(checked: unknown): unknown {
    this.#strip ??= stripperOf(this.#schema)
    return this.#strip(checked)
  }
}

/** `output(null)`. */
class NoOutput implements Output {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  check(value: unknown): undefined {
    return refuseValue(this.#path, value)
  }

  textOf(): string {
    return 'null'
  }

  valueOf(value: unknown): undefined {
    return this.check(value)
  }

  stripped(): undefined {
    return undefined
  }
}

/** Throws `E_RESPONSE_INVALID` for any value. */
export function refuseValue(path: string, value: unknown, output = 'output(null)'): undefined {
  if (value === undefined) return undefined
  throw new VolantError(
    'E_RESPONSE_INVALID',
    `the procedure ${path} has ${output} and gave a value: leave its value out, or say its schema`,
  )
}

function stripperOf(schema: Schema): (value: unknown) => unknown {
  const described = jsonSchemaOf(schema, 'output')
  return 'schema' in described ? (value) => strip(value, described.schema) : (value) => value
}

/** A procedure behind a door that knows what becomes of undeclared properties. */
export interface Served extends Placed {
  readonly output: Output | null
}

export function served(placed: Placed, undeclared: UndeclaredProperties): Served {
  const { output, isEmpty } = placed.procedure
  if (isEmpty) return { ...placed, output: new NoOutput(placed.path) }
  return { ...placed, output: output === null ? null : new DeclaredOutput(placed.path, output, undeclared) }
}
