/** JSON Schema documents (draft 2020-12): what a reference leads to, and which schemas a schema contains. */
import { decodeFragment, unescapeKey, valueAt } from './json-pointer.ts'
import { keywords } from './keywords.ts'

/** A JSON Schema of draft 2020-12, without `$schema`. */
export type JSONSchemaObject = Readonly<Record<string, unknown>>

/** A schema or, as in `additionalProperties: false`, one of the two that are booleans. */
export type JSONSchema = JSONSchemaObject | boolean

/** What a reference leads to. */
export interface Target {
  readonly schema: JSONSchema
  /** The last key of the pointer to it, empty for a whole document. */
  readonly key: string
  /** It is one of the definitions, whose names are given by their author. */
  readonly isDefinition: boolean
}

/** Gives null for a reference that leads to no schema of the document. */
export type Resolve = (reference: string) => Target | null

const resolvers = new WeakMap<JSONSchemaObject, Resolve>()

/** Resolves the references of one document. Libraries write pointers with and without their escapes. */
export function resolverOf(root: JSONSchemaObject): Resolve {
  let resolve = resolvers.get(root)
  if (resolve === undefined) {
    const known = new Map<string, Target | null>()
    let named: Map<string, Target> | null = null
    resolve = (reference) => {
      let target = known.get(reference)
      if (target === undefined) {
        const isPointer = reference === '#' || reference.startsWith('#/')
        target = isPointer ? targetOf(root, reference) : null
        target ??= (named ??= namedIn(root)).get(reference) ?? null
        known.set(reference, target)
      }
      return target
    }
    resolvers.set(root, resolve)
  }
  return resolve
}

/** As RFC 6901 §6 has it; then without percent-decoding; then with all that follows `$defs/` as one key. */
function targetOf(root: JSONSchemaObject, reference: string): Target | null {
  const [, ...keys] = reference.split('/')
  const [keyword = '', ...rest] = keys
  const name = rest.join('/')
  return (
    targetAt(root, keys.map(decodeFragment).map(unescapeKey)) ??
    targetAt(root, keys.map(unescapeKey)) ??
    targetAt(root, [keyword, decodeFragment(name)]) ??
    targetAt(root, [keyword, name])
  )
}

function targetAt(root: JSONSchemaObject, keys: readonly string[]): Target | null {
  const schema = valueAt(root, keys)
  if (!isSchema(schema)) return null
  return { schema, key: keys.at(-1) ?? '', isDefinition: isDefinitions(keys.at(-2)) }
}

/** Schemas by `$id`, by anchor, and by the bare key of a definition, which some libraries refer to. */
function namedIn(root: JSONSchemaObject): Map<string, Target> {
  const named = new Map<string, Target>()
  const put = (name: unknown, target: Target): void => {
    if (typeof name === 'string' && !named.has(name)) named.set(name, target)
  }
  const visit = (schema: JSONSchemaObject, key: string, isDefinition: boolean, depth: number): void => {
    const target = { schema, key, isDefinition }
    put(schema.$id, target)
    for (const anchor of [schema.$anchor, schema.$dynamicAnchor])
      if (typeof anchor === 'string') put(`#${anchor}`, { ...target, key: key === '' ? anchor : key })
    if (depth === deepest) return
    for (const { keyword, name, schema: inner } of subschemas(schema)) {
      const isNamed = isDefinitions(keyword)
      if (isNamed && isObject(inner)) put(name, { schema: inner, key: name, isDefinition: true })
      if (isObject(inner)) visit(inner, isNamed ? name : '', isNamed, depth + 1)
    }
  }
  visit(root, '', false, 0)
  return named
}

/** Levels of a schema in which named schemas are looked for. */
const deepest = 200

function isDefinitions(keyword: string | undefined): boolean {
  return keyword === '$defs' || keyword === 'definitions'
}

/** A schema inside another one. */
export interface Subschema {
  readonly keyword: string
  /** The property, definition or index; empty where the keyword has one schema. */
  readonly name: string
  readonly schema: JSONSchema
}

/** The schemas directly inside a schema (core §10, §11, and `items` of older drafts), in their order. */
export function* subschemas(schema: JSONSchemaObject): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keywords.get(keyword) === 'schema' && isSchema(value)) yield { keyword, name: '', schema: value }
    else if (holdsSeveral(keyword, value)) {
      for (const [name, each] of Object.entries(value))
        if (isSchema(each)) yield { keyword, name, schema: each }
    }
  }
}

/** Lists of schemas, and schemas by name. */
function holdsSeveral(keyword: string, value: unknown): value is object {
  const kind = keywords.get(keyword)
  if (Array.isArray(value)) return kind === 'schemas' || keyword === 'items'
  return kind === 'named' && isObject(value)
}

/** A copy whose subschemas are what `change` and `ofBoolean` make of them; other keywords stay as they are. */
export function mapSubschemas(
  schema: JSONSchemaObject,
  change: (subschema: Record<string, unknown>) => JSONSchemaObject,
  ofBoolean: (value: boolean, keyword: string) => unknown = (value) => value,
): Record<string, unknown> {
  const changed = (value: unknown, keyword: string): unknown =>
    isObject(value) ? change(value) : typeof value === 'boolean' ? ofBoolean(value, keyword) : value
  const all = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (!holdsSeveral(keyword, value))
      return [keyword, keywords.get(keyword) === 'schema' ? changed(value, keyword) : value]
    if (Array.isArray(value)) return [keyword, value.map((each) => changed(each, keyword))]
    const named = Object.entries(value).map(([name, each]) => [name, changed(each, keyword)] as const)
    return [keyword, Object.fromEntries(named)]
  })
  return Object.fromEntries(all)
}

/** True for an object that is no array: a schema that is not a boolean. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for all that can stand where a schema is expected. */
export function isSchema(value: unknown): value is JSONSchema {
  return typeof value === 'boolean' || isObject(value)
}
