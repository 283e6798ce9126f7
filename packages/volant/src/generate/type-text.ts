/** From JSON Schema to the text of a TypeScript type. What JSON Schema cannot say in types is `unknown`, never a guess. */
import { isObject, type JSONSchemaObject, resolverOf } from '../schema/document.ts'

/** One property of an object. */
export interface Member {
  readonly name: string
  readonly isOptional: boolean
  readonly type: string
  /** The description of its schema. */
  readonly about: string | undefined
}

/** Types that have a name, that schemas refer to, and that refer to themselves, each declared once. */
export class TypeTexts {
  /** Text by name, in the order of their first use. */
  readonly declared = new Map<string, string>()
  readonly #names = new Map<string, string>()
  /** By the name they would have, those they have. */
  readonly #alike = new Map<string, string[]>()
  readonly #recursive = new Set<string>()
  readonly #taken: Set<string>

  /** `taken`: names the file has for something else. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken)
  }

  /**
   * The type of a whole schema; `hint` names it where it refers to itself and has no title. What clients send has `Input`
   * after its name where the name is taken.
   */
  of(schema: unknown, hint: string, io: 'input' | 'output' = 'output'): string {
    return this.#text(schema, { whole: schema, hint, io })
  }

  /** The properties of a schema that is nothing but an object; null for any other. */
  members(schema: JSONSchemaObject, hint: string): Member[] | null {
    const isPlain =
      schema['type'] === 'object' && isObject(schema['properties']) && !combining.some((key) => key in schema)
    return isPlain ? this.#members(schema, { whole: schema, hint, io: 'input' }) : null
  }

  #text(schema: unknown, root: Root): string {
    const title = titleOf(schema)
    return title === null ? this.#bare(schema, root) : this.#named(schema, nameFrom(title), root)
  }

  #bare(schema: unknown, root: Root): string {
    if (schema === false) return 'never'
    if (!isObject(schema)) return 'unknown'
    const parts = [...this.#parts(schema, root)].filter((part) => part !== 'unknown')
    if (parts.length === 0) return 'unknown'
    const text = parts.length === 1 ? (parts[0] as string) : parts.map(grouped).join(' & ')
    return schema['nullable'] === true ? union([text, 'null']) : text
  }

  /** All of them hold. */
  *#parts(schema: JSONSchemaObject, root: Root): Generator<string> {
    const { $ref, type, enum: values, anyOf, oneOf, allOf } = schema
    if (typeof $ref === 'string') yield this.#reference($ref, root)
    if ('const' in schema) return yield literal(schema['const'])
    if (Array.isArray(values)) return yield union(values.map(literal))
    if (Array.isArray(allOf)) for (const each of allOf) yield this.#text(each, root)
    for (const either of [anyOf, oneOf]) {
      if (Array.isArray(either)) yield union(either.map((each) => this.#text(each, root)))
    }
    const types = Array.isArray(type) ? type : type === undefined ? impliedBy(schema) : [type]
    if (types.length > 0) yield union(types.map((each) => this.#typed(each, schema, root)))
  }

  #typed(type: unknown, schema: JSONSchemaObject, root: Root): string {
    if (type === 'string' || type === 'boolean' || type === 'null') return type
    if (type === 'number' || type === 'integer') return 'number'
    if (type === 'array') return this.#array(schema, root)
    return type === 'object' ? this.#object(schema, root) : 'unknown'
  }

  #array({ items, prefixItems, minItems = 0 }: JSONSchemaObject, root: Root): string {
    if (!Array.isArray(prefixItems)) return `${grouped(this.#text(items, root))}[]`
    const first = prefixItems.map((each, at) => {
      const text = this.#text(each, root)
      return at < Number(minItems) ? text : `${grouped(text)}?`
    })
    const rest = items === false ? [] : [`...${grouped(this.#text(items, root))}[]`]
    return `[${[...first, ...rest].join(', ')}]`
  }

  #object(schema: JSONSchemaObject, root: Root): string {
    const { additionalProperties, patternProperties } = schema
    const members = this.#members(schema, root)
    const others = [
      ...(isObject(patternProperties) ? Object.values(patternProperties) : []),
      ...(isObject(additionalProperties) || additionalProperties === true ? [additionalProperties] : []),
    ]
    if (members.length > 0) {
      // Other properties need not have the type of those that are named.
      return objectText(members) + (others.length > 0 ? ' & Record<string, unknown>' : '')
    }
    if (others.length > 0) return `Record<string, ${union(others.map((each) => this.#text(each, root)))}>`
    return additionalProperties === false ? '{}' : 'Record<string, unknown>'
  }

  #members({ properties, required }: JSONSchemaObject, root: Root): Member[] {
    if (!isObject(properties)) return []
    const always = new Set(Array.isArray(required) ? required : [])
    return Object.entries(properties).map(([name, schema]) => ({
      name,
      isOptional: !always.has(name),
      type: this.#text(schema, root),
      about: aboutOf(schema),
    }))
  }

  #reference(reference: string, root: Root): string {
    const target = isObject(root.whole) ? resolverOf(root.whole)(reference) : null
    if (target === null) return 'unknown'
    const { schema, key: name } = target
    const isUnnamed = name === '' || /^__schema\d+$/.test(name)
    return this.#named(schema, nameFrom(isUnnamed ? (titleOf(schema) ?? root.hint) : name), root)
  }

  #named(schema: unknown, wanted: string, root: Root): string {
    // The same schema of another whole may refer to something else.
    const key = JSON.stringify([schema, isObject(root.whole) ? root.whole['$defs'] : null])
    const known = this.#names.get(key)
    if (known !== undefined) {
      if (this.declared.get(known) === '') this.#recursive.add(known)
      return known
    }
    const name = this.#free(wanted, root)
    this.#names.set(key, name)
    this.declared.set(name, '')
    const { $defs: _, ...rest } = isObject(schema) ? schema : {}
    const text = this.#bare(isObject(schema) ? rest : schema, root)
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

  #free(wanted: string, { io }: Root): string {
    const base = io === 'input' && this.#taken.has(wanted) ? `${wanted}Input` : wanted
    let name = base
    for (let n = 2; this.#taken.has(name); n++) name = `${base}${n}`
    this.#taken.add(name)
    return name
  }
}

