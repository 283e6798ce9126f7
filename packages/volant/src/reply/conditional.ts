/** Decides which part of a representation a conditional or range request gets (RFC 9110 §13, §14). */
// fresh takes `2030` for a date, and knows no If-Match (docs/decisions/0013-what-libraries-do.md).
import type { Exchange } from '@volant/engine'
import { parseHttpDate } from './http-date.ts'

export interface Validators {
  /** The tag with its quotes, and with W/ if it is weak; empty where there is none, so that it equals no other. */
  readonly etag: string
  /**
   * The time of the last change in milliseconds since 1970, in whole seconds; NaN where it is not known, so that it is
   * neither before nor after another.
   */
  readonly modified: number
}

/** Evaluates the conditions of a GET or HEAD whose reply would be 200, in the order of RFC 9110 §13.2.2. */
export function checkConditions(exchange: Exchange, validators: Validators): 'send' | 'unchanged' | 'failed' {
  const { etag, modified } = validators
  const match = exchange.header('if-match')
  if (match !== undefined) {
    if (!hasTag(match, etag, isStrongMatch)) return 'failed'
  } else {
    const unmodified = dateOf(exchange, 'if-unmodified-since')
    if (unmodified !== null && modified > unmodified) return 'failed'
  }
  const noneMatch = exchange.header('if-none-match')
  if (noneMatch !== undefined) return hasTag(noneMatch, etag, isWeakMatch) ? 'unchanged' : 'send'
  const since = dateOf(exchange, 'if-modified-since')
  return since !== null && modified <= since ? 'unchanged' : 'send'
}

/** True where a condition or a range has to be looked at. Most requests have none. */
export function asksForPart(exchange: Exchange): boolean {
  return (
    exchange.header('if-none-match') !== undefined ||
    exchange.header('if-modified-since') !== undefined ||
    exchange.header('range') !== undefined ||
    exchange.header('if-match') !== undefined ||
    exchange.header('if-unmodified-since') !== undefined
  )
}

/** The offsets of the first and last byte. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** More ranges than these are answered with the whole, which costs less than they do (RFC 9110 §17.15). */
const mostRanges = 16
/** The bytes between two ranges that cost less than the head of another part. */
const smallGap = 80

/**
 * Gives the parts of `size` bytes that Range asks for, at least one, in order, or as they were asked for where they are
 * far apart. Gives null for all of them: without the header, when it is malformed or has another unit, when its ranges
 * overlap or are more than 16, and when If-Range says that the client has another version.
 */
export function rangesOf(
  exchange: Exchange,
  size: number,
  validators: Validators,
): readonly ByteRange[] | 'unsatisfiable' | null {
  const field = exchange.header('range')
  if (field === undefined || !isSameAs(exchange.header('if-range'), validators)) return null
  const set = /^bytes=(.*)$/i.exec(field)?.[1]?.split(',', mostRanges + 1)
  if (set === undefined || set.length > mostRanges) return null
  const ranges: ByteRange[] = []
  for (const text of set) {
    // A list may have empty elements (RFC 9110 §5.6.1.2).
    if (text.trim() === '' && set.length > 1) continue
    const range = rangeOf(text, size)
    if (range === null) return null
    if (range !== 'unsatisfiable') ranges.push(range)
  }
  return ranges.length > 0
    ? coalesced(ranges)
    : set.every((text) => text.trim() === '')
      ? null
      : 'unsatisfiable'
}

/** Gives null for a malformed range, and for the suffix of nothing. */
function rangeOf(text: string, size: number): ByteRange | 'unsatisfiable' | null {
  const [, from = '', to = ''] = /^[ \t]*(\d*)-(\d*)[ \t]*$/.exec(text) ?? []
  if (from === '') {
    if (to === '') return null
    const suffix = Number(to)
    if (suffix === 0) return 'unsatisfiable'
    // An empty file has no last byte that a range could name: the reply is the whole file.
    return size === 0 ? null : { first: Math.max(0, size - suffix), last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? Infinity : Number(to)
  if (last < first) return null
  return first >= size ? 'unsatisfiable' : { first, last: Math.min(last, size - 1) }
}

/** Joins ranges that are next to each other or nearly so; gives null where two overlap. */
function coalesced(ranges: readonly ByteRange[]): readonly ByteRange[] | null {
  if (ranges.length === 1) return ranges
  const joined: ByteRange[] = []
  for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1)
    if (before === undefined || range.first > before.last + smallGap) joined.push(range)
    else if (range.first <= before.last) return null
    else joined[joined.length - 1] = { first: before.first, last: range.last }
  }
  return joined.length === ranges.length ? ranges : joined
}

/** True for a strong match alone, since parts of two versions would be combined (RFC 9110 §13.1.5). */
function isSameAs(condition: string | undefined, { etag, modified }: Validators): boolean {
  if (condition === undefined) return true
  if (condition.endsWith('"')) return isStrongMatch(condition, etag)
  return parseHttpDate(condition) === modified
}

const tags = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

function hasTag(list: string, etag: string, matches: (a: string, b: string) => boolean): boolean {
  if (list === '*') return true
  return (list.match(tags) ?? []).some((tag) => matches(tag, etag))
}

function isStrongMatch(a: string, b: string): boolean {
  return a === b && a.startsWith('"')
}

function isWeakMatch(a: string, b: string): boolean {
  return a.replace(/^W\//, '') === b.replace(/^W\//, '')
}

function dateOf(exchange: Exchange, name: string): number | null {
  const value = exchange.header(name)
  return value === undefined ? null : parseHttpDate(value)
}
