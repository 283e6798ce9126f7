/**
 * Declared replies that may include one without content. Only the schema can say so, and it is not used before the
 * answer is needed.
 */
import type { Responses } from '../types/parts.ts'

const conditions = new WeakMap<Responses, () => boolean>()

/** Gives `responses`, to which 204 belongs if `hasEmpty` says so. */
export function undecided(responses: Responses, hasEmpty: () => boolean): Responses {
  conditions.set(responses, hasEmpty)
  return responses
}

/**
 * Copies the responses, since the caller's object may change. Those with a condition belong to procedures, which decide
 * once for all of their routes.
 */
export function copy(responses: Responses): Responses {
  return conditions.has(responses) ? responses : { ...responses }
}

/** Gives the responses, with 204 where the schema accepts undefined. */
export function decide(responses: Responses): Responses {
  const hasEmpty = conditions.get(responses)
  if (hasEmpty === undefined) return responses
  conditions.delete(responses)
  return hasEmpty() ? Object.assign(responses, { 204: null }) : responses
}
