/** Schemas of nothing, which JSON Schema cannot say. */
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
