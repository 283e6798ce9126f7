/** The prefixes of scopes, and the patterns of the routes in them. */
import { bad } from '../options/bad-option.ts'
import { parsePattern, RoutePatternError } from '../routing/path.ts'

/**
 * Gives a prefix without its last slash; '' for `/`. Throws for a malformed prefix, and for one with a wildcard or an
 * optional part.
 */
export function checkPrefix(prefix: string): string {
  if (typeof prefix !== 'string') throw bad('prefix', prefix, 'a path such as /api')
  if (prefix === '*' || prefix === '/*')
    throw bad('prefix', prefix, 'a path such as /api, and is left out where all paths are meant')
  const path = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  if (path === '') {
    if (prefix === '/') return ''
    throw bad('prefix', prefix, 'a path such as /api')
  }
  const { segments, optional } = parsePattern(path)
  if (optional > 0 || segments.some(({ kind }) => kind === 'wildcard')) {
    throw bad(
      'prefix',
      prefix,
      'a path such as /api, which has all paths below it, without wildcard and optional parameters',
    )
  }
  return path
}

/** Gives the pattern of a route with this path in a scope. Throws for what is no path, and for one without its slash. */
export function patternIn(prefix: string, path: string): string {
  if (typeof path !== 'string') throw bad('path', path, 'a pattern such as /users/:id')
  if (!path.startsWith('/') && (prefix === '' || path !== ''))
    throw new RoutePatternError(path, 'NoLeadingSlash')
  return join(prefix, path)
}

/**
 * Joins a prefix and a path. `/` in a scope is the scope's own path; without a prefix, or with the prefix `/`, it stays
 * `/`.
 */
export function join(prefix: string, path: string): string {
  if (prefix === '' || prefix === '/') return path === '' ? '/' : path
  return path === '/' || path === '' ? prefix : prefix + path
}
