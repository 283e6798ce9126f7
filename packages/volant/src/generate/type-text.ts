/**
 * Makes the text of a TypeScript type from JSON Schema. What JSON Schema cannot say is `unknown`, never a guess.
 * openapi-typescript cannot take its place: it needs the compiler API, which TypeScript 7 has not, and its types refer
 * to `components['schemas']` of a whole document, which `createClient` does not take. json-schema-to-typescript
 * makes `never[]` of tuples (`node lab/library-differences.mjs`).
 */
import { isFile, isObject, type JSONSchemaObject, resolverOf } from '../schema/document.ts'
import { grouped, literal, nameFrom, objectText, type TypeMember, union } from './type-syntax.ts'

/** The types of one file. A type with a title, and a type that a reference leads to, is declared once, under a name. */
export class TypeTexts {
  /** Texts by name, in the order in which the names are first used. */
  readonly declared = new Map<string, string>()
  readonly #names = new Map<string, string>()
  /** The names that were given, by the name that was wanted. */
  readonly #alike = new Map<string, string[]>()
  readonly #recursive = new Set<string>()
  readonly #taken: Set<string>

  /** `taken` are names that the file uses for something else. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken)
  }

  /**
   * Gives the type of a whole schema; `hint` names it if it refers to itself and has no title. The name of what clients
   * send has `Input` after it if the name is taken.
   */
  of(schema: unknown, hint: string, io: 'input' | 'output' = 'output'): string {
    return this.#text(schema, { schema, hint, io })
  }

  /** Gives the properties of a schema that is an object and nothing else; null for every other schema. */
  members(schema: JSONSchemaObject, hint: string): TypeMember[] | null {
    const isPlain =
      schema['type'] === 'object' && isObject(schema['properties']) && !combining.some((key) => key in schema)
    return isPlain ? this.#members(schema, { schema, hint, io: 'input' }) : null
  }

