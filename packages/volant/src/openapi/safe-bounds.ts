/** Bounds of integers that say no more than what JavaScript counts with. */
import type { JSONSchemaObject } from './document.ts'
import { mapSubschemas } from './subschemas.ts'

const known = new WeakMap<JSONSchemaObject, JSONSchemaObject>()

/**
 * The schema without `minimum` and `maximum` of integers where they are those of safe integers, as Zod's `int()` has
 * them: of use to nobody who is sent such a number. Who sends one is held to them.
 */
export function withoutSafeBounds(schema: JSONSchemaObject): JSONSchemaObject {
  let made = known.get(schema)
  if (made === undefined) {
    made = JSON.stringify(schema).includes(String(Number.MAX_SAFE_INTEGER)) ? without(schema) : schema
    known.set(schema, made)
  }
  return made
}

function without(schema: JSONSchemaObject): JSONSchemaObject {
  const made = mapSubschemas(schema, without)
  if (made['type'] !== 'integer') return made
  if (made['minimum'] === Number.MIN_SAFE_INTEGER) delete made['minimum']
  if (made['maximum'] === Number.MAX_SAFE_INTEGER) delete made['maximum']
  return made
}
