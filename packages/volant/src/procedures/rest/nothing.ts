/** Whether a schema has use for nothing at all: no query, no value. */
import { standardOf } from '../../schema/standard.ts'
import { isThenable } from '../../types/thenable.ts'
import type { Schema } from '../../types/parts.ts'

/** What the schema makes of undefined; null where it refuses that, or says so only later. */
export function madeOfNothing(schema: Schema): { readonly value: unknown } | null {
  // JSON has no undefined, and what is no more than a JSON Schema is not compiled to be told so.
  if (!('~standard' in schema)) return null
  try {
    const result = standardOf(schema, "a procedure's schema").validate(undefined)
    if (!isThenable(result)) return result.issues === undefined ? { value: result.value } : null
    result.then(undefined, () => {})
  } catch {
    // A schema that looks into what is not there.
  }
  return null
}