  #text(schema: unknown, whole: WholeSchema): string {
    const title = titleOf(schema)
    return title === null ? this.#bare(schema, whole) : this.#named(schema, nameFrom(title), whole)
  }

  #bare(schema: unknown, whole: WholeSchema): string {
    if (schema === false) return 'never'
    if (!isObject(schema)) return 'unknown'
    const parts = [...this.#parts(schema, whole)].filter((part) => part !== 'unknown')
    if (parts.length === 0) return 'unknown'
    const text = parts.length === 1 ? (parts[0] as string) : parts.map(grouped).join(' & ')
    return schema['nullable'] === true ? union([text, 'null']) : text
  }

  /** Gives the parts of an intersection. */
  *#parts(schema: JSONSchemaObject, whole: WholeSchema): Generator<string> {
    const { $ref, type, enum: values, anyOf, oneOf, allOf } = schema
    if (typeof $ref === 'string') yield this.#reference($ref, whole)
    if ('const' in schema) return yield literal(schema['const'])
    if (Array.isArray(values)) return yield union(values.map(literal))
    if (Array.isArray(allOf)) for (const each of allOf) yield this.#text(each, whole)
    for (const either of [anyOf, oneOf]) {
      if (Array.isArray(either)) yield union(either.map((each) => this.#text(each, whole)))
    }
    const types = Array.isArray(type) ? type : type === undefined ? impliedBy(schema) : [type]
    if (types.length > 0) yield union(types.map((each) => this.#typed(each, schema, whole)))
  }

  #typed(type: unknown, schema: JSONSchemaObject, whole: WholeSchema): string {
    if (isFile(schema)) return 'File'
    if (type === 'string' || type === 'boolean' || type === 'null') return type
    if (type === 'number' || type === 'integer') return 'number'
    if (type === 'array') return this.#array(schema, whole)
    return type === 'object' ? this.#object(schema, whole) : 'unknown'
  }

  #array({ items, prefixItems, minItems = 0 }: JSONSchemaObject, whole: WholeSchema): string {
    if (!Array.isArray(prefixItems)) return `${grouped(this.#text(items, whole))}[]`
    const first = prefixItems.map((each, at) => {
      const text = this.#text(each, whole)
      return at < Number(minItems) ? text : `${grouped(text)}?`
    })
    const rest = items === false ? [] : [`...${grouped(this.#text(items, whole))}[]`]
    return `[${[...first, ...rest].join(', ')}]`
  }

  #object(schema: JSONSchemaObject, whole: WholeSchema): string {
    const { additionalProperties, patternProperties } = schema
    const members = this.#members(schema, whole)
    const others = [
      ...(isObject(patternProperties) ? Object.values(patternProperties) : []),
      ...(isObject(additionalProperties) || additionalProperties === true ? [additionalProperties] : []),
    ]
    if (members.length > 0) {
      // Properties of other names need not have the type of the named ones.
      return objectText(members) + (others.length > 0 ? ' & Record<string, unknown>' : '')
    }
    if (others.length > 0) return `Record<string, ${union(others.map((each) => this.#text(each, whole)))}>`
    return additionalProperties === false ? '{}' : 'Record<string, unknown>'
  }

  #members({ properties, required }: JSONSchemaObject, whole: WholeSchema): TypeMember[] {
    if (!isObject(properties)) return []
    const always = new Set(Array.isArray(required) ? required : [])
    return Object.entries(properties).map(([name, schema]) => ({
      name,
      isOptional: !always.has(name),
      type: this.#text(schema, whole),
      about: aboutOf(schema),
    }))
  }

  #reference(reference: string, whole: WholeSchema): string {
    const target = isObject(whole.schema) ? resolverOf(whole.schema)(reference) : null
    if (target === null) return 'unknown'
    const { schema, key: name } = target
    const isUnnamed = name === '' || /^__schema\d+$/.test(name)
    return this.#named(schema, nameFrom(isUnnamed ? (titleOf(schema) ?? whole.hint) : name), whole)
  }

  #named(schema: unknown, wanted: string, whole: WholeSchema): string {
    // Equal schemas of different documents may refer to different things.
    const key = JSON.stringify([schema, isObject(whole.schema) ? whole.schema['$defs'] : null])
    const known = this.#names.get(key)
    if (known !== undefined) {
      if (this.declared.get(known) === '') this.#recursive.add(known)
      return known
    }
    const name = this.#free(wanted, whole)
    this.#names.set(key, name)
    this.declared.set(name, '')
    const { $defs: _, ...rest } = isObject(schema) ? schema : {}
    const text = this.#bare(isObject(schema) ? rest : schema, whole)
    const alike = this.#alike.get(wanted) ?? []
    const same = alike.find((each) => this.declared.get(each) === this.#renamed(text, name, each))
    if (same !== undefined) {
      this.#names.set(key, same)
      this.declared.delete(name)
      this.#taken.delete(name)
      return same
    }
    this.#alike.set(wanted, [...alike, name])
    this.declared.set(name, text)
    return name
  }

  #renamed(text: string, name: string, other: string): string {
    return this.#recursive.has(name) ? text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), other) : text
  }

  #free(wanted: string, { io }: WholeSchema): string {
    const base = io === 'input' && this.#taken.has(wanted) ? `${wanted}Input` : wanted
    let name = base
    for (let n = 2; this.#taken.has(name); n++) name = `${base}${n}`
    this.#taken.add(name)
    return name
  }
}

interface WholeSchema {
  /** References are relative to it. */
  readonly schema: unknown
  readonly hint: string
  readonly io: 'input' | 'output'
}

/** Gives the title of an object, if it can be the name of a type. */
function titleOf(schema: unknown): string | null {
  if (!isObject(schema) || (schema['type'] !== 'object' && !isObject(schema['properties']))) return null
  const title = schema['title']
  return typeof title === 'string' && /^[A-Za-z_$][\w$]*$/.test(title) ? title : null
}

const combining = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties']

/** Gives the type that the keywords of a schema without `type` are about. */
function impliedBy(schema: JSONSchemaObject): string[] {
  if ('properties' in schema) return ['object']
  return 'items' in schema || 'prefixItems' in schema ? ['array'] : []
}

function aboutOf(schema: unknown): string | undefined {
  const text = isObject(schema) ? schema['description'] : undefined
  return typeof text === 'string' ? text : undefined
}
