/** `httpsRedirect()` sends clients that ask by http: to the same address by https:. */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { errorTable, refusal } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkChoice, checkInteger, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { type IgnoredRequests, ignoring, probes } from '../options/ignored-requests.ts'
import { printLine } from '../report/print-line.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { hostErrors, hostIn, refuseHost } from './allowed-hosts.ts'
import { HostList } from './host-list.ts'

/** The options of `httpsRedirect`. */
export interface HttpsRedirectOptions {
  /** The hosts that clients are sent to, as `allowedHosts` takes them. A request for another host gets 421. */
  allowedHosts: readonly string[]
  /** The port of https: in the new address. Default 443, which is not written. */
  port?: number | undefined
  /** The status of the redirect. Default 308. */
  status?: 301 | 302 | 307 | 308 | undefined
  /** The requests that may come by http:. Default `['/health', '/ready']`. */
  ignore?: IgnoredRequests | undefined
}

interface Errors {
  E_HOST_NOT_ALLOWED: { status: 421 }
  E_HTTPS_REQUIRED: { status: 403 }
}

/**
 * Redirects GET and HEAD from http: to https:, with 308:
 *
 *     app.use(httpsRedirect({ allowedHosts: ['shop.example', '*.shop.example'] }))
 *
 * Other methods get 403 (`E_HTTPS_REQUIRED`): their data was sent without protection, and a redirect would hide that from
 * the client. Nobody is sent to a host that is not listed. The protocol is `ctx.protocol`: behind a proxy that ends TLS,
 * `trustProxy` has to name it. Browsers remember https: by Strict-Transport-Security, see `securityHeaders`.
 *
 * Throws `E_BAD_OPTION`.
 */
export function httpsRedirect(options: HttpsRedirectOptions): FittingMiddleware<{ errors: Errors }> {
  const given: Partial<HttpsRedirectOptions> = options === undefined ? {} : options
  checkNames('httpsRedirect', given, ['allowedHosts', 'port', 'status', 'ignore'], foreignNames.httpsRedirect)
  if (given.allowedHosts === undefined) {
    throw bad(
      'httpsRedirect: allowedHosts',
      undefined,
      "the hosts of this site, such as ['shop.example']: a client may write any host, and nobody is sent to one that is not listed",
    )
  }
  const list = new HostList('httpsRedirect: allowedHosts', given.allowedHosts)
  const port = checkInteger('httpsRedirect: port', given.port ?? 443, [1, 65_535], 'a port from 1 to 65,535')
  const status = checkChoice('httpsRedirect: status', given.status ?? 308, [301, 302, 307, 308])
  const isIgnored = ignoring('httpsRedirect: ignore', given.ignore ?? probes)
  const end = port === 443 ? '' : `:${port}`
  return gateOf(
    (ctx) => {
      if (ctx.protocol === 'https' || isIgnored(ctx)) return
      const host = hostIn(list, ctx) ?? refuseHost()
      warnOfProxy(ctx)
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw refusal('E_HTTPS_REQUIRED')
      ctx.redirect(`https://${host}${end}${ctx.url}`, status)
    },
    { errors: { ...hostErrors, ...declared }, beforeBody: true, isOfRequest: true },
  ) as FittingMiddleware<{ errors: Errors }>
}

hintMisuse(httpsRedirect, "app.use(httpsRedirect({ allowedHosts: ['shop.example'] }))")

const declared = {
  E_HTTPS_REQUIRED: { status: 403, description: errorTable.E_HTTPS_REQUIRED.meaning },
} as const

let warned = false

/** Tells once of a proxy that is not trusted: every request would be redirected, those by https: too, for ever. */
function warnOfProxy(ctx: RequestContext): void {
  if (warned || ctx.app.trust !== null || ctx.exchange.header('x-forwarded-proto') !== 'https') return
  warned = true
  printLine(
    'volant: httpsRedirect() redirected a request whose X-Forwarded-Proto says https: if a proxy wrote that, its clients are redirected for ever, until createApp({ trustProxy }) names the proxy',
  )
}
