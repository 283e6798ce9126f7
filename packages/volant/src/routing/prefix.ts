/** Matches paths under a prefix, by segment. A prefix may have parameters (`/users/:id`), but no wildcard. */
import { bag } from '@volant/engine'
import { parsePattern, type Segment } from './path.ts'

/** The paths that equal a prefix or are below it. */
export interface PathPrefix {
  /** The number of the prefix's segments. */
  readonly depth: number
  /** Returns true for a canonical path that is one of them. */
  holds(path: string): boolean
  /** Gives the prefix's parameters in a path below it. It is null for a prefix without parameters. */
  readonly params: ((path: string) => Record<string, string>) | null
}

export function pathPrefix(prefix: string, caseSensitive: boolean): PathPrefix {
  if (prefix === '/') return { depth: 0, holds: () => true, params: null }
  const segments = segmentsOf(prefix, caseSensitive)
  const exact = matcher(segments)
  const loose = matcher(segments.flatMap((segment) => readOut(segment, caseSensitive)))
  const fold = (path: string): string => (caseSensitive ? path : path.toLowerCase())
  return {
    depth: segments.length,
    holds: (path) =>
      exact(fold(path)) ||
      (ambiguous.test(path) && loose(fold(decodeURIComponent(path)).replace(slashes, '/'))),
    params: segments.some(({ kind }) => kind === 'param') ? (path) => paramsIn(segments, path) : null,
  }
}

function paramsIn(segments: readonly Segment[], path: string): Record<string, string> {
  const params = bag() as Record<string, string>
  const parts = path.replace(/\/+/g, '/').slice(1).split('/')
  for (const [at, segment] of segments.entries()) {
    if (segment.kind !== 'param') continue
    const text = parts[at] ?? ''
    params[segment.name] = decodeURIComponent(text.slice(0, text.length - segment.suffix.length))
  }
  return params
}

/**
 * Matches paths that other readers may split differently. A wildcard's value is decoded, and file systems and other
 * servers take several slashes for one. So a path is under a prefix if it is so in either reading: `//admin/x` and
 * `/admin%2Fx` do not get around middleware of `/admin`.
 */
const ambiguous = /\/\/|%/
const slashes = /[/\\]+/g

/** Splits a segment as a decoded path has it: one with an escaped slash becomes several. */
function readOut(segment: Segment, caseSensitive: boolean): Segment[] {
  const read = (text: string): string => {
    const decoded = decodeURIComponent(text)
    return caseSensitive ? decoded : decoded.toLowerCase()
  }
  if (segment.kind === 'wildcard') return [segment]
  if (segment.kind === 'param') return [{ ...segment, suffix: read(segment.suffix) }]
  return read(segment.text)
    .split(slashes)
    .map((text): Segment => ({ kind: 'text', text }))
}

function matcher(segments: readonly Segment[]): (path: string) => boolean {
  if (segments.every((segment) => segment.kind === 'text')) {
    const text = segments.map((segment) => `/${segment.text}`).join('')
    const below = `${text}/`
    return (path) => path === text || path.startsWith(below)
  }
  return (path) => {
    const parts = path.slice(1).split('/')
    return segments.every((segment, at) => fits(segment, parts[at]))
  }
}

/** Tells whether paths of `pattern` are under `prefix`: all of them, none, or some. */
export function overlap(
  prefix: string,
  pattern: string,
  caseSensitive: boolean,
): 'always' | 'never' | 'maybe' {
  const wanted = segmentsOf(prefix, caseSensitive)
  const given = segmentsOf(pattern, caseSensitive)
  for (const [at, want] of wanted.entries()) {
    const have = given[at]
    if (have === undefined) return 'never'
    if (have.kind === 'text' && want.kind === 'text') {
      if (have.text !== want.text) return 'never'
    } else if (have.kind === 'text') {
      if (!fits(want, have.text)) return 'never'
    } else return 'maybe'
  }
  return 'always'
}

function fits(segment: Segment, text: string | undefined): boolean {
  if (text === undefined) return false
  if (segment.kind === 'text') return segment.text === text
  return segment.kind === 'param' && text.endsWith(segment.suffix) && text.length > segment.suffix.length
}

function segmentsOf(pattern: string, caseSensitive: boolean): readonly Segment[] {
  const { segments } = parsePattern(pattern)
  if (caseSensitive) return segments
  return segments.map((segment): Segment => {
    if (segment.kind === 'text') return { ...segment, text: segment.text.toLowerCase() }
    return segment.kind === 'param' ? { ...segment, suffix: segment.suffix.toLowerCase() } : segment
  })
}
