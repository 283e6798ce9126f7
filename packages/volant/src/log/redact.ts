/** Keeps secrets out of log lines. */
import { unescape } from 'node:querystring'
import { bad } from '../options/bad-option.ts'
import { censored, noSecrets, type SecretNames, secretsOf, usualSecrets } from './secrets.ts'
import type { RequestContext } from '../types/request.ts'

/** The values that a logger keeps out of its lines. */
export interface Redaction {
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
  readonly remoteAddress: boolean
  /** The members of lines of the app's own, and headers and names of the query that are secrets anyway. */
  readonly secrets: SecretNames
}

/** Reads the option `redact` of `logger()`. Secret headers are kept out without being named; false keeps nothing out. */
export function redactionOf(paths: unknown): Redaction {
  return redaction('logger: redact', paths, (path) => {
    throw bad(
      'logger: redact',
      path,
      "paths such as 'req.headers.x-key', 'req.query.token', 'req.remoteAddress'",
    )
  })
}

/** Reads the option `redact` of the app's logger, which takes names and paths of members, too. */
export function logRedaction(paths: unknown): Redaction {
  const where = 'createApp: log.redact'
  return redaction(where, paths, (path) => {
    if (typeof path !== 'string' || !memberPath.test(path))
      throw bad(where, path, "names and paths such as 'iban', 'card.number', 'orders.*.note'")
    return Array.from(path.matchAll(step), ([, plain, quoted]) => plain ?? (quoted as string))
  })
}

function redaction(
  where: string,
  paths: unknown,
  membersOf: (path: unknown) => readonly string[],
): Redaction {
  if (paths === false)
    return { headers: new Set(), query: new Set(), remoteAddress: false, secrets: noSecrets }
  if (paths !== undefined && !Array.isArray(paths)) throw bad(where, paths, 'an array of paths, or false')
  const headers = new Set(secretHeaders)
  const query = new Set<string>()
  const members: (readonly string[])[] = []
  let remoteAddress = false
  for (const path of (paths ?? []) as unknown[]) {
    const header = typeof path === 'string' ? headerPath.exec(path) : null
    const name = typeof path === 'string' ? queryPath.exec(path) : null
    if (header !== null) headers.add((header[1] ?? (header[2] as string)).toLowerCase())
    else if (name !== null) query.add(name[1] ?? (name[2] as string))
    else if (path === 'req.remoteAddress') remoteAddress = true
    else members.push(membersOf(path))
  }
  return { headers, query, remoteAddress, secrets: members.length === 0 ? usualSecrets : secretsOf(members) }
}

/** Makes a function that gives the query with its `?`, and replaces the values of secret names. */
export function queryReader({ query: names, secrets }: Redaction): (ctx: RequestContext) => string {
  const isSecret = (name: string): boolean => names.has(name) || secrets.has(name)
  return (ctx) => {
    const { query } = ctx.exchange
    if (query === '') return ''
    return `?${secrets.mayHave(query) || names.size > 0 ? redactQuery(query, isSecret, censored) : query}`
  }
}

/** Gives the query with `instead` in place of the values whose names are secret. */
export function redactQuery(query: string, isSecret: (name: string) => boolean, instead: string): string {
  return query
    .split('&')
    .map((pair) => {
      const split = pair.indexOf('=')
      if (split === -1) return pair
      const name = pair.slice(0, split)
      // `ctx.query` decodes names in the same way: `%74oken` is `token`.
      return isSecret(unescape(name.replaceAll('+', ' '))) ? `${name}=${instead}` : pair
    })
    .join('&')
}

/** These headers are redacted unless the option is false. */
const secretHeaders = ['authorization', 'cookie', 'proxy-authorization']

const headerPath = /^req\.headers(?:\.([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|\[["']([^"']+)["']\])$/
const queryPath = /^req\.query(?:\.([^[\]]+)|\[["'](.+)["']\])$/
/** One step of a path: `.name` or `["name"]`; the first has no dot. */
const step = /(?:^|\.)([^.[\]"']+)|\[["']([^"']+)["']\]/g
const memberPath = /^(?:[^.[\]"']+|\[["'][^"']+["']\])(?:\.[^.[\]"']+|\[["'][^"']+["']\])*$/
