/** The input of a procedure over REST: members of one object, some in the path, the others in the query or the body. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { bag } from '@volant/engine'
import type { RequestContext } from '../../types/context.ts'
import { ValidationError } from '../../errors/errors.ts'
import type { JSONSchemaObject } from '../../schema/document.ts'
import { type Described, jsonSchemaOf } from '../../schema/json-schema.ts'
import { standardOf } from '../../schema/standard.ts'
import { textReader, type TextReader } from '../../schema/coerce-text.ts'
import { isThenable } from '../../types/thenable.ts'
import type { Schema, Schemas } from '../../types/parts.ts'
import { madeOfNothing } from './nothing.ts'

/** Where the members are that are not in the path. */
export type Rest = 'query' | 'body'

/** How the input of one procedure is put together. */
export class RestInput {
  readonly #schema: Schema
  readonly #params: readonly string[]
  readonly #rest: Rest
  #reader: TextReader | null = null
  /** Undefined until somebody asks. */
  #isOptional: boolean | undefined

  constructor(schema: Schema, params: readonly string[], rest: Rest) {
    this.#schema = schema
    this.#params = params
    this.#rest = rest
  }

  /**
   * What the route documents. By these nothing is checked but that there is a body where there must be one, since the
   * procedure's own schema has all of it.
   */
  schemas(): Schemas {
    if (this.#params.length === 0)
      return { [this.#rest]: this.#rest === 'body' ? wholeBody(this.#schema) : this.#part(() => true) }
    const isParam = (name: string): boolean => this.#params.includes(name)
    return { params: this.#part(isParam), [this.#rest]: this.#part((name) => !isParam(name)) }
  }

  /** Throws a `ValidationError` for a body that has no members where there are some in the path. */
  of(ctx: RequestContext): unknown {
    if (this.#rest === 'query') {
      const { query } = ctx
      if (this.#params.length === 0 && isEmpty(query)) {
        this.#isOptional ??= madeOfNothing(this.#schema) !== null
        if (this.#isOptional) return undefined
      }
      return this.#read({ ...query, ...ctx.params })
    }
    const { body } = ctx
    if (this.#params.length === 0) return body
    if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
      throw new ValidationError([{ in: 'body', pointer: '#', detail: 'the body is an object' }])
    }
    return Object.assign(bag(), body, this.#read(ctx.params))
  }

  /** Which part of the request a member came from. */
  partOf(name: string | undefined): string {
    return name !== undefined && this.#params.includes(name) ? 'params' : this.#rest
  }

  #read(pairs: object): unknown {
    this.#reader ??= readerOf(this.#schema)
    return this.#reader(pairs)
  }

  #part(has: (name: string) => boolean): Schema {
    let described: Described | null = null
    const describe = (): Described => {
      if (described !== null) return described
      const whole = jsonSchemaOf(this.#schema, 'input')
      described = 'schema' in whole ? { schema: membersOf(whole.schema, has) } : whole
      return described
    }
    return documented(describe, () => {
      const part = describe()
      return 'schema' in part && (part.schema['required'] as readonly string[]).length > 0
    })
  }
}

/** The input is the body, whatever it is. */
function wholeBody(schema: Schema): Schema {
  return documented(
    () => jsonSchemaOf(schema, 'input'),
    () => {
      const result = standardOf(schema, "a procedure's input").validate(undefined)
      return !isThenable(result) && result.issues !== undefined
    },
  )
}

function isEmpty(pairs: object): boolean {
  for (const _ in pairs) return false
  return true
}

/** Text is made what the JSON Schema asks for, where there is one; it may not have a prototype's names in it. */
function readerOf(schema: Schema): TextReader {
  const described = jsonSchemaOf(schema, 'input')
  return 'schema' in described ? textReader(described.schema) : (pairs) => Object.assign(bag(), pairs)
}

/** The JSON Schema of some members of an object. */
function membersOf(schema: JSONSchemaObject, has: (name: string) => boolean): JSONSchemaObject {
  const {
    properties = {},
    required = [],
    ...others
  } = schema as {
    properties?: Record<string, unknown>
    required?: readonly string[]
  }
  return {
    ...others,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => has(name))),
    required: required.filter(has),
  }
}

/** A schema that says what it is about when it is asked, and refuses nothing but that there is nothing. */
function documented(describe: () => Described, isRequired: () => boolean): Schema {
  const json = (): Record<string, unknown> => {
    const described = describe()
    if ('opaque' in described) throw new Error(described.opaque)
    return { ...described.schema }
  }
  const props: StandardSchemaV1.Props & StandardJSONSchemaV1.Props = {
    version: 1,
    vendor: 'volant',
    validate: (value) =>
      value === undefined && isRequired() ? { issues: [{ message: 'it is required' }] } : { value },
    jsonSchema: { input: json, output: json },
  }
  return { '~standard': props } as Schema
}
