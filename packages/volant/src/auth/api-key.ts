/** `apiKey()` accepts a key in a header field, in the query or in a cookie. */
import { hintMisuse } from '../dispatch/declare.ts'
import { checkChoice, checkText } from '../options/checks.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'
import { isTwice } from './authorization.ts'
import { type Authentication, fieldOf, Refusal } from './gate.ts'
import { type OwnerOf, type Secrets, secretTable } from './owners.ts'
import {
  type AuthenticationOptions,
  checkSources,
  schemeMiddleware,
  type SchemeMiddleware,
  type VerifiedBy,
} from './scheme.ts'
import type { Verified } from './verdict.ts'

interface APIKeyBase<Required extends boolean> extends AuthenticationOptions<Required> {
  /** Where the key is sent. A query is written to logs and histories of browsers: prefer `header`. */
  in: 'header' | 'query' | 'cookie'
  /** The name of the field, of the member of the query, or of the cookie. */
  name: string
}

/** The options of `apiKey` for keys that are known when the app starts. */
export interface APIKeyListOptions<
  Keys extends Secrets = Secrets,
  Required extends boolean = boolean,
> extends APIKeyBase<Required> {
  /** The keys: a list, or by owner as `{ shop: 'key' }`; then `ctx.state.user` is the name of the owner. */
  keys: Keys
}

/** The options of `apiKey` with a function that knows the keys. */
export interface APIKeyVerifyOptions<
  V = unknown,
  Required extends boolean = boolean,
> extends APIKeyBase<Required> {
  /** Gives the owner of a key; null, undefined or false refuse it with 401. */
  verify: (key: string, ctx: Context) => Verified<V>
}

/**
 * Lets requests pass that have a known key, and refuses others with 401 before their body is read:
 *
 *     app.with(apiKey({ in: 'header', name: 'x-api-key', keys: { shop: process.env.SHOP_KEY } }))
 *
 * The owner of the key is in `ctx.state.user`. A key that is sent twice is 400. Throws `E_BAD_OPTION`.
 */
export function apiKey<V, const Required extends boolean = true>(
  options: APIKeyVerifyOptions<V, Required>,
): VerifiedBy<V, 'apiKey', Required>
export function apiKey<const Keys extends Secrets, const Required extends boolean = true>(
  options: APIKeyListOptions<Keys, Required>,
): SchemeMiddleware<OwnerOf<Keys>, 'apiKey', Required>
export function apiKey(options: APIKeyVerifyOptions | APIKeyListOptions): Authentication<never, never> {
  checkSources('apiKey', options, ['in', 'name'], ['keys', 'verify'])
  const place = checkChoice('apiKey: in', options.in, ['header', 'query', 'cookie'])
  const name = checkText(
    'apiKey: name',
    options.name,
    place === 'query' ? /^[\x21-\x7e]+$/ : /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/,
    place === 'query' ? 'the name of a member of the query' : 'a name of letters, digits, - and _',
  )
  const { keys }: Partial<APIKeyListOptions> = options
  const table = keys === undefined ? null : secretTable('apiKey: keys', keys)
  return schemeMiddleware(
    {
      where: 'apiKey',
      schemeName: 'apiKey',
      security: { type: 'apiKey', in: place, name },
      // No scheme is registered for keys, and a 401 has a challenge (RFC 9110 §15.5.2).
      challenge: { scheme: 'ApiKey', params: { in: place, name } },
      unknown: new Refusal(401, 'The key is not valid'),
      read: readers[place](place === 'header' ? name.toLowerCase() : name),
    },
    options,
    (given) => {
      const found = table?.find(given)
      return found ? { user: found.owner } : null
    },
  )
}

hintMisuse(apiKey, "app.with(apiKey({ in: 'header', name: 'x-api-key', keys }))")

type Reader = (ctx: RequestContext) => readonly [string] | Refusal | null

/** The functions that find a key, by its place. */
export const readers: Readonly<Record<APIKeyBase<boolean>['in'], (name: string) => Reader>> = {
  header: (name) => (ctx) => {
    const value = fieldOf(ctx, name)
    if (value === undefined || value === '') return null
    return isTwice(ctx, name) ? twice(name) : [value]
  },
  query: (name) => (ctx) => {
    const value = ctx.query[name] as string | readonly string[] | undefined
    if (value === undefined || value === '') return null
    return typeof value === 'string' ? [value] : twice(name)
  },
  // `ctx.cookies` keeps the first of two cookies, which another site of the domain may have set.
  cookie: (name) => (ctx) => {
    const value = ctx.cookies[name]
    if (value === undefined || value === '') return null
    const pairs = (fieldOf(ctx, 'cookie') ?? '')
      .split(';')
      .map((pair) => pair.slice(0, pair.indexOf('=')).trim())
    return pairs.filter((each) => each === name).length > 1 ? twice(name) : [value]
  },
}

function twice(name: string): Refusal {
  return new Refusal(400, `${name} is given more than once: send one key`)
}
