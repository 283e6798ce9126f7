/**
 * `csrf()` refuses what pages of other sites have browsers send, by the rules of Go 1.25's CrossOriginProtection: each
 * browser since 2023 says in Sec-Fetch-Site where a request comes from, and older ones say it in Origin.
 */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { errorTable, refusal } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach, checkFlag, checkNames, checkText } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import type { DeclaredErrors, FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { CsrfTokens, checkToken } from './csrf-token.ts'
import { sessionOf } from './session.ts'

/** The options of `csrf`. */
export interface CsrfOptions<Token extends boolean = boolean> {
  /** Other origins whose pages may send requests, such as `https://admin.example`. Default none. */
  origins?: readonly string[] | undefined
  /**
   * The cookies by which this server knows who sends a request. One with such a cookie, and without Sec-Fetch-Site and
   * Origin, is refused. Default: that of `session()` in front of it, or any cookie where there is none.
   */
  cookies?: readonly string[] | undefined
  /** True also asks for a token, which `ctx.state.csrf.token()` makes. It needs `session()` in front. Default false. */
  token?: Token | undefined
}

/** The errors that `csrf()` declares. */
export interface CsrfErrors {
  /** A page of another origin sent the request, or one whose origin is not known; or its token is missing or wrong. */
  E_CSRF: { status: 403 }
}

const names = ['origins', 'cookies', 'token'] as const

/** These change nothing on a server (RFC 9110 §9.2.1). QUERY is checked: pages need no exception for it. */
const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses requests that change something and that a page of another origin sent, with 403 `E_CSRF`:
 *
 *     app.use(csrf())
 *
 * It decides by the method, whatever the content type is. Requests by GET, HEAD and OPTIONS pass, so that these must not
 * change anything. Those of programs pass as long as they have no cookie of a session.
 *
 * Throws `E_BAD_OPTION`.
 */
export function csrf(options: CsrfOptions<true> & { token: true }): FittingMiddleware<{
  state: { csrf: CsrfTokens }
  errors: CsrfErrors
}>
export function csrf(options?: CsrfOptions<false>): FittingMiddleware<{ errors: CsrfErrors }>
export function csrf(options: CsrfOptions = {}): unknown {
  checkNames('csrf', options, names, foreignNames.csrf)
  const trusted = new Set(checkOrigins(options.origins ?? []))
  const cookies =
    options.cookies === undefined
      ? null
      : checkEach('csrf: cookies', options.cookies, 'an array of names', (name, each) =>
          checkText(name, each, /^[\w!#$%&'*+.^`|~-]{1,64}$/, 'names of cookies'),
        )
  const hasToken = checkFlag('csrf: token', options.token, false)
  return gateOf(
    (ctx) => {
      if (hasToken) ctx.state['csrf'] = new CsrfTokens(ctx)
      if (safe.has(ctx.method)) return undefined
      const fault = originFault(ctx, trusted, cookies)
      if (fault !== null) throw refusal('E_CSRF', fault)
      return hasToken ? checkToken(ctx) : undefined
    },
    { errors: declared },
  )
}

hintMisuse(csrf, 'app.use(csrf())')

const declared: DeclaredErrors = {
  E_CSRF: { status: 403, description: errorTable.E_CSRF.meaning },
}

/** Says why a request is refused; null for one that passes. */
function originFault(
  ctx: RequestContext,
  trusted: ReadonlySet<string>,
  cookies: readonly string[] | null,
): string | null {
  const { exchange } = ctx
  const site = exchange.header('sec-fetch-site') ?? ''
  if (site === 'same-origin' || site === 'none') return null
  const origin = exchange.header('origin') ?? ''
  if (trusted.has(origin)) return null
  if (site !== '') return 'A page of another origin sent the request: csrf({ origins }) lists those that may'
  if (origin !== '') return isOwn(ctx, origin) ? null : `${foreign}. ${proxies}`
  return hasCookie(ctx, cookies)
    ? 'The request has the cookie of a session, and neither Sec-Fetch-Site nor Origin: a program sends the Origin of this server, or no cookie'
    : null
}

const foreign =
  'The Origin of the request is another than that of this server: csrf({ origins }) lists those that may'
const proxies =
  'Behind a proxy that changes Host, createApp({ trustProxy }) has this server know its own name'

/** True where a page of this host sent the request; over https no page that came over http counts. */
function isOwn(ctx: RequestContext, origin: string): boolean {
  const match = /^(https?:)\/\/([^/?#@\\]+)$/i.exec(origin)
  if (match === null) return false
  const [, scheme = '', host = ''] = match
  if (ctx.protocol === 'https' && scheme.toLowerCase() !== 'https:') return false
  const own = `${scheme}//${ctx.host}`
  return host.toLowerCase() === ctx.host.toLowerCase() || (URL.canParse(own) && new URL(own).host === host)
}

function hasCookie(ctx: RequestContext, cookies: readonly string[] | null): boolean {
  const header = ctx.exchange.header('cookie')
  if (header === undefined) return false
  const own = sessionOf(ctx)?.cookieName
  if (own === undefined && cookies === null) return true
  return [...(cookies ?? []), ...(own === undefined ? [] : [own])].some((name) => header.includes(`${name}=`))
}

function checkOrigins(given: unknown): readonly string[] {
  const wanted = "origins such as 'https://admin.example' (scheme, host, port unless it is the usual one)"
  return checkEach('csrf: origins', given, `an array of ${wanted}`, (name, each) => {
    const url = typeof each === 'string' && URL.canParse(each) ? new URL(each) : null
    if (url === null || url.host === '' || `${url.protocol}//${url.host}` !== each)
      throw bad(name, each, wanted)
    return each
  })
}
