/** Finds what a JSON Schema declares of a value's members. References and `allOf` are followed, branches stay apart. */
import { madeOnce } from '../made-once.ts'
import {
  isObject,
  isSchema,
  type AnySchema,
  type JSONSchemaObject,
  type Resolve,
  resolverOf,
  subschemas,
} from '../document.ts'

/** The schemas that hold for a value at once, and the unions of which branches hold as well. */
export interface Alternative {
  /** The number, unique in its document. */
  readonly id: number
  /** The schemas that hold together. */
  readonly parts: readonly JSONSchemaObject[]
  /** The branches of each `anyOf`, `oneOf` and `if`; one branch of a group or more hold. */
  readonly groups: readonly (readonly AnySchema[])[]
  /** True if it declares properties, so that others are undeclared. */
  readonly closesObject: boolean
  /** True if it has schemas for items. */
  readonly closesArray: boolean
  /** True if no property of such a value can be undeclared, however deep. */
  readonly keepsAll: boolean
}

/** A schema in the normal form, with the alternatives that were made of it. */
export class SchemaDocument {
  readonly #resolve: Resolve
  readonly #ids = new Map<object, number>()
  readonly #alternatives = new Map<string, Alternative>()
  readonly #grouped = new Map<JSONSchemaObject, AnySchema[][]>()
  readonly #keepsAll = new Map<JSONSchemaObject, boolean>()

  constructor(root: JSONSchemaObject) {
    this.#resolve = resolverOf(root)
    this.#visit(root)
  }

  /** Gives the alternative in which all `schemas` hold. */
  alternative(schemas: readonly AnySchema[]): Alternative {
    return this.#with([], schemas)
  }

  /** Gives the alternative in which `chosen` hold instead of the groups of `base`. */
  choose(base: Alternative, chosen: readonly AnySchema[]): Alternative {
    return this.#with(base.parts, chosen)
  }

  /** Gives the target of a reference; `true`, which accepts anything, if there is none. */
  target(reference: unknown): AnySchema {
    return typeof reference === 'string' ? (this.#resolve(reference)?.schema ?? true) : true
  }

  /** True if no schema inside this one, or that it refers to, declares properties. */
  #declaresNone(start: AnySchema): boolean {
    if (!isObject(start)) return true
    const known = this.#keepsAll.get(start)
    if (known !== undefined) return known
    const seen = new Set<JSONSchemaObject>([start])
    let keepsAll = true
    for (const schema of seen) {
      keepsAll = !closesObject(schema)
      if (!keepsAll) break
      for (const next of beneath(schema)) if (isObject(next)) seen.add(next)
      const to = this.target(schema.$ref)
      if (isObject(to)) seen.add(to)
    }
    this.#keepsAll.set(start, keepsAll)
    return keepsAll
  }

  #with(known: readonly JSONSchemaObject[], schemas: readonly AnySchema[]): Alternative {
    const parts = new Set(known)
    const groups: (readonly AnySchema[])[] = []
    for (const schema of schemas) this.#gather(schema, parts, groups)
    return this.#intern(parts, groups)
  }

  #gather(schema: AnySchema, parts: Set<JSONSchemaObject>, groups: (readonly AnySchema[])[]): void {
    if (!isObject(schema) || parts.has(schema)) return
    parts.add(schema)
    if (schema.$ref !== undefined) this.#gather(this.target(schema.$ref), parts, groups)
    for (const part of schemasIn(schema.allOf)) this.#gather(part, parts, groups)
    // They are kept, because a group may hold a schema that was made for it.
    for (const group of madeOnce(this.#grouped, schema, () => groupsOf(schema))) {
      const [only, other] = group
      if (other !== undefined) groups.push(group)
      else if (only !== undefined) this.#gather(only, parts, groups)
    }
  }

  #intern(parts: ReadonlySet<JSONSchemaObject>, groups: readonly (readonly AnySchema[])[]): Alternative {
    const each = [...parts].sort((a, b) => this.#id(a) - this.#id(b))
    const key = [each, ...groups].map((of) => of.map((part) => this.#id(part)).join()).join(';')
    return madeOnce(this.#alternatives, key, () => ({
      id: this.#alternatives.size,
      parts: each,
      groups,
      closesObject: each.some(closesObject),
      closesArray: each.some(closesArray),
      keepsAll: [...each, ...groups.flat()].every((schema) => this.#declaresNone(schema)),
    }))
  }

  #id(schema: AnySchema): number {
    if (typeof schema === 'boolean') return schema ? -1 : -2
    return madeOnce(this.#ids, schema, () => this.#ids.size)
  }

  /** Numbers the schemas in the order of the document, so that the order of properties depends on nothing else. */
  #visit(schema: JSONSchemaObject): void {
    this.#id(schema)
    for (const { schema: inner } of subschemas(schema)) if (isObject(inner)) this.#visit(inner)
  }
}

/** Gives the value if it is an object, else an empty object. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : empty
}

/** Gives the schemas in the value of a keyword such as `allOf`. */
export function schemasIn(value: unknown): AnySchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : []
}

/** Gives the schemas for the first items, and the one for all after them. */
export function itemsOf(schema: JSONSchemaObject): { first: AnySchema[]; rest: AnySchema | null } {
  const rest = schema.items ?? schema.unevaluatedItems
  return { first: schemasIn(schema.prefixItems), rest: isSchema(rest) ? rest : null }
}

const empty: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null) as Record<string, unknown>)

function closesObject(schema: JSONSchemaObject): boolean {
  return (
    isObject(schema.properties) ||
    isObject(schema.patternProperties) ||
    [schema.additionalProperties, schema.unevaluatedProperties].some(
      (rest) => rest === false || isObject(rest),
    )
  )
}

function closesArray(schema: JSONSchemaObject): boolean {
  const { first, rest } = itemsOf(schema)
  return first.length > 0 || isObject(rest)
}

/**
 * `then` holds together with `if`, a dependent schema together with its property; the other branch is `else`, or `true`.
 * Branches that allow neither objects nor arrays are left out.
 */
function groupsOf(schema: JSONSchemaObject): AnySchema[][] {
  const groups = [schemasIn(schema.anyOf), schemasIn(schema.oneOf)].map((group) => group.filter(hasMembers))
  if (isSchema(schema.if)) {
    groups.push([{ allOf: [schema.if, schema.then ?? true] }, isSchema(schema.else) ? schema.else : true])
  }
  for (const [name, each] of Object.entries(record(schema.dependentSchemas))) {
    if (isSchema(each)) groups.push([{ allOf: [{ required: [name] }, each] }, true])
  }
  return groups
}

function hasMembers(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return schema
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  return schema.type === undefined || types.includes('object') || types.includes('array')
}

/** Gives the schemas inside a schema that hold for the same value or a member of it. */
function beneath(schema: JSONSchemaObject): AnySchema[] {
  return [...subschemas(schema)].filter(({ keyword }) => !aside.has(keyword)).map((each) => each.schema)
}

/** These keywords have schemas that declare no member of the value. */
const aside: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'not',
  'contains',
  'propertyNames',
  'contentSchema',
])
