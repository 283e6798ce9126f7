/**
 * Declared replies that may turn out to include one without content: that is asked of a schema, and no schema is asked
 * anything before somebody wants to know.
 */
import type { Responses } from '../types/parts.ts'

const undecided = new WeakMap<Responses, () => boolean>()

/** `responses`, which have 204 as well if `decide` says so. */
export function maybeEmpty(responses: Responses, decide: () => boolean): Responses {
  undecided.set(responses, decide)
  return responses
}

/** A copy, whatever becomes of the caller's. Those that are undecided are a door's own, which decides them for all. */
export function copied(responses: Responses): Responses {
  return undecided.has(responses) ? responses : { ...responses }
}

/** All of them. */
export function decided(responses: Responses): Responses {
  const decide = undecided.get(responses)
  if (decide === undefined) return responses
  undecided.delete(responses)
  return decide() ? Object.assign(responses, { 204: null }) : responses
}
