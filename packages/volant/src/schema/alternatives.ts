/** What a JSON Schema (draft 2020-12) says about the members of a value: references and `allOf` followed, branches open. */
import {
  isObject,
  isSchema,
  type JSONSchema,
  type JSONSchemaObject,
  type Resolve,
  resolverOf,
  subschemas,
} from './document.ts'

/** All that holds of a value at once, its alternatives apart. */
export interface Reading {
  /** Differs between readings of one document, and is the same for the same parts. */
  readonly id: number
  /** The schemas that hold together. */
  readonly parts: readonly JSONSchemaObject[]
  /** `anyOf`, `oneOf` and `if`: of each group, one or more hold. */
  readonly groups: readonly (readonly JSONSchema[])[]
  /** True if it says which properties there are. */
  readonly closesObject: boolean
  /** True if it says what is in an array. */
  readonly closesArray: boolean
  /** True if nothing in such a value can be undeclared, however deep. */
  readonly idle: boolean
}

/** One schema and all it refers to. */
export class SchemaDocument {
  readonly #resolve: Resolve
  readonly #ids = new Map<object, number>()
  readonly #readings = new Map<string, Reading>()
  readonly #grouped = new Map<JSONSchemaObject, JSONSchema[][]>()
  readonly #idle = new Map<JSONSchemaObject, boolean>()

  constructor(root: JSONSchemaObject) {
    this.#resolve = resolverOf(root)
    this.#visit(root)
  }

  /** All of `schemas` at once. */
  reading(schemas: readonly JSONSchema[]): Reading {
    return this.#with([], schemas)
  }

  /** `base` without its groups, and `chosen` of them with theirs. */
  choose(base: Reading, chosen: readonly JSONSchema[]): Reading {
    return this.#with(base.parts, chosen)
  }

  /** The schema that a reference leads to; `true`, which says nothing, where it leads nowhere. */
  target(reference: unknown): JSONSchema {
    return typeof reference === 'string' ? (this.#resolve(reference)?.schema ?? true) : true
  }

  /** Whether no schema that can be reached from this one closes an object. */
  isIdle(start: JSONSchema): boolean {
    if (!isObject(start)) return true
    const known = this.#idle.get(start)
    if (known !== undefined) return known
    const seen = new Set<JSONSchemaObject>([start])
    let idle = true
    for (const schema of seen) {
      idle = !closesObject(schema)
      if (!idle) break
      for (const next of beneath(schema)) if (isObject(next)) seen.add(next)
      const to = this.target(schema.$ref)
      if (isObject(to)) seen.add(to)
    }
    this.#idle.set(start, idle)
    return idle
  }

  #with(known: readonly JSONSchemaObject[], schemas: readonly JSONSchema[]): Reading {
    const parts = new Set(known)
    const groups: (readonly JSONSchema[])[] = []
    for (const schema of schemas) this.#gather(schema, parts, groups)
    return this.#intern(parts, groups)
  }

  #gather(schema: JSONSchema, parts: Set<JSONSchemaObject>, groups: (readonly JSONSchema[])[]): void {
    if (!isObject(schema) || parts.has(schema)) return
    parts.add(schema)
    if (schema.$ref !== undefined) this.#gather(this.target(schema.$ref), parts, groups)
    for (const part of schemasIn(schema.allOf)) this.#gather(part, parts, groups)
    for (const group of this.#groups(schema)) {
      const [only, other] = group
      if (other !== undefined) groups.push(group)
      else if (only !== undefined) this.#gather(only, parts, groups)
    }
  }

  #intern(parts: ReadonlySet<JSONSchemaObject>, groups: readonly (readonly JSONSchema[])[]): Reading {
    const each = [...parts].sort((a, b) => this.#id(a) - this.#id(b))
    const key = [each, ...groups].map((of) => of.map((part) => this.#id(part)).join()).join(';')
    let reading = this.#readings.get(key)
    if (reading === undefined) {
      reading = {
        id: this.#readings.size,
        parts: each,
        groups,
        closesObject: each.some(closesObject),
        closesArray: each.some(closesArray),
        idle: [...each, ...groups.flat()].every((schema) => this.isIdle(schema)),
      }
      this.#readings.set(key, reading)
    }
    return reading
  }

  /** The same each time: a group may hold a schema made for it. */
  #groups(part: JSONSchemaObject): JSONSchema[][] {
    let groups = this.#grouped.get(part)
    if (groups === undefined) {
      groups = groupsOf(part)
      this.#grouped.set(part, groups)
    }
    return groups
  }

  #id(schema: JSONSchema): number {
    if (typeof schema === 'boolean') return schema ? -1 : -2
    let id = this.#ids.get(schema)
    if (id === undefined) {
      id = this.#ids.size
      this.#ids.set(schema, id)
    }
    return id
  }

  /** Numbers the schemas in the order of the document, whatever is asked for first. */
  #visit(schema: JSONSchemaObject): void {
    this.#id(schema)
    for (const { schema: inner } of subschemas(schema)) if (isObject(inner)) this.#visit(inner)
  }
}

/** The value if it is an object with names, else an empty one. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : empty
}

/** The schemas of a keyword whose value is a list of them. */
export function schemasIn(value: unknown): JSONSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : []
}

/** The schemas for the first items, and the one for all after them. */
export function itemsOf(schema: JSONSchemaObject): { first: JSONSchema[]; rest: JSONSchema | null } {
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
 * `then` holds with `if`, and a dependency with the property it is of; else, and without an `else`, nothing more holds.
 * Branches that neither an object nor an array can be are left out.
 */
function groupsOf(schema: JSONSchemaObject): JSONSchema[][] {
  const groups = [schemasIn(schema.anyOf), schemasIn(schema.oneOf)].map((group) => group.filter(hasMembers))
  if (isSchema(schema.if)) {
    groups.push([{ allOf: [schema.if, schema.then ?? true] }, isSchema(schema.else) ? schema.else : true])
  }
  for (const [name, each] of Object.entries(record(schema.dependentSchemas))) {
    if (isSchema(each)) groups.push([{ allOf: [{ required: [name] }, each] }, true])
  }
  return groups
}

function hasMembers(schema: JSONSchema): boolean {
  if (typeof schema === 'boolean') return schema
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  return schema.type === undefined || types.includes('object') || types.includes('array')
}

/** The schemas inside a schema that hold for the same value or a part of it. */
function beneath(schema: JSONSchemaObject): JSONSchema[] {
  return [...subschemas(schema)].filter(({ keyword }) => !aside.has(keyword)).map((each) => each.schema)
}

/** Keywords whose schemas declare no member of the value. */
const aside: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'not',
  'contains',
  'propertyNames',
  'contentSchema',
])
