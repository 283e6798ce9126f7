/** The JSON Schema of a schema, for whatever describes or writes its values. */
import type { StandardJSONSchemaV1 } from '@standard-schema/spec'
import type { Schema } from './infer.ts'

/** A JSON Schema of draft 2020-12. */
export type JSONSchemaObject = Readonly<Record<string, unknown>>

/** The schema, or why there is none. */
export type Described = { readonly schema: JSONSchemaObject } | { readonly opaque: string }

/** Of what goes in or of what comes out. */
export function jsonSchemaOf(schema: Schema, io: 'input' | 'output'): Described {
  const { jsonSchema } = ((schema as Partial<StandardJSONSchemaV1>)['~standard'] ??
    {}) as Partial<StandardJSONSchemaV1.Props>
  if (jsonSchema === undefined) return { opaque: 'its library has no JSON Schema for it' }
  try {
    return { schema: jsonSchema[io]({ target: 'draft-2020-12' }) }
  } catch (error) {
    return { opaque: error instanceof Error ? error.message : String(error) }
  }
}
