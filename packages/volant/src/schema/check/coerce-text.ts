/**
 * Converts text to the types that a JSON Schema asks for: path parameters, queries, headers and cookies are always text.
 * Of the types that a property may have, the first one wins whose spelling fits; text that fits none stays text.
 */
import { bag } from '@volant/engine'
import type { JSONSchemaObject } from '../document.ts'
import { record, SchemaDocument, schemasIn } from '../strip/alternatives.ts'
import { regularExpression } from '../keywords.ts'

/** Makes a new object of converted pairs. */
export type TextCoercer = (pairs: unknown) => unknown

/** `schema` is in the normal form. */
export function textCoercer(schema: JSONSchemaObject): TextCoercer {
  const members = new PropertyKinds(schema)
  return (pairs) => {
    if (typeof pairs !== 'object' || pairs === null) return pairs
    const read = bag()
    for (const name of Object.keys(pairs)) {
      const given = (pairs as Record<string, unknown>)[name]
      const kinds = members.kindsOf(name)
      read[name] = kinds === null ? given : converted(given, kinds)
    }
    return read
  }
}

/** A kind that text can become: a value of a type, one given value, or an array of such. */
type Kind = Type | { readonly value: unknown } | { readonly items: readonly Kind[] }
type Type = 'string' | 'number' | 'integer' | 'boolean' | 'null'

function converted(given: unknown, kinds: readonly Kind[]): unknown {
  if (typeof given === 'string') return convertedText(given, kinds)
  const array = kinds.find((kind) => typeof kind === 'object' && 'items' in kind)
  const items = array === undefined ? [] : (array as { items: readonly Kind[] }).items
  if (!Array.isArray(given)) return array !== undefined && given instanceof Blob ? [given] : given
  return given.map((each: unknown) => (typeof each === 'string' ? convertedText(each, items) : each))
}

function convertedText(text: string, kinds: readonly Kind[]): unknown {
  for (const kind of kinds) {
    if (kind === 'string') return text
    if (typeof kind === 'object') {
      if ('items' in kind) return [convertedText(text, kind.items)]
      const { value } = kind
      if (value === null ? text === '' : typeof value !== 'object' && String(value) === text) return value
    } else if (kind === 'boolean') {
      if (text === 'true') return true
      if (text === 'false') return false
    } else if (kind === 'null') {
      if (text === '') return null
    } else if (number.test(text)) {
      const value = Number(text)
      // Above 2^53 an integer would become another one.
      if (kind === 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return value
    }
  }
  return text
}

/** Matches numbers as JSON has them (RFC 8259 §6): no space, no sign but `-`, no leading zero, no hexadecimal. */
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** The kinds that a schema allows for each property. */
class PropertyKinds {
  readonly #document: SchemaDocument
  readonly #declared = new Map<string, Kind[]>()
  readonly #patterns: [RegExp, Kind[]][] = []
  readonly #rest: Kind[] = []

  constructor(schema: JSONSchemaObject) {
    this.#document = new SchemaDocument(schema)
    this.#gather(schema, new Set())
  }

  /** Gives null for a property that the schema does not describe. */
  kindsOf(name: string): readonly Kind[] | null {
    const declared = this.#declared.get(name)
    if (declared !== undefined) return declared
    for (const [pattern, kinds] of this.#patterns) if (pattern.test(name)) return kinds
    return this.#rest.length > 0 ? this.#rest : null
  }

  /** Reads every schema that can hold for the pairs as a whole. */
  #gather(schema: unknown, seen: Set<unknown>): void {
    for (const part of this.#parts(schema, seen)) {
      for (const [name, each] of Object.entries(record(part.properties))) {
        const kinds = this.#declared.get(name) ?? []
        this.#kinds(each, kinds)
        this.#declared.set(name, kinds)
      }
      for (const [pattern, each] of Object.entries(record(part.patternProperties))) {
        this.#patterns.push([regularExpression(pattern) as RegExp, this.#kinds(each, [])])
      }
      for (const rest of [part.additionalProperties, part.unevaluatedProperties])
        this.#kinds(rest, this.#rest)
    }
  }

  /** Adds the kinds of a schema, in the order of its alternatives. */
  #kinds(schema: unknown, kinds: Kind[], seen = new Set<unknown>()): Kind[] {
    for (const part of this.#parts(schema, seen)) {
      if (Array.isArray(part.enum)) for (const value of part.enum) kinds.push({ value })
      else if ('const' in part) kinds.push({ value: part.const })
      else for (const type of [part.type].flat()) this.#type(type, part, kinds, seen)
    }
    return kinds
  }

  #type(type: unknown, part: JSONSchemaObject, kinds: Kind[], seen: Set<unknown>): void {
    if (type === 'array') {
      const items = this.#kinds(part.items, [], new Set(seen))
      for (const each of schemasIn(part.prefixItems)) this.#kinds(each, items, new Set(seen))
      kinds.push({ items })
    } else if (types.has(type)) kinds.push(type as Type)
  }

  /** Gives a schema, what it refers to, and its alternatives. */
  *#parts(schema: unknown, seen: Set<unknown>): Generator<JSONSchemaObject> {
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) return
    seen.add(schema)
    const part = schema as JSONSchemaObject
    yield part
    if (part.$ref !== undefined) yield* this.#parts(this.#document.target(part.$ref), seen)
    for (const list of [part.allOf, part.anyOf, part.oneOf]) {
      for (const each of schemasIn(list)) yield* this.#parts(each, seen)
    }
    for (const each of [part.if, part.then, part.else]) yield* this.#parts(each, seen)
    for (const each of Object.values(record(part.dependentSchemas))) yield* this.#parts(each, seen)
  }
}

const types: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null'])
