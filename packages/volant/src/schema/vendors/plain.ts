/** Describes plain JSON Schema, which Ajv validates. */
import type { Vendor } from './vendor.ts'

export const plain: Vendor = {
  // Our own messages never quote the value.
  expectation: ({ message }) => (typeof message === 'string' ? message : 'not as declared'),
  membersOf,
}

/** These keywords may name members elsewhere. */
const open = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'patternProperties',
  'unevaluatedProperties',
]

/** Reads JSON Schema that a library made, too. */
export function membersOf(schema: object): readonly string[] | null {
  const { properties, required, additionalProperties = false } = schema as Record<string, unknown>
  if (typeof properties !== 'object' || properties === null || additionalProperties !== false) return null
  if (open.some((keyword) => Object.hasOwn(schema, keyword))) return null
  return [...Object.keys(properties), ...(Array.isArray(required) ? (required as string[]) : [])]
}
