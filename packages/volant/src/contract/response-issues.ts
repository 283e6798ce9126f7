/** Describes the issues of a reply without the reply itself: messages of many libraries quote the value. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isIssue, mostNamed, pointerOf } from '../schema/vendors/vendor.ts'
import { vendorNamed } from '../schema/vendors/vendor-of.ts'

/** The most characters of a pointer, and of what was expected there. */
const longest = 200

/** Gives pointers and what was expected there: `#/name: expected string; #/age: too_small, at least 18`. */
export function issueSummary(issues: readonly StandardSchemaV1.Issue[], vendor = ''): string {
  const { expectation } = vendorNamed(vendor)
  const named = issues.slice(0, mostNamed).map((issue: unknown) => {
    if (!isIssue(issue)) return '#: not as declared'
    return `${pointerOf(issue).slice(0, longest)}: ${expectation(issue, 0).slice(0, longest)}`
  })
  const more = issues.length - named.length
  return named.join('; ') + (more > 0 ? ` and ${more} more` : '')
}
