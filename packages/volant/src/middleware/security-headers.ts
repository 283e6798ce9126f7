/** `securityHeaders()` sends the headers that OWASP asks for. */
// helmet costs 25,312 instructions a request, this 432 (`node lab/libraries.mjs headers`).
import { headerBlock } from '../reply/header.ts'
import { bad } from '../options/bad-option.ts'
import { gateOf } from '../dispatch/declare.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import { type Csp, type CspDirectives, type NonceOf, type Policy, policyOf } from './csp.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkFlag, checkInteger, checkNames } from '../options/checks.ts'
import { checkFieldValue, dashed } from './header-option.ts'
import type { RequestContext } from '../types/request.ts'

/** The parts of Strict-Transport-Security (RFC 6797). */
export interface StrictTransportSecurity {
  /** The seconds for which browsers keep it; default 31,536,000, a year. */
  maxAge?: number | undefined
  /** True includes the subdomains. Default true. */
  includeSubDomains?: boolean | undefined
  /** Asks for a place in the browsers' own lists, which is hard to take back. Default false. */
  preload?: boolean | undefined
  /**
   * True sends it with every reply, not only with replies to requests over https to a host other than localhost.
   * Default false.
   */
  force?: boolean | undefined
}

/** The value of each header, or false for none. */
export interface SecurityHeadersOptions {
  /** The directives, the result of `csp`, or false. Default: everything from this site only, no plug-ins, no frames. */
  contentSecurityPolicy?: CspDirectives | Csp<{ state: { nonce: string } }> | Csp | false | undefined
  /** The default is a year with subdomains, for requests over https (`ctx.protocol`) to a host other than localhost. */
  strictTransportSecurity?: StrictTransportSecurity | false | undefined
  /** The default is `nosniff`. */
  xContentTypeOptions?: 'nosniff' | false | undefined
  /** The default is `DENY`. */
  xFrameOptions?: 'DENY' | 'SAMEORIGIN' | false | undefined
  /** The default is `no-referrer`. */
  referrerPolicy?: ReferrerPolicy | readonly ReferrerPolicy[] | false | undefined
  /** The default is `same-origin`. */
  crossOriginOpenerPolicy?:
    | 'same-origin'
    | 'same-origin-allow-popups'
    | 'noopener-allow-popups'
    | 'unsafe-none'
    | false
    | undefined
  /** The default is `same-origin`. */
  crossOriginResourcePolicy?: 'same-origin' | 'same-site' | 'cross-origin' | false | undefined
  /** The default is false, since the header stops pages from loading what does not agree to it. */
  crossOriginEmbedderPolicy?: 'require-corp' | 'credentialless' | 'unsafe-none' | false | undefined
  /** The features and who may use them: `{ camera: [], geolocation: ['self', 'https://maps.example'] }`, or text. Default: none for anybody. */
  permissionsPolicy?: Readonly<Record<string, readonly string[] | '*'>> | string | false | undefined
  /** The addresses that browsers send reports to, by the names that `reportTo` of a policy uses: `{ csp: '/csp-reports' }`. The default is none. */
  reportingEndpoints?: Readonly<Record<string, string>> | false | undefined
  /** The default is `none`. */
  xPermittedCrossDomainPolicies?: 'none' | 'master-only' | 'by-content-type' | 'all' | false | undefined
  /** The default is `off`. */
  xDnsPrefetchControl?: 'on' | 'off' | false | undefined
  /** The default is true, which sends `?1`. */
  originAgentCluster?: boolean | undefined
  /** The default is `0`, since the filter that it switched had security faults of its own. */
  xXssProtection?: '0' | false | undefined
}

/** The values that Referrer-Policy may have. */
export type ReferrerPolicy =
  | 'no-referrer'
  | 'no-referrer-when-downgrade'
  | 'origin'
  | 'origin-when-cross-origin'
  | 'same-origin'
  | 'strict-origin'
  | 'strict-origin-when-cross-origin'
  | 'unsafe-url'

type PolicyEffect<O> = O extends { contentSecurityPolicy: infer C }
  ? C extends (...args: never) => unknown
    ? C extends Csp<infer E>
      ? E
      : {}
    : NonceOf<C>
  : {}

