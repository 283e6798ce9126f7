/**
 * Declared replies that may turn out to include one without content: that is asked of a schema, and no schema is asked
 * anything before somebody wants to know.
 */
import type { Responses } from '../types/parts.ts'

const conditions = new WeakMap<Responses, () => boolean>()

/** `responses`, which have 204 as well if `hasEmpty` says so. */
export function undecided(responses: Responses, hasEmpty: () => boolean): Responses {
  conditions.set(responses, hasEmpty)
  return responses
}

/** A copy, whatever becomes of the caller's. Those with a condition belong to procedures, which decide once for all of their routes. */
export function copy(responses: Responses): Responses {
  return conditions.has(responses) ? responses : { ...responses }
}

/** The responses, with 204 where the schema turned out to take nothing. */
export function decide(responses: Responses): Responses {
  const hasEmpty = conditions.get(responses)
  if (hasEmpty === undefined) return responses
  conditions.delete(responses)
  return hasEmpty() ? Object.assign(responses, { 204: null }) : responses
}
