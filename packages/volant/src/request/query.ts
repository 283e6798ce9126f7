/** Parses `name=value&…` pairs: the query of a URL, and bodies of type application/x-www-form-urlencoded. */
import { unescape } from 'node:querystring'
import { bag } from '@volant/engine'
import type { Pairs } from '../types/parts.ts'
import { type ErrorCode, HTTPError, refusal } from '../errors/errors.ts'

/**
 * Gives `ctx.query`: the pairs of `text` on an object without prototype. Throws 400 past `maxKeys` pairs. Malformed
 * escapes are kept as they are, since browsers send them (`?discount=10%`).
 */
export function parseQuery(text: string, maxKeys: number): Pairs {
  return parsePairs(text, maxKeys, 'E_QUERY_TOO_MANY_KEYS', unescape)
}

/** Gives the pairs of a form. Throws 400 past `maxKeys` pairs, and for malformed escapes: programs build these. */
export function parseForm(text: string, maxKeys: number): Pairs {
  return parsePairs(text, maxKeys, 'E_BODY_TOO_MANY_KEYS', decodeStrictly)
}

function decodeStrictly(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refusal('E_BODY_MALFORMED', 'the form has a malformed escape')
  }
}

function parsePairs(
  text: string,
  maxKeys: number,
  code: ErrorCode,
  unescapeText: (text: string) => string,
): Pairs {
  const pairs = bag() as Pairs
  let count = 0
  let at = 0
  while (at < text.length) {
    let end = text.indexOf('&', at)
    if (end === -1) end = text.length
    if (end > at) {
      if (++count > maxKeys) throw refusal(code)
      let split = text.indexOf('=', at)
      if (split === -1 || split > end) split = end
      const name = decode(text.slice(at, split), unescapeText)
      const value = split === end ? '' : decode(text.slice(split + 1, end), unescapeText)
      const before = pairs[name]
      if (before === undefined) pairs[name] = value
      else if (typeof before === 'string') pairs[name] = [before, value]
      else before.push(value)
    }
    at = end + 1
  }
  return pairs
}

function decode(text: string, unescapeText: (text: string) => string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  return spaced.includes('%') ? unescapeText(spaced) : spaced
}

/** Gives the first value of a name, and parses no other; undefined without one. Throws 400 for a malformed escape. */
export function queryValue(query: string, name: string): string | undefined {
  let at = 0
  while (at < query.length) {
    let end = query.indexOf('&', at)
    if (end === -1) end = query.length
    if (query.startsWith(name, at) && query[at + name.length] === '=') {
      return decode(query.slice(at + name.length + 1, end), decodeExactly)
    }
    at = end + 1
  }
  return undefined
}

function decodeExactly(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new HTTPError(400, 'the query has a malformed escape')
  }
}
