/**
 * Declared replies that may turn out to include one without content: that is asked of a schema, and no schema is asked
 * anything before somebody wants to know.
 */
import type { Responses } from './types.ts'

const undecided = new WeakMap<Responses, () => boolean>()

/** `responses`, which have 204 as well if `decide` says so. */
export function maybeEmpty(responses: Responses, decide: () => boolean): Responses {
  undecided.set(responses, decide)
  return responses
}

/** Others of the same content, whatever becomes of these. */
export function copied(responses: Responses): Responses {
  const copy = { ...responses }
  const decide = undecided.get(responses)
  return decide === undefined ? copy : maybeEmpty(copy, decide)
}

/** All of them. */
export function decided(responses: Responses): Responses {
  const decide = undecided.get(responses)
  if (decide === undefined) return responses
  undecided.delete(responses)
  return decide() ? Object.assign(responses, { 204: null }) : responses
}
