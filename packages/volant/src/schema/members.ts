/** The members of an object's schema, as far as they can be told: a route's path may have no parameter that its input lacks. */
import { jsonSchemaOf } from './json-schema.ts'
import { membersOf } from './vendors/plain.ts'
import { vendorByShape } from './vendors/vendor-of.ts'
import type { Schema } from '../types/parts.ts'

/** Whether the object may have a member: false only where the JSON Schema lists the members without it. */
export function mayHave(schema: Schema, member: string): boolean {
  const seen = membersSeen(schema)
  if (seen !== null) return seen.includes(member)
  const described = jsonSchemaOf(schema, 'input')
  const names = 'schema' in described ? membersOf(described.schema) : null
  return names === null || names.includes(member)
}

/**
 * The members of an object that has no others, as the schema's own structure shows them, because a start asks no library
 * for a JSON Schema. Null where the structure does not show them.
 */
export function membersSeen(schema: Schema): readonly string[] | null {
  try {
    return vendorByShape(schema)?.membersOf?.(schema) ?? null
  } catch {
    // Another version of the library keeps them elsewhere.
    return null
  }
}
