/** `allowedHosts()` answers requests for other hosts with 421 (RFC 9110 §15.5.20). */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { errorTable, refusal } from '../errors/errors.ts'
import { checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { type IgnoredRequests, ignoring, probes } from '../options/ignored-requests.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { HostList } from './host-list.ts'

/** The options of `allowedHosts`. */
export interface AllowedHostsOptions {
  /** The requests that may name any host. Default `['/health', '/ready']`, since probes ask by an address. */
  ignore?: IgnoredRequests | undefined
}

/**
 * Answers requests for hosts that are not listed with 421:
 *
 *     app.use(allowedHosts(['shop.example', '*.shop.example', 'localhost']))
 *
 * `*.shop.example` is every name below `shop.example`, not that name itself. An entry with a port allows that port alone,
 * one without a port any. Case and a dot at the end make no difference. The host is `ctx.host`: behind a proxy that
 * `trustProxy` names, it is the one the client asked the proxy.
 *
 * It stops DNS rebinding, in which a page of a stranger reaches a server on this machine or network by a name of its
 * own, and links and caches that are poisoned by a made-up Host. Throws `E_BAD_OPTION`.
 */
export function allowedHosts(
  hosts: readonly string[],
  options: AllowedHostsOptions = {},
): FittingMiddleware<{ errors: { E_HOST_NOT_ALLOWED: { status: 421 } } }> {
  checkNames('allowedHosts', options, ['ignore'], foreignNames.allowedHosts)
  const list = new HostList('allowedHosts', hosts)
  const isIgnored = ignoring('allowedHosts: ignore', options.ignore ?? probes)
  return gateOf(
    (ctx) => {
      if (hostIn(list, ctx) === null && !isIgnored(ctx)) refuseHost()
    },
    { errors: hostErrors, beforeBody: true, isOfRequest: true },
  ) as FittingMiddleware<{ errors: { E_HOST_NOT_ALLOWED: { status: 421 } } }>
}

hintMisuse(allowedHosts, "app.use(allowedHosts(['shop.example']))")

/** The declaration of a refused host. */
export const hostErrors = {
  E_HOST_NOT_ALLOWED: { status: 421, description: errorTable.E_HOST_NOT_ALLOWED.meaning },
} as const

/** Gives the host of a request if it is listed, else null. */
export function hostIn(list: HostList, ctx: RequestContext): string | null {
  return list.find(ctx.host, ctx.protocol === 'https' ? '443' : '80')
}

export function refuseHost(): never {
  throw refusal('E_HOST_NOT_ALLOWED')
}
