/** From a checked value to JSON text. */
import type { JSONSchemaObject } from '../schema/json-schema.ts'

export type Serializer = (value: unknown) => string

export function serializerFor(
  _schema: JSONSchemaObject | null,
  _options: { readonly alreadyStripped: boolean },
): Serializer {
  return JSON.stringify
}
