/** What log lines keep to themselves. */
import { unescape } from 'node:querystring'
import { bad } from '../options/bad-option.ts'
import type { RequestContext } from '../types/request.ts'

/** What is to be kept out of lines. */
export interface Redaction {
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
  readonly remoteAddress: boolean
}

/** The paths of the option `redact`, beside the headers that are kept out anyway; false keeps nothing out. */
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

/** The query with its mark, values of redacted names replaced. */
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
      // As `ctx.query` decodes names: `%74oken` is `token`.
      return names.has(unescape(name.replaceAll('+', ' '))) ? `${name}=${censored}` : pair
    })
    .join('&')
}

/** Stands where a value was. */
export const censored = '[Redacted]'

/** Headers nobody wants in a log unless they say so. */
const secretHeaders = ['authorization', 'cookie', 'proxy-authorization']

const headerPath = /^req\.headers(?:\.([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|\[["']([^"']+)["']\])$/
const queryPath = /^req\.query(?:\.([^[\]]+)|\[["'](.+)["']\])$/
