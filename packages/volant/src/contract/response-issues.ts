/** What a schema says of a reply it rejects, without the reply: messages of many libraries quote what they were given. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { briefValue } from '../errors/brief-value.ts'
import { fragmentOf } from '../schema/json-pointer.ts'

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
  return fragmentOf(Array.isArray(path) ? path : [])
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
  // Any other code has it of the author of a check, who has the value.
  if (code === 'invalid_type' && typeof expected === 'string') return `expected ${expected}`
  if (typeof code !== 'string') return 'not as declared'
  const more = moreOfZod(code, issue, depth)
  return more === '' ? code : `${code}, ${more}`
}

function moreOfZod(code: string, issue: Issue, depth: number): string {
  if (code === 'too_big') return bound(issue, 'maximum', 'less than', 'at most')
  if (code === 'too_small') return bound(issue, 'minimum', 'more than', 'at least')
  if (code === 'not_multiple_of') return `a multiple of ${briefValue(issue['divisor'])}`
  if (code === 'invalid_value') return oneOf(issue['values'])
  if (code === 'invalid_format') {
    const { format, prefix, suffix, includes, pattern } = issue
    if (typeof format !== 'string') return ''
    const part = prefix ?? suffix ?? includes ?? (format === 'regex' ? pattern : undefined)
    return typeof part === 'string' ? `${format} ${briefValue(part)}` : format
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
  if (values.length === 1) return `expected ${briefValue(values[0])}`
  return values.length > most
    ? `one of ${values.length} values`
    : `one of ${values.map(briefValue).join(', ')}`
}

function some(all: readonly string[], between: string): string {
  const distinct = [...new Set(all)]
  return distinct.slice(0, most).join(between) + (distinct.length > most ? `${between}others` : '')
}

/** What is expected by a `rawCheck` is whatever its author made of the value. */
function ofValibot({ kind, type, expected, path, received }: Issue): string {
  if (typeof type !== 'string') return 'not as declared'
  if (typeof expected !== 'string' || type.startsWith('raw_')) return type
  const last: unknown = Array.isArray(path) ? path.at(-1) : undefined
  const isKey = typeof last === 'object' && last !== null && (last as { origin?: unknown }).origin === 'key'
  // Objects tell of members in the same way as records of a key they refuse.
  const isObject = /^(?:loose_|strict_)?object(?:_with_rest)?$/.test(type)
  if (isKey && isObject && received === 'undefined') return 'not there'
  const words = kind === 'schema' ? `expected ${expected}` : `${type}, expected ${expected}`
  return isKey && !isObject ? `its name: ${words}` : words
}

/** What nodes of a schema say has their `meta` beside it; what a function says of a value has none, and may quote. */
function ofArkType(issue: Issue, depth: number): string {
  const { code, errors } = issue
  if (typeof code !== 'string') return 'not as declared'
  if (code === 'union' || code === 'intersection') {
    const parts = Array.isArray(errors) && depth < deepest ? errors.filter(isIssue) : []
    return ofArkTypes(issue, code, parts, depth)
  }
  const isOwn = Object.hasOwn(issue, 'meta')
  if (isOwn && typeof issue['expected'] === 'string') return `expected ${issue['expected']}`
  return code === 'predicate' ? `fails its ${code}` : code
}

/** What they make of these themselves is made of messages, which quote. Places of parts are from the root. */
function ofArkTypes(whole: Issue, code: string, parts: readonly Issue[], depth: number): string {
  const between = code === 'union' ? ' or ' : ' and '
  const place = placeOf(whole)
  const words = parts.map((part) => ({ at: placeOf(part), said: ofArkType(part, depth + 1) }))
  if (words.length === 0) return `fails its ${code}`
  if (words.every(({ at, said }) => at === place && said.startsWith('expected '))) {
    const all = words.map(({ said }) => said.replace('expected ', ''))
    return `expected ${some(all, between)}`
  }
  const all = words.map(({ at, said }) => (at === place ? said : `${at} ${said}`))
  return `fails its ${code}: ${some(all, between)}`
}
