/** What a schema says of a reply it rejects, without the reply: messages of many libraries quote what they were given. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { pointerTo } from './validation.ts'

/** Issues that are named. */
const most = 5

/** Libraries whose messages quote no value. */
const discreet: ReadonlySet<string> = new Set(['zod', 'ajv'])

/** Places and what was expected there: `#/name: expected string; #/age: too_small`. */
export function issueSummary(issues: readonly StandardSchemaV1.Issue[], vendor = ''): string {
  const named = issues
    .slice(0, most)
    .map((issue) => `${pointerTo(issue.path ?? [])}: ${expectation(issue, vendor)}`)
  const more = issues.length - named.length
  return named.join('; ') + (more > 0 ? ` and ${more} more` : '')
}

function expectation(issue: StandardSchemaV1.Issue, vendor: string): string {
  if (discreet.has(vendor)) return issue.message
  const { expected, code, type } = issue as { expected?: unknown; code?: unknown; type?: unknown }
  // What ArkType expects of these is made of messages, which quote.
  if (code === 'union' || code === 'intersection') return `fails its ${code}`
  if (typeof expected === 'string') return `expected ${expected}`
  if (typeof code === 'string') return code
  return typeof type === 'string' ? type : 'not as declared'
}
