/** The one way to a schema's `validate`, whatever library it is of. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { VolantError } from '../errors.ts'

/** Where a value comes from: text of the request's head, its body, or a handler. */
export type SchemaUse = 'text' | 'body' | 'response'

/** Throws `E_BAD_SCHEMA` for what is no schema; `where` names the place. */
export function standardOf(schema: unknown, where: string, _use: SchemaUse = 'body'): StandardSchemaV1.Props {
  const props = (schema as Partial<StandardSchemaV1> | null)?.['~standard']
  if (typeof props?.validate === 'function') return props
  throw new VolantError(
    'E_BAD_SCHEMA',
    `${where} takes a schema with '~standard' (Zod 4, Valibot, ArkType, …), not ${nameOf(schema)}`,
  )
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object'
    ? `an object with ${Object.keys(value).slice(0, 3).join(', ') || 'no keys'}`
    : typeof value
}
