/** From a value to JSON text, by what the schema of a reply says. */
import type { JSONSchemaObject } from '../schema/json-schema.ts'
import { strip } from './undeclared.ts'

/**
 * JSON text of a value: what JSON.stringify gives for it, or throws, after undeclared properties were dropped. As with
 * that, undefined for what JSON has nothing for.
 */
export type Serializer = (value: unknown) => string

/** What is known about the values of a serializer. */
export interface SerializerOptions {
  /** True if nothing undeclared can be in them: whoever checked them made a copy of what is declared. */
  readonly alreadyStripped: boolean
}

/**
 * The serializer of values that `schema` describes, a JSON Schema (draft 2020-12) of what is sent; null if there is
 * none. Nothing is worked out before its first call.
 */
export function serializerFor(
  schema: JSONSchemaObject | null,
  { alreadyStripped }: SerializerOptions,
): Serializer {
  if (schema === null || alreadyStripped) return JSON.stringify
  return (value) => JSON.stringify(strip(value, schema))
}