/**
 * Sends the headers OWASP's Secure Headers project asks for, with every reply of its scope, errors included:
 *
 *     app.use(securityHeaders({ contentSecurityPolicy: { defaultSrc: ["'self'"], imgSrc: ['*'] } }))
 *
 * A header that middleware behind it or the handler sets replaces the one from here. Throws `E_BAD_OPTION`.
 */
export function securityHeaders<const O extends SecurityHeadersOptions = {}>(
  options?: O,
): FittingMiddleware<PolicyEffect<O>> {
  const given: SecurityHeadersOptions = options === undefined ? {} : options
  const names = ['contentSecurityPolicy', 'strictTransportSecurity', ...Object.keys(writers)]
  checkNames('securityHeaders', given, names, foreignNames.securityHeaders)
  const policy = checkPolicy(given.contentSecurityPolicy)
  const { value: hsts, force } = transport(given.strictTransportSecurity)
  const pairs = Object.entries(writers).flatMap(([name, write]): [string, string][] => {
    const value = write(`securityHeaders: ${name}`, given[name as keyof SecurityHeadersOptions])
    return value === null ? [] : [[dashed(name), value]]
  })
  if (policy !== null && policy.parts.length === 1) pairs.unshift([policy.header, policy.parts[0] as string])
  const secure = hsts === null ? [] : [['strict-transport-security', hsts] as [string, string]]
  const plain = headerBlock(force ? [...pairs, ...secure] : pairs)
  const encrypted = headerBlock([...pairs, ...secure])
  const send =
    encrypted.names.size === plain.names.size
      ? (ctx: RequestContext) => void ctx.placeAll(plain)
      : (ctx: RequestContext) =>
          void ctx.placeAll(ctx.protocol === 'https' && !isLocal(ctx.host) ? encrypted : plain)
  if (policy === null || policy.parts.length === 1) return gateOf(send) as FittingMiddleware<PolicyEffect<O>>
  return gateOf((ctx) => {
    send(ctx)
    ctx.place(policy.header, policy.header, policy.value(ctx))
  }) as FittingMiddleware<PolicyEffect<O>>
}

/**
 * Browsers apply the header to all ports of a host (RFC 6797 §8.3). One app at https://localhost would change the URLs
 * of every other app, such as http://localhost:3000, to https.
 */
function isLocal(host: string): boolean {
  return /(?:^|\.)localhost\.?(?::\d*)?$/i.test(host)
}

/** OWASP's default without `upgrade-insecure-requests`, which breaks sites that are served by http. */
const strict: CspDirectives = {
  defaultSrc: ["'self'"],
  baseUri: ["'self'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  objectSrc: ["'none'"],
}

function checkPolicy(value: unknown): Policy | null {
  if (value === false) return null
  const policy = policyOf(value === undefined ? strict : value)
  if (policy !== null) return policy
  throw bad('securityHeaders: contentSecurityPolicy', value, 'directives, what csp() makes, or false')
}

/** Gives the value of Strict-Transport-Security (RFC 6797 §6.1). */
function transport(given: SecurityHeadersOptions['strictTransportSecurity']): {
  value: string | null
  force: boolean
} {
  if (given === false) return { value: null, force: false }
  const name = 'securityHeaders: strictTransportSecurity'
  const options = given ?? {}
  checkNames(name, options, ['maxAge', 'includeSubDomains', 'preload', 'force'])
  const { maxAge = 31_536_000 } = options
  checkInteger(`${name}.maxAge`, maxAge, [0, Number.MAX_SAFE_INTEGER], 'an integer of seconds from 0')
  const subDomains = checkFlag(`${name}.includeSubDomains`, options.includeSubDomains, true)
  const preload = checkFlag(`${name}.preload`, options.preload, false)
  // The browsers' lists ask for this (hstspreload.org).
  if (preload && !(subDomains && maxAge >= 31_536_000)) {
    throw bad(`${name}.preload`, true, 'includeSubDomains and a maxAge of at least 31,536,000 beside it')
  }
  const value = `max-age=${maxAge}${subDomains ? '; includeSubDomains' : ''}${preload ? '; preload' : ''}`
  return { value, force: checkFlag(`${name}.force`, options.force, false) }
}

/** Gives the value to send for an option, null for none. */
type Write = (option: string, given: unknown) => string | null

function oneOf(...values: [usual: string | false, ...others: string[]]): Write {
  return (option, given = values[0]) => {
    if (given === false) return null
    if (typeof given === 'string' && values.includes(given)) return given
    throw bad(option, given, `${values.filter(Boolean).join(', ')} or false`)
  }
}

const referrers = (
  'no-referrer no-referrer-when-downgrade origin origin-when-cross-origin same-origin strict-origin ' +
  'strict-origin-when-cross-origin unsafe-url'
).split(' ')

function referrer(option: string, given: unknown = 'no-referrer'): string | null {
  if (given === false) return null
  const list: unknown[] = Array.isArray(given) ? given : [given]
  if (list.length > 0 && list.every((each) => referrers.includes(each as string))) return list.join(', ')
  throw bad(option, given, `${referrers.join(', ')}, several of them or false`)
}

/** These are on OWASP's list, and Chromium knows them on every system; it complains about others on every page. */
const noFeatures = Object.fromEntries(
  (
    'accelerometer autoplay camera display-capture encrypted-media fullscreen geolocation gyroscope magnetometer ' +
    'microphone midi payment picture-in-picture publickey-credentials-get screen-wake-lock usb xr-spatial-tracking'
  )
    .split(' ')
    .map((feature) => [feature, []]),
)

/** Writes a structured dictionary (Permissions Policy §5.2, RFC 9651 §3.2). */
function permissions(option: string, given: unknown = noFeatures): string | null {
  if (given === false) return null
  if (typeof given === 'string')
    return checkFieldValue(option, given, 'features and who may use them, or false')
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw bad(option, given, "an object such as { camera: [], geolocation: ['self'] }, text or false")
  }
  const members = Object.entries(given).map(([feature, who]) => {
    if (!/^[a-z][a-z0-9-]*$/.test(feature)) throw bad(option, feature, 'features in lower case')
    if (who === '*') return `${feature}=*`
    if (!Array.isArray(who))
      throw bad(`${option}.${feature}`, who, "an array of 'self', 'src' and origins, or '*'")
    return `${feature}=(${who.map((each) => member(`${option}.${feature}`, each)).join(' ')})`
  })
  return members.length === 0 ? null : members.join(', ')
}

