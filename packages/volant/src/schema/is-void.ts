/** Whether a schema accepts or means `undefined`, which JSON Schema cannot express. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isThenable } from '../types/thenable.ts'
import type { Schema } from '../types/parts.ts'
import { vendorByShape } from './vendors/vendor-of.ts'

/** True for `void()` or `undefined()` of Zod or Valibot, which take `undefined` and nothing else. */
export function isVoid(schema: Schema): boolean {
  return vendorByShape(schema)?.isVoid?.(schema) ?? false
}

/** What the schema makes of undefined; null where it refuses that, or where the answer is asynchronous. */
export function madeOfNothing(schema: Schema): { readonly value: unknown } | null {
  // JSON has no undefined, so a plain JSON Schema is not compiled for this.
  const props = (schema as Partial<StandardSchemaV1>)['~standard']
  if (props === undefined) return null
  try {
    const result = props.validate(undefined)
    if (!isThenable(result)) return result.issues === undefined ? { value: result.value } : null
    result.then(undefined, () => {})
  } catch {
    // A schema may read members of the value without looking whether there is one.
  }
  return null
}
