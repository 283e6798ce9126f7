/** What comes out of a procedure, checked by its schema and without what that does not name. */
import { Reply, type UndeclaredProperties } from '../responses.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { strip } from '../serialization/undeclared.ts'
import { isThenable } from '../thenable.ts'
import type { Schema } from '../types.ts'
import type { Placed } from './router.ts'

/** The output of one procedure behind one door. */
export class Output {
  readonly #schema: Schema
  readonly #reply: Reply
  #strip: ((value: unknown) => unknown) | null = null

  constructor(path: string, schema: Schema, undeclared: UndeclaredProperties) {
    this.#schema = schema
    this.#reply = new Reply(`the output of the procedure ${path}`, schema, undeclared)
  }

  /** What the schema makes of a value, or a promise of it. */
  check(value: unknown): unknown {
    return this.#reply.check(value)
  }

  /** A checked value as JSON. */
  textOf(checked: unknown): string {
    return this.#reply.textOf(checked)
  }

  /** `check`, for those who get a value rather than JSON. */
  valueOf(value: unknown): unknown {
    const checked = this.check(value)
    return isThenable(checked)
      ? checked.then((settled: unknown) => this.stripped(settled))
      : this.stripped(checked)
  }

  /** A checked value without undeclared properties. */
  stripped(checked: unknown): unknown {
    this.#strip ??= stripperOf(this.#schema)
    return this.#strip(checked)
  }
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
  const { output } = placed.procedure
  return { ...placed, output: output === null ? null : new Output(placed.path, output, undeclared) }
}
