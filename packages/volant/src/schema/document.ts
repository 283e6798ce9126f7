/** Reads JSON Schema documents (draft 2020-12): what a reference leads to, and which schemas a schema contains. */
import { madeOnce } from './made-once.ts'
import { decodeFragment, keysOf, valueAt } from './json-pointer.ts'
import { keywords } from './keywords.ts'

/** A JSON Schema of draft 2020-12, without `$schema`. */
export type JSONSchemaObject = Readonly<Record<string, unknown>>

/** A schema or, as in `additionalProperties: false`, one of the two that are booleans. */
export type AnySchema = JSONSchemaObject | boolean

/** The target of a reference. */
export interface Target {
  readonly schema: AnySchema
  /** The last key of the pointer to it, empty for a whole document. */
  readonly key: string
  /** True for one of the definitions, whose names are given by their author. */
  readonly isDefinition: boolean
}

/** Gives null for a reference that leads to no schema of the document. */
export type Resolve = (reference: string) => Target | null

const resolvers = new WeakMap<JSONSchemaObject, Resolve>()

/** Resolves the references of one document in the normal form, which are all pointers. */
export function resolverOf(root: JSONSchemaObject): Resolve {
  return madeOnce(resolvers, root, () => {
    const known = new Map<string, Target | null>()
    return (reference) => madeOnce(known, reference, () => targetOf(root, reference))
  })
}

function targetOf(root: JSONSchemaObject, reference: string): Target | null {
  if (reference !== '#' && !reference.startsWith('#/')) return null
  const keys = keysOf(decodeFragment(reference.slice(1)))
  const schema = valueAt(root, keys)
  if (!isSchema(schema)) return null
  const keyword = keys.at(-2)
  return { schema, key: keys.at(-1) ?? '', isDefinition: keyword === '$defs' || keyword === 'definitions' }
}

export interface Subschema {
  readonly keyword: string
  /** The property, definition or index; empty where the keyword has one schema. */
  readonly name: string
  readonly schema: AnySchema
}

/** Gives the schemas directly inside a schema (core §10 and §11), in their order. */
export function* subschemas(schema: JSONSchemaObject): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keywords.get(keyword) === 'schema' && isSchema(value)) yield { keyword, name: '', schema: value }
    else if (holdsSeveral(keyword, value)) {
      for (const [name, each] of Object.entries(value))
        if (isSchema(each)) yield { keyword, name, schema: each }
    }
  }
}

/** True for lists of schemas, and for schemas by name. */
function holdsSeveral(keyword: string, value: unknown): value is object {
  const kind = keywords.get(keyword)
  return kind === 'schemas' ? Array.isArray(value) : kind === 'named' && isObject(value)
}

/** Gives a copy whose subschemas are what `change` and `ofBoolean` make of them; other keywords stay as they are. */
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

/** True for the schema of bytes: a text of format `binary`, as OpenAPI writes files of forms. */
export function isFile(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'string' && schema['format'] === 'binary'
}

/** True for an object that is no array: a schema that is not a boolean. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for all that can stand where a schema is expected. */
export function isSchema(value: unknown): value is AnySchema {
  return typeof value === 'boolean' || isObject(value)
}