function member(option: string, who: unknown): string {
  if (who === 'self' || who === 'src') return who
  if (typeof who === 'string' && /^[a-z][a-z0-9+.-]*:\/\/[^\s"\\,;()\x7f-\uffff]+$/.test(who))
    return `"${who}"`
  throw bad(option, who, "'self', 'src' and origins such as 'https://maps.example'")
}

/** Writes a structured dictionary of texts (Reporting API §3.2, RFC 9651 §3.2). */
function endpoints(option: string, given: unknown = false): string | null {
  if (given === false) return null
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw bad(option, given, "an object such as { csp: '/csp-reports' }, or false")
  }
  const members = Object.entries(given).map(([name, address]: [string, unknown]) => {
    if (!/^[a-z*][a-z0-9_.*-]*$/.test(name)) throw bad(option, name, 'names in lower case')
    const isAddress =
      typeof address === 'string' && /^(?:\/(?!\/)|https:\/\/)[\x21\x23-\x5b\x5d-\x7e]*$/.test(address)
    if (!isAddress) throw bad(`${option}.${name}`, address, 'a path, or an address that begins with https:')
    return `${name}="${address}"`
  })
  return members.length === 0 ? null : members.join(', ')
}

/** The options beside CSP and HSTS, in the order in which their headers are sent. */
const writers: Readonly<Record<string, Write>> = {
  crossOriginEmbedderPolicy: oneOf(false, 'require-corp', 'credentialless', 'unsafe-none'),
  crossOriginOpenerPolicy: oneOf(
    'same-origin',
    'same-origin-allow-popups',
    'noopener-allow-popups',
    'unsafe-none',
  ),
  crossOriginResourcePolicy: oneOf('same-origin', 'same-site', 'cross-origin'),
  originAgentCluster: (option, given) => (checkFlag(option, given, true) ? '?1' : null),
  permissionsPolicy: permissions,
  referrerPolicy: referrer,
  reportingEndpoints: endpoints,
  xContentTypeOptions: oneOf('nosniff'),
  xDnsPrefetchControl: oneOf('off', 'on'),
  xFrameOptions: oneOf('DENY', 'SAMEORIGIN'),
  xPermittedCrossDomainPolicies: oneOf('none', 'master-only', 'by-content-type', 'all'),
  xXssProtection: oneOf('0'),
}
