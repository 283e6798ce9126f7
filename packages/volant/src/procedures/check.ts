/** What goes into a procedure, checked by its schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ValidationError } from '../errors/errors.ts'
import { isLater, issuesIn } from '../schema/result.ts'
import { standardOf } from '../schema/standard.ts'
import type { Schema } from '../types/parts.ts'
import { issuesOf } from '../request/validation.ts'
import type { CallState, Perform } from './definition.ts'

type Result = StandardSchemaV1.Result<unknown>

/** The handler behind its input's schema. */
export function checkInput(schema: Schema, handler: Perform): Perform {
  const props = standardOf(schema, place)
  return (call) => {
    const result = props.validate(call.input)
    if (isLater(result)) return checkedLater(call, result, props, handler)
    return handler(checked(call, result, props))
  }
}

/** Names the schema in errors. */
const place = "a procedure's input"

async function checkedLater(
  call: CallState,
  result: PromiseLike<Result>,
  props: StandardSchemaV1.Props,
  handler: Perform,
): Promise<unknown> {
  return handler(checked(call, await result, props))
}

function checked(call: CallState, result: Result, props: StandardSchemaV1.Props): CallState {
  const issues = issuesIn(result, props, place)
  if (issues !== null) throw invalid(call, issues)
  call.input = (result as StandardSchemaV1.SuccessResult<unknown>).value
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
