/** `csp()` checks and writes a Content-Security-Policy (CSP Level 3). */
// helmet accepts 13 of the 18 rows of test/csp-rows.ts (`node lab/library-differences.mjs helmet`).
import { randomFillSync } from 'node:crypto'
import { checkHeaderValue } from '../reply/header.ts'
import { bad } from '../options/bad-option.ts'
import { gateOf } from '../dispatch/declare.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkFlag, checkNames } from '../options/checks.ts'
import { dashed } from './header-option.ts'
import type { RequestContext } from '../types/request.ts'

/** The directives that take sources: `'self'`, `'none'`, `https:`, `cdn.example`, … */
const sourceDirectives = [
  'defaultSrc',
  'baseUri',
  'childSrc',
  'connectSrc',
  'fontSrc',
  'formAction',
  'frameAncestors',
  'frameSrc',
  'imgSrc',
  'manifestSrc',
  'mediaSrc',
  'objectSrc',
  'reportUri',
  'requireTrustedTypesFor',
  'sandbox',
  'scriptSrc',
  'scriptSrcAttr',
  'scriptSrcElem',
  'styleSrc',
  'styleSrcAttr',
  'styleSrcElem',
  'trustedTypes',
  'workerSrc',
] as const

const knownDirectives: readonly string[] = [...sourceDirectives, 'upgradeInsecureRequests', 'reportTo']

/** The sources that a page may load from, by directive. The source `'nonce'` stands for the nonce of the request. */
export type CspDirectives = {
  [D in (typeof sourceDirectives)[number]]?: readonly string[] | undefined
} & {
  /** True makes pages load http: addresses of this site by https:. */
  upgradeInsecureRequests?: boolean | undefined
  /** The name of an endpoint in Reporting-Endpoints. */
  reportTo?: string | undefined
}

/** The options of `csp`. */
export interface CspOptions {
  /** True reports violations and blocks nothing. Default false. */
  reportOnly?: boolean | undefined
}

type Sources<D> = { [K in keyof D]: D[K] extends readonly (infer S)[] ? S : never }[keyof D]

/** The state that middleware with these directives adds to a context: a nonce, if one of them has it. */
export type NonceOf<D> = [Extract<Sources<D>, "'nonce'">] extends [never] ? {} : { state: { nonce: string } }

/** The symbol is registered, so that two copies of this package understand each other's policies. */
const policy = Symbol.for('volant.csp')

/** A policy: a middleware that sends it, and what `securityHeaders` takes. */
export type Csp<E extends object = {}> = FittingMiddleware<E> & { readonly [policy]: Policy }

/**
 * Makes a policy of these directives, for `securityHeaders` or as middleware of the routes that need one of their own:
 *
 *     const page = csp({ defaultSrc: ["'self'"], scriptSrc: ["'self'", "'nonce'"] })
 *     app.get('/', page, (ctx) => ctx.html(`<script nonce="${ctx.state.nonce}">…</script>`))
 *
 * With the source `'nonce'` every request has its own 128 random bits in `ctx.state.nonce`. Throws `E_BAD_OPTION` for
 * directives that do not exist and for sources that would not stay one source.
 */
export function csp<const D extends CspDirectives>(directives: D, options: CspOptions = {}): Csp<NonceOf<D>> {
  checkNames('csp', options, ['reportOnly'])
  const made = new Policy(directives, checkFlag('csp: reportOnly', options.reportOnly, false))
  const layer = gateOf((ctx) => void ctx.place(made.header, made.header, made.value(ctx)))
  return Object.assign(layer, { [policy]: made }) as unknown as Csp<NonceOf<D>>
}

/** Gives the policy of what `csp` made, or of directives; null if it is neither. */
export function policyOf(value: unknown): Policy | null {
  if (typeof value === 'function') return (value as { [policy]?: Policy })[policy] ?? null
  return typeof value === 'object' && value !== null ? new Policy(value as CspDirectives, false) : null
}

export class Policy {
  readonly header: 'content-security-policy' | 'content-security-policy-report-only'
  /** The text around the nonces; one part if there are none. */
  readonly parts: readonly string[]

  constructor(directives: CspDirectives, reportOnly: boolean) {
    this.header = reportOnly ? 'content-security-policy-report-only' : 'content-security-policy'
    this.parts = write(directives).split("'nonce'")
  }

  /** Gives the policy for one request, whose state has the nonce afterwards. */
  value(ctx: RequestContext): string {
    const { parts } = this
    if (parts.length === 1) return parts[0] as string
    // Policies of a scope and of a route inside it share the nonce of the page.
    const { state } = ctx
    if (typeof state['nonce'] !== 'string' || !nonceText.test(state['nonce'])) state['nonce'] = makeNonce()
    return parts.join(`'nonce-${state['nonce'] as string}'`)
  }
}

function write(directives: unknown): string {
  checkNames('csp', directives, knownDirectives, foreignNames.csp)
  const entries = Object.entries(directives as CspDirectives).filter(([, value]) => value !== undefined)
  if (entries.length === 0) throw bad('csp', directives, 'at least one directive')
  return entries
    .map(([name, value]) => directive(name, value))
    .filter((text) => text !== '')
    .join('; ')
}

function directive(name: string, value: unknown): string {
  const written = dashed(name)
  if (name === 'upgradeInsecureRequests') return checkFlag(`csp: ${name}`, value, false) ? written : ''
  if (name === 'reportTo') return `${written} ${checkSource(name, value)}`
  if (!Array.isArray(value)) throw bad(`csp: ${name}`, value, `an array of sources, such as ["'self'"]`)
  const sources = value.map((source) => checkSource(name, source))
  // In other directives an empty list means 'none' to one browser and nothing to another.
  if (sources.length === 0 && name !== 'sandbox' && name !== 'trustedTypes') {
    throw bad(`csp: ${name}`, '', `at least one source, or ["'none'"]`)
  }
  if (sources.length > 1 && sources.includes("'none'") && name !== 'trustedTypes') {
    throw bad(`csp: ${name}`, "'none'", "other sources or ['none'], not both")
  }
  return [written, ...sources].join(' ')
}

/** These words are keywords only in quotes; without quotes they are names of hosts. */
const keywords = new Set(
  (
    'self none unsafe-inline unsafe-eval unsafe-hashes strict-dynamic report-sample wasm-unsafe-eval ' +
    'inline-speculation-rules nonce script'
  ).split(' '),
)

function checkSource(name: string, source: unknown): string {
  const option = `csp: ${name}`
  if (typeof source !== 'string') throw bad(option, source, 'sources that are strings')
  // These end a source, a directive or a policy (CSP3 §2.3.1).
  if (source === '' || /[\s;,]/.test(source)) {
    throw bad(option, source, 'one source at a time, without white space, semicolon or comma')
  }
  if (keywords.has(source) && name !== 'sandbox' && name !== 'trustedTypes' && name !== 'reportTo') {
    throw bad(option, source, `the keyword in quotes: "'${source}'"`)
  }
  try {
    return checkHeaderValue(option, source)
  } catch {
    throw bad(option, source, 'sources in ASCII; other host names are written in punycode')
  }
}

/** Matches the base64-value of CSP3 §2.3.1. */
const nonceText = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Random bytes are drawn for many nonces at once: one call for each would cost more than everything else. */
const pool = Buffer.alloc(4_096)
let used = pool.length

/** Gives 128 random bits in base64 (CSP3 §7.1). */
function makeNonce(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 16
  return pool.toString('base64', used - 16, used)
}
