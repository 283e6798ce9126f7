/** Builds the target of a request from a pattern and the input of a call. */
import type { QueryValue } from './types.ts'

/**
 * Gives the path of a pattern with its parameters. Values are percent-encoded; those of a wildcard keep their slashes.
 * Throws `TypeError` for a missing parameter, and for text that would lead to another path: empty text, `.` and `..`.
 */
export function pathOf(pattern: string, params: Readonly<Record<string, unknown>>): string {
  let path = ''
  let absent = ''
  for (const segment of pattern.slice(1).split('/')) {
    const [, kind, named = '', optional, suffix = ''] = /^([*:])(?!:)(\w*)(\??)(.*)/.exec(segment) ?? []
    if (kind === undefined) {
      path += `/${segment.replaceAll('::', ':')}`
      continue
    }
    const name = named || '*'
    const value = Object.hasOwn(params, name) ? params[name] : undefined
    if (value == null && optional) {
      absent = name
      continue
    }
    if (value == null || absent) throw new TypeError(`the parameter ${absent || name} is missing`)
    const text = textOf(value, name)
    const one = encodeURIComponent(text)
    const encoded = (kind === '*' ? one.replaceAll('%2F', '/') : one) + suffix.replaceAll('::', ':')
    if (!text || /^\/|(^|\/)\.\.?(\/|$)/.test(encoded)) {
      throw new TypeError(`the parameter ${name} cannot be ${JSON.stringify(text)}: it would be another path`)
    }
    path += `/${encoded}`
  }
  return path || '/'
}

/** Gives `?name=value&…`, or '' without a value. Throws `TypeError` for a value that has no text. */
export function queryOf(query: Readonly<Record<string, QueryValue>>): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each != null) pairs.append(name, textOf(each, name))
    }
  }
  const text = `${pairs}`
  return text && `?${text}`
}

/**
 * Gives a value as text; dates are in ISO 8601. Throws `TypeError` for a value that would become `[object Object]`,
 * `NaN` or `\ufffd`.
 */
export function textOf(value: unknown, name: string): string {
  const isDate = value instanceof Date
  const kind = typeof value
  if (!isDate && /^(o|f|sy)/.test(kind)) {
    throw new TypeError(`${name} cannot be of type ${kind}: text, numbers, booleans, dates can`)
  }
  const isNone = Number.isNaN(isDate ? +value : value)
  const text = isDate && !isNone ? value.toISOString() : String(value)
  if (isNone || /\p{Surrogate}/u.test(text)) throw new TypeError(`${name} cannot be ${JSON.stringify(text)}`)
  return text
}
