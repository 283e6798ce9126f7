/** Where a JSON Schema has other schemas in it (JSON Schema 2020-12 core §10, §11, and `items` of older drafts). */
import type { JSONSchemaObject } from './types.ts'

const one = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const list = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'])
const byName = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'])

/** Gives what stands for `true` and `false`, which are schemas, too. */
type OfBoolean = (value: boolean, keyword: string) => unknown

/** A copy whose subschemas are what `change` makes of them; other keywords are data and stay. */
export function mapSubschemas(
  schema: JSONSchemaObject,
  change: (subschema: JSONSchemaObject) => JSONSchemaObject,
  ofBoolean: OfBoolean = (value) => value,
): JSONSchemaObject {
  const changed = (value: unknown, keyword: string): unknown =>
    isObject(value) ? change(value) : typeof value === 'boolean' ? ofBoolean(value, keyword) : value
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (list.has(keyword) && Array.isArray(value))
        return [keyword, value.map((each) => changed(each, keyword))]
      if (one.has(keyword)) return [keyword, changed(value, keyword)]
      if (!byName.has(keyword) || !isObject(value)) return [keyword, value]
      const named = Object.entries(value).map(([name, each]) => [name, changed(each, keyword)] as const)
      return [keyword, Object.fromEntries(named)]
    }),
  )
}

export function isObject(value: unknown): value is JSONSchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
