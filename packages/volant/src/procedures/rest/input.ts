/** The input of a procedure over REST: one object, some members of it in the path, the others in the query or the body. */
import { bag } from '@volant/engine'
import { ValidationError } from '../../errors/errors.ts'
import { documentOnly } from '../../schema/doc-only.ts'
import { madeOfNothing } from '../../schema/result.ts'
import type { JSONSchemaObject } from '../../schema/document.ts'
import { type ConvertedSchema, jsonSchemaOf } from '../../schema/json-schema.ts'
import { standardOf } from '../../schema/standard.ts'
import { textCoercer, type TextCoercer } from '../../schema/check/coerce-text.ts'
import type { Schema, Schemas } from '../../types/parts.ts'
import type { RequestContext } from '../../types/request.ts'

export class RestInput {
  readonly #schema: Schema
  readonly #params: readonly string[]
  /** The part of the request that has the members outside of the path. */
  readonly #others: 'query' | 'body'
  #reader: TextCoercer | null = null
  #isOptional: boolean | undefined

  constructor(schema: Schema, params: readonly string[], others: 'query' | 'body') {
    this.#schema = schema
    this.#params = params
    this.#others = others
  }

  /** Gives the schemas for the route's document. The route checks nothing: the procedure checks its whole input. */
  schemas(): Schemas {
    const schema = this.#schema
    if (this.#params.length === 0 && this.#others === 'body') {
      const validate = (value: unknown) => standardOf(schema, "a procedure's input").validate(value)
      return { body: documentOnly(() => jsonSchemaOf(schema, 'input'), validate) }
    }
    const isParam = (name: string): boolean => this.#params.includes(name)
    return {
      ...(this.#params.length > 0 && { params: this.#part(isParam) }),
      [this.#others]: this.#part((name) => !isParam(name)),
    }
  }

  /** Gives the input of a request. Throws a `ValidationError` where the path has members and the body is no object. */
  of(ctx: RequestContext): unknown {
    if (this.#others === 'query') {
      const { query } = ctx
      if (this.#params.length === 0 && Object.keys(query).length === 0) {
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

  /** Gives the part of the request that a member came from. */
  readonly partOf = (name: string | undefined): string =>
    name !== undefined && this.#params.includes(name) ? 'params' : this.#others

  #read(pairs: object): unknown {
    this.#reader ??= readerOf(this.#schema)
    return this.#reader(pairs)
  }

  /** Documents the members of the input that are in one part of the request. */
  #part(has: (name: string) => boolean): Schema {
    const describe = (): ConvertedSchema => {
      const whole = jsonSchemaOf(this.#schema, 'input')
      return 'schema' in whole ? { schema: someMembers(whole.schema, has) } : whole
    }
    return documentOnly(describe, (value) => {
      const part = describe()
      const isRequired = 'schema' in part && (part.schema['required'] as readonly string[]).length > 0
      return value === undefined && isRequired ? { issues: [{ message: 'it is required' }] } : { value }
    })
  }
}

/** Text becomes what the JSON Schema asks for, where there is one. The object has no prototype, for names such as `toString`. */
function readerOf(schema: Schema): TextCoercer {
  const described = jsonSchemaOf(schema, 'input')
  return 'schema' in described ? textCoercer(described.schema) : (pairs) => Object.assign(bag(), pairs)
}

function someMembers(schema: JSONSchemaObject, has: (name: string) => boolean): JSONSchemaObject {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, unknown>
    required?: readonly string[]
  }
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => has(name))),
    required: required.filter(has),
  }
}
