/** What goes into a procedure, checked by its schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ValidationError } from '../errors.ts'
import { standardOf } from '../schema/standard.ts'
import { isThenable } from '../thenable.ts'
import type { Schema } from '../types.ts'
import { issuesOf } from '../validation.ts'
import type { CallState, Perform } from './definition.ts'

type Result = StandardSchemaV1.Result<unknown>

/** The handler behind its input's schema. */
export function checkInput(schema: Schema, handler: Perform): Perform {
  const props = standardOf(schema, "a procedure's input")
  return (call) => {
    const result = props.validate(call.input)
    if (isThenable(result)) return checkedLater(call, result, handler)
    return handler(checked(call, result))
  }
}

async function checkedLater(
  call: CallState,
  result: PromiseLike<Result>,
  handler: Perform,
): Promise<unknown> {
  return handler(checked(call, await result))
}

function checked(call: CallState, result: Result): CallState {
  if (result.issues !== undefined) throw new ValidationError(issuesOf('input', result.issues, []))
  call.input = result.value
  return call
}