interface Root {
  /** What `#` means. */
  readonly whole: unknown
  readonly hint: string
  readonly io: 'input' | 'output'
}

/** What its author calls an object. */
function titleOf(schema: unknown): string | null {
  if (!isObject(schema) || (schema['type'] !== 'object' && !isObject(schema['properties']))) return null
  const title = schema['title']
  return typeof title === 'string' && /^[A-Za-z_$][\w$]*$/.test(title) ? title : null
}

const combining = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties']

/** `{ a: string; b?: number | undefined }`, each member in a line of its own. */
export function objectText(members: readonly Member[]): string {
  if (members.length === 0) return '{}'
  const lines = members.map(({ name, isOptional, type, about }) => {
    const text = isOptional ? union([type, 'undefined']) : type
    return `${commentOf(about)}${keyText(name)}${isOptional ? '?' : ''}: ${text}\n`
  })
  return `{\n${indented(lines.join(''))}}`
}

/** A key of an object type. */
export function keyText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** A docstring; nothing without text. */
export function commentOf(text: string | undefined): string {
  if (text === undefined || text.trim() === '') return ''
  const lines = text
    .trim()
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\r\n\u2028\u2029]/)
  if (lines.length === 1) return `/** ${lines[0]} */\n`
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}

/** Each line two spaces further right. */
export function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

/** Each of them once; all of them is `unknown` where one is. */
export function union(texts: readonly string[]): string {
  const all = new Set(texts)
  if (all.has('unknown')) return 'unknown'
  if (all.size > 1) all.delete('never')
  if (all.size < 2) return texts.find((text) => all.has(text)) ?? 'never'
  return [...all].map((text) => (text.includes(' & ') ? grouped(text) : text)).join(' | ')
}

/** A name for a type, from any text. */
export function nameFrom(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean)
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : `Type${name}`
}

/** In parentheses where a sign outside would take but a part of it. */
function grouped(text: string): string {
  return /^[\w.]+(\[\])*$/.test(text) || isOneObject(text) ? text : `(${text})`
}

/** Braces around all of it. */
function isOneObject(text: string): boolean {
  if (!text.startsWith('{')) return false
  return text.indexOf('\n}') === text.length - 2 || text === '{}'
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `readonly [${value.map(literal).join(', ')}]`
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, each]) => `${keyText(name)}: ${literal(each)}`)
    return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`
  }
  return JSON.stringify(value) ?? 'unknown'
}

/** What a schema without `type` is about. */
function impliedBy(schema: JSONSchemaObject): string[] {
  if ('properties' in schema) return ['object']
  return 'items' in schema || 'prefixItems' in schema ? ['array'] : []
}

function aboutOf(schema: unknown): string | undefined {
  const text = isObject(schema) ? schema['description'] : undefined
  return typeof text === 'string' ? text : undefined
}
