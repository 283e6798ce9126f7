/** What a schema says of a reply it rejects, without the reply: messages of many libraries quote what they were given. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { shown } from './shown.ts'
import { pointerTo } from './validation.ts'

/** Issues that are named, and alternatives of one. */
const most = 5
/** Characters of a place, and of what was expected there. */
const longest = 200
/** Unions in unions. */
const deepest = 4

type Issue = Readonly<Record<string, unknown>>

/** Places and what was expected there: `#/name: expected string; #/age: too_small, at least 18`. */
export function issueSummary(issues: readonly StandardSchemaV1.Issue[], vendor = ''): string {
  const named = issues.slice(0, most).map((issue) => summaryOf(issue, vendor))
  const more = issues.length - named.length
  return named.join('; ') + (more > 0 ? ` and ${more} more` : '')
}

/** Schemas of users may give anything for an issue. */
function summaryOf(issue: unknown, vendor: string): string {
  if (!isIssue(issue)) return '#: not as declared'
  return `${placeOf(issue).slice(0, longest)}: ${expectation(issue, vendor, 0).slice(0, longest)}`
}

function isIssue(issue: unknown): issue is Issue {
  return typeof issue === 'object' && issue !== null
}

function placeOf({ path }: Issue): string {
  return pointerTo(Array.isArray(path) ? path : [])
}

/** Of each library what its schemas say, never what its messages do. Ours quote no value. */
function expectation(issue: Issue, vendor: string, depth: number): string {
  if (vendor === 'ajv' && typeof issue['message'] === 'string') return issue['message']
  if (vendor === 'zod') return ofZod(issue, depth)
  if (vendor === 'valibot') return ofValibot(issue)
  if (vendor === 'arktype') return ofArkType(issue, depth)
  const { expected, code, type } = issue
  if (typeof expected === 'string') return `expected ${expected}`
  if (typeof code === 'string') return code
  return typeof type === 'string' ? type : 'not as declared'
}

function ofZod(issue: Issue, depth: number): string {
  const { code, expected } = issue
  if (typeof expected === 'string') return `expected ${expected}`
  if (typeof code !== 'string') return 'not as declared'
  const more = moreOfZod(code, issue, depth)
  return more === '' ? code : `${code}, ${more}`
}

function moreOfZod(code: string, issue: Issue, depth: number): string {
  if (code === 'too_big') return bound(issue, 'maximum', 'less than', 'at most')
  if (code === 'too_small') return bound(issue, 'minimum', 'more than', 'at least')
  if (code === 'not_multiple_of') return `a multiple of ${shown(issue['divisor'])}`
  if (code === 'invalid_value') return oneOf(issue['values'])
  if (code === 'invalid_format') {
    const { format, prefix, suffix, includes, pattern } = issue
    if (typeof format !== 'string') return ''
    const part = prefix ?? suffix ?? includes ?? (format === 'regex' ? pattern : undefined)
    return typeof part === 'string' ? `${format} ${shown(part)}` : format
  }
  if (code !== 'invalid_union' || depth >= deepest) return ''
  if (Array.isArray(issue['options'])) return oneOf(issue['options'])
  const { errors } = issue
  const firsts = Array.isArray(errors)
    ? errors.map((each: unknown) => (Array.isArray(each) ? each[0] : null))
    : []
  return some(
    firsts.filter(isIssue).map((each) => {
      const place = placeOf(each)
      return `${place === '#' ? '' : `${place} `}${ofZod(each, depth + 1)}`
    }),
    ' or ',
  )
}

const units: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' items',
  set: ' items',
  map: ' entries',
  file: ' bytes',
}

/** Dates are given in milliseconds. */
function bound(issue: Issue, name: string, without: string, including: string): string {
  const { origin, inclusive, exact } = issue
  const limit = issue[name]
  if (typeof limit !== 'number' && typeof limit !== 'bigint' && !(limit instanceof Date)) return ''
  const date = origin === 'date' ? new Date(Number(limit)) : null
  const text = date === null ? String(limit) : Number.isNaN(date.getTime()) ? '' : date.toISOString()
  const words = exact === true ? 'exactly' : inclusive === false ? without : including
  const unit = typeof origin === 'string' && Object.hasOwn(units, origin) ? units[origin] : ''
  return `${words} ${text}${unit}`
}

/** What the schema lets through. */
function oneOf(values: unknown): string {
  if (!Array.isArray(values)) return ''
  if (values.length === 1) return `expected ${shown(values[0])}`
  return values.length > most ? `one of ${values.length} values` : `one of ${values.map(shown).join(', ')}`
}

function some(all: readonly string[], between: string): string {
  const distinct = [...new Set(all)]
  return distinct.slice(0, most).join(between) + (distinct.length > most ? `${between}others` : '')
}

/** What is expected by a `rawCheck` is whatever its author made of the value. */
function ofValibot({ kind, type, expected, path }: Issue): string {
  if (typeof type !== 'string') return 'not as declared'
  if (typeof expected !== 'string' || type.startsWith('raw_')) return type
  const last: unknown = Array.isArray(path) ? path.at(-1) : undefined
  const isKey = typeof last === 'object' && last !== null && (last as { origin?: unknown }).origin === 'key'
  if (kind === 'schema' && isKey && expected !== 'never') return 'not there'
  return kind === 'schema' ? `expected ${expected}` : `${type}, expected ${expected}`
}

/** What is expected of a union, and by a predicate, is made of messages, which quote. */
function ofArkType({ code, expected, description, errors }: Issue, depth: number): string {
  if (typeof code !== 'string') return 'not as declared'
  if (code === 'union' || code === 'intersection') {
    const parts = Array.isArray(errors) && depth < deepest ? errors : []
    const inner = parts.filter(isIssue).map((each) => ofArkType(each, depth + 1).replace(/^expected /, ''))
    const words = some(inner, code === 'union' ? ' or ' : ' and ')
    return words === '' ? `fails its ${code}` : `expected ${words}`
  }
  if (code === 'predicate')
    return typeof description === 'string' ? `expected ${description}` : `fails its ${code}`
  return typeof expected === 'string' ? `expected ${expected}` : code
}
