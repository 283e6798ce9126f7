/**
 * Which pages may open a WebSocket. Browsers send cookies with the handshake from any page, and apply no CORS to it: Origin
 * is all that tells a foreign page apart (RFC 6455 §10.2).
 */
import { refusal } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach } from '../options/checks.ts'
import type { RequestContext } from '../types/request.ts'

/** Throws 403 for a page of another origin. A request without Origin is not a page's. */
export function checkOrigin(ctx: RequestContext, origins: Origins): void {
  const origin = ctx.exchange.header('origin')
  if (origin === undefined || origins === '*' || origins?.has(origin) || isOwn(ctx, origin)) return
  throw refusal(
    'E_ORIGIN_NOT_ALLOWED',
    'The Origin of the request is not one whose pages may open this WebSocket: app.ws(path, { origins }) lists them',
  )
}

/** What the option allows beside the own origin; null where it allows nothing. */
export type Origins = '*' | ReadonlySet<string> | null

/** True where a page of this host sent the request; over https no page that came over http counts. */
function isOwn(ctx: RequestContext, origin: string): boolean {
  const match = /^(https?:)\/\/([^/?#@\\]+)$/i.exec(origin)
  if (match === null) return false
  const [, scheme = '', host = ''] = match
  if (ctx.protocol === 'https' && scheme.toLowerCase() !== 'https:') return false
  if (host.toLowerCase() === ctx.host.toLowerCase()) return true
  const own = `${scheme}//${ctx.host}`
  return URL.canParse(own) && new URL(own).host === host.toLowerCase()
}

/** Checks the option `origins`. Throws `E_BAD_OPTION`. */
export function checkOrigins(name: string, given: unknown): Origins {
  if (given === undefined) return null
  if (given === '*') return '*'
  const wanted = "origins such as 'https://app.example' (scheme, host, port unless it is the usual one)"
  return new Set(
    checkEach(name, given, `'*', or an array of ${wanted}`, (where, each) => {
      const url = typeof each === 'string' && URL.canParse(each) ? new URL(each) : null
      if (url === null || url.host === '' || `${url.protocol}//${url.host}` !== each)
        throw bad(where, each, wanted)
      return each as string
    }),
  )
}
