/** Writes JSON Schema in keywords that OpenAPI tools can read. Requests and replies are checked without it. */
import { madeOnce } from '../schema/made-once.ts'
import type { OpenAPISchema } from './types.ts'
import { isObject, mapSubschemas } from '../schema/document.ts'

/**
 * Gives a schema that allows the same values:
 *
 * - Generators of clients fail with `items: false` (kin-openapi issue 1258), with other boolean schemas, and with lists
 *   of types other than one type and null. Linters require `items` of every array.
 * - Generators also fail with values of several types in one `enum`, and with a type that is defined by itself, such as
 *   `z.json()`: any JSON is `{}`.
 * - The bounds of safe integers, which Zod's `int()` adds, are the registered format `double-int`: an integer that a
 *   double holds without loss. Tools would show the numbers to people, and send them as examples.
 */
export function readable(schema: OpenAPISchema): OpenAPISchema {
  return madeOnce(known, schema, () => reworded(withAnyJSON(schema)))
}

/** Marks unbounded integers outside of a body: the server reads no number there that a double cannot hold. */
export function withDoubleIntegers(schema: OpenAPISchema): OpenAPISchema {
  const made = mapSubschemas(schema, withDoubleIntegers)
  const { type, minimum, exclusiveMinimum, maximum, exclusiveMaximum } = made
  const isBounded = (minimum ?? exclusiveMinimum) !== undefined && (maximum ?? exclusiveMaximum) !== undefined
  return [type].flat().includes('integer') && !isBounded ? doubleInteger(made) : made
}

const known = new WeakMap<OpenAPISchema, OpenAPISchema>()

/** In Zod's schemas only the root and the definitions can refer to themselves. */
function withAnyJSON(schema: OpenAPISchema): OpenAPISchema {
  const { $defs } = schema
  if (!isObject($defs)) return anyJSON(schema, '#')
  const named = Object.entries($defs).map(([name, each]) => [
    name,
    isObject(each) ? anyJSON(each, `#/$defs/${name}`) : each,
  ])
  return anyJSON({ ...schema, $defs: Object.fromEntries(named) }, '#')
}

function anyJSON(schema: OpenAPISchema, at: string): OpenAPISchema {
  const { anyOf, ...rest } = schema
  const self = { $ref: at }
  const json = [
    ...['string', 'number', 'boolean', 'null'].map((type) => ({ type })),
    { type: 'array', items: self },
    { type: 'object', propertyNames: { type: 'string' }, additionalProperties: self },
  ]
  return JSON.stringify(anyOf) === JSON.stringify(json) ? rest : schema
}

function reworded(schema: OpenAPISchema): OpenAPISchema {
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

function withTypedValues(schema: OpenAPISchema, values: readonly unknown[]): OpenAPISchema {
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

/** `additionalProperties: false` is fine everywhere, definitions are not copied, and `items: false` is replaced elsewhere. */
function asObject(value: boolean, keyword: string): boolean | OpenAPISchema {
  if (/^(?:additional|unevaluated|\$defs|definitions)/.test(keyword) || (keyword === 'items' && !value))
    return value
  return value ? {} : { not: {} }
}

function withoutSafeBounds(schema: OpenAPISchema): void {
  const { minimum, maximum } = schema
  const [isLeast, isMost] = [minimum === Number.MIN_SAFE_INTEGER, maximum === Number.MAX_SAFE_INTEGER]
  if (isLeast) delete schema['minimum']
  if (isMost) delete schema['maximum']
  if (isLeast || isMost) doubleInteger(schema)
}

function doubleInteger(schema: OpenAPISchema): OpenAPISchema {
  schema['format'] ??= 'double-int'
  return schema
}

/** The other keywords mean the same for each of the types. */
function withChoice(schema: OpenAPISchema, types: readonly string[]): OpenAPISchema {
  const { type: _, ...rest } = schema
  if (types.length === 1) return { ...rest, type: types[0] }
  if (types.length === 2 && types.includes('null')) return schema
  return withAnyOf(
    rest,
    types.map((type) => ({ type })),
  )
}

function withAnyOf(schema: OpenAPISchema, anyOf: readonly OpenAPISchema[]): OpenAPISchema {
  if (schema['anyOf'] === undefined) return { anyOf, ...schema }
  return { ...schema, allOf: [...((schema['allOf'] as unknown[] | undefined) ?? []), { anyOf }] }
}

function isOf(type: unknown, value: unknown): boolean {
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  return type === 'integer' ? Number.isInteger(value) : type === typeof value
}
