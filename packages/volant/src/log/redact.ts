/** Keeps secrets out of log lines. */
import { unescape } from 'node:querystring'
import { bad } from '../options/bad-option.ts'
import type { RequestContext } from '../types/request.ts'

/** The values that a logger keeps out of its lines. */
export interface Redaction {
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
  readonly remoteAddress: boolean
}

/** Reads the option `redact`. Secret headers are kept out without being named; false keeps nothing out. */
export function redactionOf(paths: unknown): Redaction {
  if (paths === false) return { headers: new Set(), query: new Set(), remoteAddress: false }
  if (paths !== undefined && !Array.isArray(paths))
    throw bad('logger: redact', paths, 'an array of paths, or false')
  const headers = new Set(secretHeaders)
  const query = new Set<string>()
  let remoteAddress = false
  for (const path of (paths ?? []) as unknown[]) {
    const header = typeof path === 'string' ? headerPath.exec(path) : null
    const name = typeof path === 'string' ? queryPath.exec(path) : null
    if (header !== null) headers.add((header[1] ?? (header[2] as string)).toLowerCase())
    else if (name !== null) query.add(name[1] ?? (name[2] as string))
    else if (path === 'req.remoteAddress') remoteAddress = true
    else
      throw bad(
        'logger: redact',
        path,
        "paths such as 'req.headers.x-key', 'req.query.token', 'req.remoteAddress'",
      )
  }
  return { headers, query, remoteAddress }
}

/** Makes a function that gives the query with its `?`, and replaces the values of these names. */
export function queryReader(names: ReadonlySet<string>): (ctx: RequestContext) => string {
  return (ctx) => {
    const { query } = ctx.exchange
    if (query === '') return ''
    return `?${names.size === 0 ? query : redactQuery(query, names)}`
  }
}

function redactQuery(query: string, names: ReadonlySet<string>): string {
  return query
    .split('&')
    .map((pair) => {
      const split = pair.indexOf('=')
      if (split === -1) return pair
      const name = pair.slice(0, split)
      // `ctx.query` decodes names in the same way: `%74oken` is `token`.
      return names.has(unescape(name.replaceAll('+', ' '))) ? `${name}=${censored}` : pair
    })
    .join('&')
}

/** Replaces a value in a line. */
export const censored = '[Redacted]'

/** These headers are redacted unless the option is false. */
const secretHeaders = ['authorization', 'cookie', 'proxy-authorization']

const headerPath = /^req\.headers(?:\.([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|\[["']([^"']+)["']\])$/
const queryPath = /^req\.query(?:\.([^[\]]+)|\[["'](.+)["']\])$/
