/** Makes schemas of values that the framework makes itself: documents and types use them, and nothing is checked. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Responses, Schema } from '../types/parts.ts'
import type { JSONSchemaObject } from './document.ts'
import type { ConvertedSchema } from './json-schema.ts'

/** A schema with a JSON Schema that accepts every value. */
export interface DocOnlySchema extends StandardSchemaV1, StandardJSONSchemaV1 {
  readonly '~standard': StandardSchemaV1.Props & StandardJSONSchemaV1.Props
}

const all = new WeakSet<object>()

/** Makes a schema for a value that needs no check, since this package makes it. */
export function described(schema: JSONSchemaObject): DocOnlySchema {
  return documentOnly(
    () => ({ schema }),
    (value) => ({ value }),
  )
}

/**
 * Makes a schema for an input that the handler checks itself: it is in documents and types, and the route does not
 * check by it. `validate` is only called to learn whether the input may be missing.
 */
export function documentOnly(
  describe: () => ConvertedSchema,
  validate: StandardSchemaV1.Props['validate'],
): DocOnlySchema {
  const json = (): Record<string, unknown> => {
    const made = describe()
    if ('opaque' in made) throw new Error(made.opaque)
    return { ...made.schema }
  }
  const made: DocOnlySchema = {
    '~standard': { version: 1, vendor: 'volant', validate, jsonSchema: { input: json, output: json } },
  }
  all.add(made)
  return made
}

export function isDocumentOnly(schema: Schema): boolean {
  return all.has(schema)
}

/** True if none of these replies has to be checked. */
export function isDescribedOnly(responses: Responses): boolean {
  const schemas = Object.values(responses).filter((schema) => schema !== null)
  return schemas.length > 0 && schemas.every((schema) => all.has(schema))
}

/** Makes an object schema that requires all its properties. */
export function objectOf(properties: Readonly<Record<string, JSONSchemaObject>>): JSONSchemaObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
