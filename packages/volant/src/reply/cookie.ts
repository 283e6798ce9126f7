/** Writes Set-Cookie (RFC 6265, and its revision for prefixes and SameSite). */
import { type SetCookie, stringifySetCookie } from 'cookie'
import { VolantError } from '../errors/errors.ts'
import type { CookieOptions } from '../types/reply-options.ts'
import { noOption } from '../options/option-names.ts'

/** The most bytes of name and value that a browser keeps (RFC 6265bis §5.6). */
const longest = 4_096

export const cookieOptionNames = [
  'path',
  'domain',
  'maxAge',
  'expires',
  'httpOnly',
  'secure',
  'sameSite',
  'partitioned',
  'priority',
] as const

/**
 * Gives the value of Set-Cookie; `value` is percent-encoded. Throws `E_BAD_COOKIE` for a malformed name, value or
 * option, and for a cookie that browsers would drop without a word.
 */
export function setCookie(name: string, value: string, given: CookieOptions, https: boolean): string {
  const options = check(name, value, given)
  const { path = '/', sameSite = 'lax', httpOnly = true } = options
  if (typeof path !== 'string' || !path.startsWith('/')) throw bad(name, "takes a path that begins with '/'")
  const prefix = /^__(?:host|secure)-/i.exec(name)?.[0].toLowerCase()
  const needsSecure = prefix !== undefined || sameSite === 'none' || options.partitioned === true
  const secure = options.secure ?? (https || needsSecure)
  if (needsSecure && !secure) {
    throw bad(name, "has a prefix, sameSite: 'none' or partitioned: browsers drop it unless it is secure")
  }
  if (prefix === '__host-' && (path !== '/' || options.domain !== undefined)) {
    throw bad(name, "has the prefix __Host-: its path is '/' and it takes no domain")
  }
  if (!['strict', 'lax', 'none'].includes(sameSite))
    throw bad(name, "takes 'strict', 'lax' or 'none' for sameSite")
  let text: string
  try {
    text = stringifySetCookie({ ...options, name, value, path, sameSite, httpOnly, secure } as SetCookie)
  } catch (error) {
    throw bad(name, `cannot be set: ${error instanceof Error ? error.message : String(error)}`, error)
  }
  const end = text.indexOf(';')
  if ((end === -1 ? text.length : end) > longest) {
    throw bad(name.slice(0, 50), `is longer than ${longest} bytes with its value: browsers drop it`)
  }
  return text
}

/** Gives the value of Set-Cookie that deletes a cookie. Path and domain must be those it was set with. */
export function endCookie(name: string, given: CookieOptions, https: boolean): string {
  return setCookie(name, '', { ...given, maxAge: 0, expires: new Date(0) }, https)
}

function check(name: unknown, value: unknown, given: unknown): CookieOptions {
  if (typeof name !== 'string') throw bad(String(name), 'is not a name: give a string')
  if (typeof value !== 'string') {
    throw bad(name, `takes a string, not a value of type ${value === null ? 'null' : typeof value}`)
  }
  if (typeof given !== 'object' || given === null) throw bad(name, 'takes an object of options')
  for (const key of Object.keys(given)) {
    if (!(cookieOptionNames as readonly string[]).includes(key)) {
      throw new VolantError(
        'E_BAD_COOKIE',
        noOption(`the cookie ${JSON.stringify(name)}`, key, cookieOptionNames),
      )
    }
  }
  const options = given as CookieOptions
  for (const key of ['httpOnly', 'secure', 'partitioned'] as const) {
    const flag = options[key]
    if (flag !== undefined && typeof flag !== 'boolean') throw bad(name, `takes true or false for ${key}`)
  }
  return options
}

function bad(name: string, what: string, cause?: unknown): VolantError {
  return new VolantError(
    'E_BAD_COOKIE',
    `the cookie ${JSON.stringify(name)} ${what}`,
    cause === undefined ? undefined : { cause },
  )
}
