/** The input of a procedure over REST: members of one object, some in the path, the others in the query or the body. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { Bag } from '@volant/engine'
import type { RequestContext } from '../../context.ts'
import { ValidationError } from '../../errors.ts'
import { type Described, type JSONSchemaObject, jsonSchemaOf } from '../../schema/json-schema.ts'
import { standardOf } from '../../schema/standard.ts'
import { isThenable } from '../../thenable.ts'
import type { Schema, Schemas } from '../../types.ts'

/** Where the members are that are not in the path. */
export type Rest = 'query' | 'body'

/** How the input of one procedure is put together. */
export class RestInput {
  readonly #schema: Schema
  readonly #params: readonly string[]
  readonly #rest: Rest
  #kinds: ReadonlyMap<string, Kind> | null = null

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
    const { body } = this.#rest === 'body' ? ctx : { body: undefined }
    if (this.#rest === 'body' && this.#params.length === 0) return body
    const input = new Bag()
    if (this.#rest === 'query') Object.assign(input, ctx.query)
    else if (typeof body === 'object' && body !== null && !Array.isArray(body)) Object.assign(input, body)
    else if (body !== undefined) {
      throw new ValidationError([{ in: 'body', pointer: '#', detail: 'the body is an object' }])
    }
    this.#kinds ??= kindsOf(this.#schema)
    for (const name of this.#rest === 'query' ? Object.keys(input) : [])
      input[name] = this.#read(name, input[name])
    for (const name of this.#params) input[name] = this.#read(name, ctx.params[name])
    return input
  }

  /** Which part of the request a member came from. */
  partOf(name: string | undefined): string {
    return name !== undefined && this.#params.includes(name) ? 'params' : this.#rest
  }

  #read(name: string, value: unknown): unknown {
    const kind = this.#kinds?.get(name)
    return kind === undefined ? value : read(kind, value)
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

/** What is read from text, by the JSON Schema of a member. */
type Kind = 'number' | 'boolean' | { readonly list: Kind | null }

/** Text that is none of it stays text, and is what the schema speaks of. */
function read(kind: Kind, value: unknown): unknown {
  if (typeof kind === 'object') {
    const list = Array.isArray(value) ? value : [value]
    return kind.list === null ? list : list.map((each) => read(kind.list as Kind, each))
  }
  if (typeof value !== 'string') return value
  if (kind === 'boolean') return value === 'true' ? true : value === 'false' ? false : value
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value) ? Number(value) : value
}

function kindsOf(schema: Schema): ReadonlyMap<string, Kind> {
  const described = jsonSchemaOf(schema, 'input')
  const properties = 'schema' in described ? described.schema['properties'] : undefined
  return new Map(
    Object.entries((properties ?? {}) as Record<string, unknown>).flatMap(
      ([name, member]): [string, Kind][] => {
        const kind = kindOf(member)
        return kind === null ? [] : [[name, kind]]
      },
    ),
  )
}

function kindOf(schema: unknown): Kind | null {
  const { type, items } = (schema ?? {}) as { type?: unknown; items?: unknown }
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  return type === 'array' ? { list: kindOf(items) } : null
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
