/** JSON Schema in the words that tools for OpenAPI documents can read. Validation never sees it. */
import type { JSONSchemaObject } from './types.ts'
import { isObject, mapSubschemas } from '../schema/document.ts'

/**
 * The same schema, which allows the same values:
 *
 * - Generators of clients stop at `items: false` (kin-openapi issue 1258), at other boolean schemas and at lists of types
 *   other than one type and null, and linters ask every array for `items`.
 * - They stop as well at values of several types in one `enum`, and at types that are defined by themselves, as
 *   `z.json()` is: any JSON is `{}`.
 * - Bounds that are those of safe integers, as Zod's `int()` has them, are the registered format `double-int`: an integer
 *   that a double holds without loss. As numbers they would be shown to people and sent by tools as examples.
 */
export function readable(schema: JSONSchemaObject): JSONSchemaObject {
  let made = known.get(schema)
  if (made === undefined) {
    made = reworded(withAnyJSON(schema))
    known.set(schema, made)
  }
  return made
}

/** Marks the unbounded integers of a request's head: no number is read there that a double cannot hold. */
export function withDoubleIntegers(schema: JSONSchemaObject): JSONSchemaObject {
  const made = mapSubschemas(schema, withDoubleIntegers)
  const { type, minimum, exclusiveMinimum, maximum, exclusiveMaximum } = made
  const isBounded = (minimum ?? exclusiveMinimum) !== undefined && (maximum ?? exclusiveMaximum) !== undefined
  return [type].flat().includes('integer') && !isBounded ? doubleInteger(made) : made
}

const known = new WeakMap<JSONSchemaObject, JSONSchemaObject>()

/** Zod has what refers to itself at the root or among the definitions. */
function withAnyJSON(schema: JSONSchemaObject): JSONSchemaObject {
  const { $defs } = schema
  if (!isObject($defs)) return anyJSON(schema, '#')
  const named = Object.entries($defs).map(([name, each]) => [
    name,
    isObject(each) ? anyJSON(each, `#/$defs/${name}`) : each,
  ])
  return anyJSON({ ...schema, $defs: Object.fromEntries(named) }, '#')
}

function anyJSON(schema: JSONSchemaObject, at: string): JSONSchemaObject {
  const { anyOf, ...rest } = schema
  const self = { $ref: at }
  const json = [
    ...['string', 'number', 'boolean', 'null'].map((type) => ({ type })),
    { type: 'array', items: self },
    { type: 'object', propertyNames: { type: 'string' }, additionalProperties: self },
  ]
  return JSON.stringify(anyOf) === JSON.stringify(json) ? rest : schema
}

function reworded(schema: JSONSchemaObject): JSONSchemaObject {
  const made = mapSubschemas(schema, reworded, asObject)
  if (made['items'] === false) {
    const { prefixItems, maxItems = Infinity } = made as { prefixItems?: unknown[]; maxItems?: number }
    made['maxItems'] = Math.min(maxItems, prefixItems?.length ?? 0)
    made['items'] = {}
  }
  if ([made['type']].flat().includes('array')) made['items'] ??= {}
  if (made['type'] === 'integer') withoutSafeBounds(made)
  if (Array.isArray(made['enum'])) return withTypedValues(made, made['enum'])
  return Array.isArray(made['type']) ? withChoice(made, made['type'] as string[]) : made
}

/** An `enum` for each of the types its values have. */
function withTypedValues(schema: JSONSchemaObject, values: readonly unknown[]): JSONSchemaObject {
  const { type: given, enum: _, ...rest } = schema
  const isGiven = (value: unknown): boolean =>
    given === undefined || [given].flat().some((type) => isOf(type, value))
  const types = plainTypes.filter((type) => values.some((value) => isOf(type, value)))
  const isMixed = types.filter((type) => type !== 'null').length > 1
  if (!isMixed || !values.every((value) => isGiven(value) && types.some((type) => isOf(type, value))))
    return schema
  const choices = types.map((type) =>
    type === 'null' ? { type } : { type, enum: values.filter((value) => isOf(type, value)) },
  )
  return withAnyOf(rest, choices)
}

const plainTypes = ['string', 'number', 'boolean', 'null']

/** `additionalProperties` may be false everywhere; definitions and `items` are looked at elsewhere. */
function asObject(value: boolean, keyword: string): boolean | JSONSchemaObject {
  if (/^(?:additional|unevaluated|\$defs|definitions)/.test(keyword) || (keyword === 'items' && !value))
    return value
  return value ? {} : { not: {} }
}

function withoutSafeBounds(schema: JSONSchemaObject): void {
  let removed = false
  for (const [name, bound] of safeBounds) {
    if (schema[name] !== bound) continue
    delete schema[name]
    removed = true
  }
  if (removed) doubleInteger(schema)
}

const safeBounds = [
  ['minimum', Number.MIN_SAFE_INTEGER],
  ['maximum', Number.MAX_SAFE_INTEGER],
] as const

function doubleInteger(schema: JSONSchemaObject): JSONSchemaObject {
  schema['format'] ??= 'double-int'
  return schema
}

/** Keywords beside it mean the same for each of the types. */
function withChoice(schema: JSONSchemaObject, types: readonly string[]): JSONSchemaObject {
  const { type: _, ...rest } = schema
  if (types.length === 1) return { ...rest, type: types[0] }
  if (types.length === 2 && types.includes('null')) return schema
  return withAnyOf(
    rest,
    types.map((type) => ({ type })),
  )
}

function withAnyOf(schema: JSONSchemaObject, anyOf: readonly JSONSchemaObject[]): JSONSchemaObject {
  if (schema['anyOf'] === undefined) return { anyOf, ...schema }
  return { ...schema, allOf: [...((schema['allOf'] as unknown[] | undefined) ?? []), { anyOf }] }
}

function isOf(type: unknown, value: unknown): boolean {
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  return type === 'integer' ? Number.isInteger(value) : type === typeof value
}
