/**
 * The spelling of paths and patterns: the one canonical form of a request's path, and a pattern's segments. The rules
 * are those of crates/wire (`canonicalise`) and crates/route (`pattern.rs`); both are tested with the same tables,
 * crates/route/cases.
 */
import { VolantError } from '../errors/errors.ts'

export const maxParams = 32
/** The most UTF-8 bytes of a pattern. */
export const maxPattern = 4096

/** True when the last parameter of `pattern` is the rest of the path. */
export function endsInWildcard(pattern: string): boolean {
  return pattern.startsWith('*', pattern.lastIndexOf('/') + 1)
}
export const maxSegments = 256

const plain = /^\/[^\0- "#%.<>?[\\\]^`{|}\x7f-\uffff]*$/
const forbidden = /[\0- "#<>?\\`{}\x7f-\uffff]/
const brokenEscape = /%(?![0-9A-Fa-f]{2})/
/** Matches an escape, or a character that clients send as it is although RFC 3986 does not allow it in a path. */
const escapes = /%[0-9A-Fa-f]{2}|[[\]^|]/g
const rewritten = /[%[\]^|]/
const escapeOutsideAscii = /%[89A-Fa-f]/
const unreserved = /^[A-Za-z0-9\-._~]$/
const loneSurrogate = /^[\ud800-\udfff]$/
const optionalParam = /^:[A-Za-z0-9_]*\?$/
const dotSegment = /\/\.\.?(?:\/|$)/

/**
 * Gives the canonical form of a raw path (RFC 3986 §6.2.2): escaped unreserved characters decoded, other escapes in
 * upper-case hex, `[`, `]`, `^` and `|` escaped, `%2F` kept, `//` kept. Gives null for text that is not a path: it has
 * a malformed escape, `%00`, escapes that are not UTF-8, a segment `.` or `..` (escaped or not), a character outside
 * ASCII, a control, a space, or one of `"#<>?\` + '`{}', or it does not begin with `/`.
 */
export function canonicalPath(raw: string): string | null {
  if (plain.test(raw)) return raw
  if (raw.charCodeAt(0) !== 0x2f || forbidden.test(raw)) return null
  const path = rewritten.test(raw) ? withCanonicalEscapes(raw) : raw
  return path === null || dotSegment.test(path) ? null : path
}

function withCanonicalEscapes(text: string): string | null {
  if (brokenEscape.test(text) || text.includes('%00')) return null
  if (escapeOutsideAscii.test(text) && !isText(text)) return null
  return text.replace(escapes, (escape) => {
    if (escape.length === 1) return `%${escape.charCodeAt(0).toString(16).toUpperCase()}`
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return unreserved.test(character) ? character : escape.toUpperCase()
  })
}

/** True when the escapes are UTF-8. decodeURIComponent refuses overlong forms, surrogates and stray bytes. */
function isText(escaped: string): boolean {
  try {
    decodeURIComponent(escaped)
    return true
  } catch {
    return false
  }
}

/** A segment of a pattern; `text` and `suffix` are canonical. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string; readonly suffix: string; readonly optional: boolean }
  | { readonly kind: 'wildcard'; readonly name: string }

export interface Pattern {
  readonly segments: readonly Segment[]
  /** The parameter names in order; an unnamed wildcard is called `*`. */
  readonly names: readonly string[]
  /** The number of last segments that may be absent. */
  readonly optional: number
}

// The names are those of `Reason` in crates/route.
/** The reason why a pattern is refused. */
export type PatternReason =
  | 'NoLeadingSlash'
  | 'TooLong'
  | 'TooManySegments'
  | 'TooManyParameters'
  | 'BadName'
  | 'DuplicateName'
  | 'NotWholeSegment'
  | 'BadSuffix'
  | 'OptionalWithSuffix'
  | 'OptionalNotLast'
  | 'WildcardNotLast'
  | 'BadCharacter'
  | 'BadEscape'
  | 'BadText'
  | 'DotSegment'

/** The error for a route whose pattern is malformed. Its `code` is `E_ROUTE_PATTERN`. */
export class RoutePatternError extends VolantError {
  /** The pattern as it was given. */
  readonly pattern: string
  /** The reason. The message says the same as a sentence. */
  readonly reason: PatternReason

  /** `subject` is the name or character the reason is about. */
  constructor(pattern: string, reason: PatternReason, subject = '') {
    super('E_ROUTE_PATTERN', `Route pattern "${pattern}": ${explain(reason, subject)}`)
    this.name = 'RoutePatternError'
    this.pattern = pattern
    this.reason = reason
  }
}

function explain(reason: PatternReason, subject: string): string {
  switch (reason) {
    case 'NoLeadingSlash':
      return 'it must start with "/"'
    case 'TooLong':
      return `it is longer than ${maxPattern} bytes`
    case 'TooManySegments':
      return `it has more than ${maxSegments} segments`
    case 'TooManyParameters':
      return `it has more than ${maxParams} parameters`
    case 'BadName':
      return subject === ''
        ? 'a parameter needs a name after ":"; write "::" for a literal colon'
        : `"${subject}" is not a parameter name; use letters, digits and "_", with no digit first`
    case 'DuplicateName':
      return `it has two parameters named "${subject}"; rename one of them`
    case 'NotWholeSegment':
      return subject === ':'
        ? 'a parameter starts its segment; write "::" for a literal colon'
        : 'a wildcard is a whole segment: "*" or "*name"'
    case 'BadSuffix':
      return `"${subject}" cannot follow a parameter's name; a suffix starts with "." or "-", the rest of a path is "*name", and values are checked by the route's schema`
    case 'OptionalWithSuffix':
      return 'a parameter with a suffix cannot be optional; register the shorter path as a route of its own'
    case 'OptionalNotLast':
      return 'only the last segments can be optional; register two routes'
    case 'WildcardNotLast':
      return 'a wildcard must be the last segment'
    case 'BadCharacter':
      return `"${subject}" cannot be in a path; write it percent-encoded, and a parameter as ":name"`
    case 'BadEscape':
      return '"%" needs two hexadecimal digits; write %25 for a literal one'
    case 'BadText':
      return 'its escapes are not UTF-8 text, or hold a zero byte'
    case 'DotSegment':
      return 'no request path has a segment "." or ".."'
  }
}

/** A pattern is read when it is registered, and again at its route's first request. */
const known = new Map<string, Pattern>()
const mostKnown = 10_000

/** Reads a pattern. Throws a `RoutePatternError` that says what is wrong with it and what to write. */
export function parsePattern(pattern: string): Pattern {
  const before = known.get(pattern)
  if (before !== undefined) return before
  const read = readPattern(pattern)
  if (known.size === mostKnown) known.clear()
  known.set(pattern, read)
  return read
}

function readPattern(pattern: string): Pattern {
  if (!pattern.startsWith('/')) throw new RoutePatternError(pattern, 'NoLeadingSlash')
  // A UTF-16 unit is three bytes at most.
  if (pattern.length * 3 > maxPattern && Buffer.byteLength(pattern) > maxPattern)
    throw new RoutePatternError(pattern, 'TooLong')
  const segments: Segment[] = []
  const names: string[] = []
  let optional = 0
  for (const text of pattern.slice(1).split('/')) {
    if (segments.at(-1)?.kind === 'wildcard') throw new RoutePatternError(pattern, 'WildcardNotLast')
    if (segments.length === maxSegments) throw new RoutePatternError(pattern, 'TooManySegments')
    const isOptional = text.endsWith('?') && optionalParam.test(text)
    const segment = parseSegment(pattern, text, isOptional, optional > 0, names)
    if (isOptional) optional++
    segments.push(segment)
  }
  return { segments, names, optional }
}

function parseSegment(
  pattern: string,
  text: string,
  isOptional: boolean,
  afterOptional: boolean,
  names: string[],
): Segment {
  const isParam = text.startsWith(':') && !text.startsWith('::')
  if (afterOptional && !isParam) throw new RoutePatternError(pattern, 'OptionalNotLast')
  if (text.startsWith('*')) {
    const name = text.slice(1) || '*'
    declare(pattern, name, names, text === '*')
    return { kind: 'wildcard', name }
  }
  if (!isParam) {
    const canonical = canonicalText(pattern, text)
    if (canonical === '.' || canonical === '..') throw new RoutePatternError(pattern, 'DotSegment')
    return { kind: 'text', text: canonical }
  }
  const name = /^[A-Za-z0-9_]*/.exec(text.slice(1))?.[0] ?? ''
  declare(pattern, name, names, false)
  const rest = text.slice(1 + name.length)
  if (isOptional) return { kind: 'param', name, suffix: '', optional: true }
  const first = rest === '' ? '' : String.fromCodePoint(rest.codePointAt(0) ?? 0)
  if (first !== '' && first !== '.' && first !== '-') throw new RoutePatternError(pattern, 'BadSuffix', first)
  if (rest.endsWith('?')) throw new RoutePatternError(pattern, 'OptionalWithSuffix')
  if (afterOptional) throw new RoutePatternError(pattern, 'OptionalNotLast')
  return { kind: 'param', name, suffix: canonicalText(pattern, rest), optional: false }
}

/** `__proto__` is refused because a name becomes a key of an object. */
function declare(pattern: string, name: string, names: string[], unnamed: boolean): void {
  if (!unnamed && (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name === '__proto__')) {
    throw new RoutePatternError(pattern, 'BadName', name)
  }
  if (names.includes(name)) throw new RoutePatternError(pattern, 'DuplicateName', name)
  if (names.length === maxParams) throw new RoutePatternError(pattern, 'TooManyParameters')
  names.push(name)
}

/** Matches text that is canonical already: most segments of most patterns. */
const usual = /^[A-Za-z0-9\-._~]*$/

/** Gives static text as the canonical path spells it; text outside ASCII is percent-encoded. */
function canonicalText(pattern: string, text: string): string {
  if (usual.test(text)) return text
  let escaped = ''
  for (let at = 0; at < text.length; at++) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    if (character === ':' && text[at + 1] === ':') {
      escaped += ':'
      at++
    } else if (character === ':' || character === '*') {
      throw new RoutePatternError(pattern, 'NotWholeSegment', character)
    } else if (character === '%' && brokenEscape.test(text.slice(at, at + 3))) {
      throw new RoutePatternError(pattern, 'BadEscape')
    } else if (character <= '\x7f') {
      if (forbidden.test(character)) throw new RoutePatternError(pattern, 'BadCharacter', character)
      escaped += character
    } else {
      if (loneSurrogate.test(character)) throw new RoutePatternError(pattern, 'BadText')
      escaped += encodeURIComponent(character)
      at += character.length - 1
    }
  }
  const canonical = withCanonicalEscapes(escaped)
  if (canonical === null) throw new RoutePatternError(pattern, 'BadText')
  return canonical
}
