/** Whether a schema accepts or means `undefined`, which JSON Schema cannot express. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isThenable } from '../types/thenable.ts'
import type { Schema } from '../types/parts.ts'

/** What libraries call a schema that takes `undefined` and nothing else. */
const names: ReadonlySet<unknown> = new Set(['void', 'undefined'])

/** Whether the schema is Zod's or Valibot's `void()` or `undefined()`: nothing is asked of it. */
export function isVoid(schema: Schema): boolean {
  const { _zod, type, kind } = schema as {
    _zod?: { def?: { type?: unknown } }
    type?: unknown
    kind?: unknown
  }
  if (_zod !== undefined) return names.has(_zod.def?.type)
  return '~standard' in schema && kind === 'schema' && names.has(type) && !('pipe' in schema)
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
