/** Schemas of values the framework makes itself: they describe them to callers, and nothing is checked. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Responses } from '../types/parts.ts'
import type { JSONSchemaObject } from './document.ts'

/** A schema that says what `schema` says and lets every value pass. */
export interface Described extends StandardSchemaV1, StandardJSONSchemaV1 {
  readonly '~standard': StandardSchemaV1.Props & StandardJSONSchemaV1.Props
}

const all = new WeakSet<object>()

/** JSON Schema (draft 2020-12) of a value that needs no check, since this package made it. */
export function described(schema: JSONSchemaObject): Described {
  const made: Described = {
    '~standard': {
      version: 1,
      vendor: 'volant',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => ({ ...schema }), output: () => ({ ...schema }) },
    },
  }
  all.add(made)
  return made
}

/** Nothing of these replies is to be checked. */
export function isDescribedOnly(responses: Responses): boolean {
  const schemas = Object.values(responses).filter((schema) => schema !== null)
  return schemas.length > 0 && schemas.every((schema) => all.has(schema))
}

/** An object whose members are all there. */
export function objectOf(properties: Readonly<Record<string, JSONSchemaObject>>): JSONSchemaObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
