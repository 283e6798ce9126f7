/** What a schema says of a reply it rejects, without the reply: messages of many libraries quote what they were given. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { pointerTo } from './validation.ts'

/** Issues that are named. */
const most = 5
/** Characters of a place, and of what was expected there. */
const longest = 200

/** Whose messages are ours and quote no value. Those of the others are theirs, or what their users wrote. */
const own = 'ajv'

/** Places and what was expected there: `#/name: expected string; #/age: too_small`. */
export function issueSummary(issues: readonly StandardSchemaV1.Issue[], vendor = ''): string {
  const named = issues.slice(0, most).map((issue) => summaryOf(issue, vendor))
  const more = issues.length - named.length
  return named.join('; ') + (more > 0 ? ` and ${more} more` : '')
}

/** Schemas of users may give anything for an issue. */
function summaryOf(issue: unknown, vendor: string): string {
  if (typeof issue !== 'object' || issue === null) return '#: not as declared'
  const { path } = issue as Partial<StandardSchemaV1.Issue>
  const place = pointerTo(Array.isArray(path) ? path : [])
  return `${place.slice(0, longest)}: ${expectation(issue, vendor).slice(0, longest)}`
}

function expectation(issue: object, vendor: string): string {
  const { expected, code, type, message } = issue as Record<string, unknown>
  if (vendor === own && typeof message === 'string') return message
  // What ArkType expects of these is made of messages, which quote.
  if (code === 'union' || code === 'intersection') return `fails its ${code}`
  if (typeof expected === 'string') return `expected ${expected}`
  if (typeof code === 'string') return code
  return typeof type === 'string' ? type : 'not as declared'
}
