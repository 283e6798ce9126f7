/** Reads the result of a schema's `validate`, which users write, too, so it may be anything. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Schema } from '../types/parts.ts'
import { isThenable } from '../types/thenable.ts'

/** True for a promise of a result. Most results are no promise, so their own members are looked for first. */
export function isLater(result: unknown): result is PromiseLike<StandardSchemaV1.Result<unknown>> {
  if (typeof result !== 'object' || result === null) return false
  if (result instanceof Promise) return true
  return !('value' in result) && !('issues' in result) && isThenable(result)
}

/** Gives the issues of a result, null if there are none. Throws `E_BAD_SCHEMA`, naming `place`, if it is no result. */
export function issuesIn(
  result: unknown,
  { vendor }: StandardSchemaV1.Props,
  place: string,
): readonly StandardSchemaV1.Issue[] | null {
  if (typeof result !== 'object' || result === null) throw noResult(result, vendor, place)
  const { issues } = result as { issues?: unknown }
  if (!issues) {
    if (!('value' in result)) throw noResult(result, vendor, place)
    return null
  }
  if (!Array.isArray(issues)) throw noResult(issues, vendor, place)
  return issues
}

/** Gives the schema's output for undefined; null where it refuses that, or where the answer is asynchronous. */
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

function noResult(given: unknown, vendor: unknown, place: string): VolantError {
  return new VolantError(
    'E_BAD_SCHEMA',
    `${place}: validate of ${briefValue(vendor)} gives { value } or { issues: […] }, not ${briefValue(given)}`,
  )
}
