/** `ipRestriction()` refuses clients by their addresses, with 403. */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { errorTable, refusal, VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { printLine } from '../report/print-line.ts'
import { listedPeers } from '../request/trust.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'

/** The options of `ipRestriction`. */
export interface IpRestrictionOptions {
  /**
   * The clients that may pass, and nobody else: addresses, CIDR ranges, and the names `'loopback'`, `'private'`,
   * `'linklocal'` and `'unix'` (a client on a Unix socket, which has no address).
   */
  allow?: readonly string[] | undefined
  /** The clients that may not pass, also where `allow` has them. */
  deny?: readonly string[] | undefined
}

/**
 * Refuses clients by `ctx.ip`, with 403 (`E_IP_DENIED`):
 *
 *     app.use('/admin', ipRestriction({ allow: ['10.0.0.0/8', '2001:db8::/32'] }))
 *
 * Addresses are compared as numbers, not as text, so that every spelling of one is the same; an IPv4 address in IPv6
 * notation is that IPv4 address. Behind a proxy, `ctx.ip` is the proxy's address until `trustProxy` names it.
 *
 * Throws `E_BAD_OPTION`.
 */
export function ipRestriction(
  options: IpRestrictionOptions,
): FittingMiddleware<{ errors: { E_IP_DENIED: { status: 403 } } }> {
  checkNames('ipRestriction', options, ['allow', 'deny'], foreignNames.ipRestriction)
  if (options.allow === undefined && options.deny === undefined) {
    throw new VolantError(
      'E_BAD_OPTION',
      "ipRestriction takes allow, deny or both: ipRestriction({ allow: ['10.0.0.0/8'] })",
    )
  }
  const isAllowed = options.allow === undefined ? () => true : listOf('allow', options.allow)
  const isDenied = options.deny === undefined ? () => false : listOf('deny', options.deny)
  return gateOf(
    (ctx) => {
      const { ip } = ctx
      warnOfProxy(ctx, ip)
      if (isDenied(ip) || !isAllowed(ip)) throw refusal('E_IP_DENIED')
    },
    {
      errors: { E_IP_DENIED: { status: 403, description: errorTable.E_IP_DENIED.meaning } },
      beforeBody: true,
      isOfRequest: true,
    },
  ) as FittingMiddleware<{ errors: { E_IP_DENIED: { status: 403 } } }>
}

hintMisuse(ipRestriction, "app.use(ipRestriction({ allow: ['10.0.0.0/8'] }))")

function listOf(option: string, given: unknown): (address: string) => boolean {
  const name = `ipRestriction: ${option}`
  const wanted =
    "addresses such as '192.0.2.1', CIDR ranges such as '10.0.0.0/8', 'loopback', 'private', 'linklocal' and 'unix'"
  if (!Array.isArray(given) || given.length === 0) throw bad(name, given, `a list of ${wanted}`)
  for (const each of given as readonly unknown[]) {
    if (typeof each !== 'string' || (each !== 'unix' && listedPeers([each]) === null))
      throw bad(name, each, wanted)
  }
  const entries = given as readonly string[]
  const isListed = listedPeers(entries.filter((each) => each !== 'unix'))
  const unix = entries.includes('unix')
  return (address) => (address === '' ? unix : isListed !== null && isListed(address, 0))
}

let warned = false

/** Tells once that all clients behind a proxy have its address. A range with the proxy in it would let all of them in. */
function warnOfProxy(ctx: RequestContext, ip: string): void {
  if (warned || ctx.app.trust !== null || ctx.exchange.header('x-forwarded-for') === undefined) return
  warned = true
  printLine(
    `volant: ipRestriction() saw a request from ${ip === '' ? 'a Unix socket' : ip} that has X-Forwarded-For: if that is the address of a proxy, all its clients are taken for it, until createApp({ trustProxy }) names the proxy`,
  )
}
