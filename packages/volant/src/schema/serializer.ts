/** From a value to JSON text, by what the schema of a reply says. */
import type { JSONSchemaObject } from './document.ts'
import { placeOf } from './schema-node.ts'
import { projectionOf } from './strip-codegen.ts'
import { strip } from './strip.ts'

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
 * none. Nothing is worked out or compiled before its first call. It must not come from a client.
 *
 * Which one is a matter of measurement: docs/decisions/0009-serializers.md.
 */
export function serializerFor(
  schema: JSONSchemaObject | null,
  { alreadyStripped }: SerializerOptions,
): Serializer {
  if (schema === null || alreadyStripped) return JSON.stringify
  let serialize: Serializer = (value) => {
    serialize = stripping(schema)
    return serialize(value)
  }
  return (value) => serialize(value)
}

function stripping(schema: JSONSchemaObject): Serializer {
  const place = placeOf(schema)
  if (place.idle) return JSON.stringify
  const walked: Serializer = (value) => JSON.stringify(strip(value, schema))
  const project = projectionOf(place)
  if (project === null) return walked
  return (value) => {
    let projected: unknown
    try {
      projected = project(value)
    } catch {
      return walked(value)
    }
    return JSON.stringify(projected)
  }
}
