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
  if (result.issues !== undefined) throw invalid(call, result.issues)
  call.input = result.value
  return call
}

function invalid({ partOf }: CallState, found: readonly StandardSchemaV1.Issue[]): ValidationError {
  const issues = issuesOf('input', found, [])
  if (partOf === null) return new ValidationError(issues)
  return new ValidationError(
    issues.map((issue, at) => {
      const [member] = found[at]?.path ?? []
      return { ...issue, in: partOf(member === undefined ? undefined : keyOf(member)) }
    }),
  )
}

function keyOf(member: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof member === 'object' ? member.key : member)
}
