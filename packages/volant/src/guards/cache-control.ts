/** `cacheControl()` says how long replies may be kept, where the handler does not (RFC 9111 §5.2). */
import { hintMisuse, sender } from '../dispatch/declare.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach, checkFlag, checkInteger, checkNames, checkText } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import type { FittingMiddleware } from '../types/parts.ts'

/** The options of `cacheControl`. */
export interface CacheControlOptions {
  /** The seconds for which a reply may be used again without asking (`max-age`). */
  maxAge?: number | undefined
  /** The same for caches that several users share, such as those of a CDN (`s-maxage`). */
  sMaxAge?: number | undefined
  /** True lets shared caches keep replies to requests with Authorization, too. */
  public?: boolean | undefined
  /** True keeps replies out of shared caches. */
  private?: boolean | undefined
  /** True has nobody keep the reply. It stands for replies to all methods and of every status, unless said otherwise. */
  noStore?: boolean | undefined
  /** True has every use of a kept reply ask the server first. */
  noCache?: boolean | undefined
  /** True forbids proxies to change the content. `compress()` leaves such replies alone as well. */
  noTransform?: boolean | undefined
  /** True forbids to use a kept reply past its time, also while the server cannot be reached. */
  mustRevalidate?: boolean | undefined
  /** The same for shared caches. */
  proxyRevalidate?: boolean | undefined
  /** True has caches keep the reply only if they know what its status means. */
  mustUnderstand?: boolean | undefined
  /** True says that the content never changes, so that a browser does not ask when a page is reloaded (RFC 8246). */
  immutable?: boolean | undefined
  /** The seconds past its time for which a kept reply may be used while a new one is fetched (RFC 5861 §3). */
  staleWhileRevalidate?: number | undefined
  /** The seconds past its time for which a kept reply may be used while the server fails (RFC 5861 §4). */
  staleIfError?: number | undefined
  /** The methods whose replies get it. Default GET and HEAD; with `noStore` all. */
  methods?: readonly string[] | undefined
  /** True sends it with replies from status 400 on as well. Default false; with `noStore` true. */
  errors?: boolean | undefined
}

const seconds = ['maxAge', 'sMaxAge', 'staleWhileRevalidate', 'staleIfError'] as const

/** The names of the directives, in the order in which they are sent. */
const directives = {
  public: 'public',
  private: 'private',
  noStore: 'no-store',
  noCache: 'no-cache',
  noTransform: 'no-transform',
  maxAge: 'max-age',
  sMaxAge: 's-maxage',
  mustRevalidate: 'must-revalidate',
  proxyRevalidate: 'proxy-revalidate',
  mustUnderstand: 'must-understand',
  immutable: 'immutable',
  staleWhileRevalidate: 'stale-while-revalidate',
  staleIfError: 'stale-if-error',
} as const

type Directive = keyof typeof directives
const inOrder = Object.keys(directives) as Directive[]

/**
 * Sends Cache-Control with replies that have none:
 *
 *     app.use(cacheControl({ public: true, maxAge: 3_600, staleWhileRevalidate: 60 }))
 *
 * These are replies to GET and HEAD that succeeded, 304, and the permanent redirects 301 and 308. What the handler or a
 * scope inside this one says stays, in Cache-Control or Expires. A reply with Set-Cookie does not go to a shared
 * cache: it gets `private` in place of `public` and `s-maxage`. A hook of `onSend` outside this one runs later, and has to
 * say so itself where it adds a cookie. Throws `E_BAD_OPTION`.
 */
export function cacheControl(options: CacheControlOptions): FittingMiddleware {
  checkNames('cacheControl', options, [...inOrder, 'methods', 'errors'], foreignNames.cacheControl)
  checkDirectives(options)
  const value = write(options)
  const isSecret = options.noStore === true
  const isShared = !isSecret && options.private !== true
  const { public: _, sMaxAge: __, proxyRevalidate: ___, ...others } = options
  const alone = isShared ? write({ ...others, private: true }) : value
  const methods = methodsOf(options.methods, isSecret)
  const errors = checkFlag('cacheControl: errors', options.errors, isSecret)
  const isCovered = (status: number): boolean =>
    status >= 400 ? errors : isSecret || status < 300 || kept.has(status)
  const concerns = (method: string, status: number): boolean =>
    isCovered(status) && (methods === null || methods.has(method))
  return sender(
    (ctx, { status, headers }) => {
      if (!concerns(ctx.method, status) || headers.has('cache-control') || headers.has('expires')) return
      headers.set('cache-control', isShared && headers.has('set-cookie') ? alone : value)
    },
    (ctx, _, status) => concerns(ctx.method, status),
  )
}

hintMisuse(cacheControl, 'app.use(cacheControl({ maxAge: 3_600 }))')

/** The statuses from 300 on whose replies caches keep without being told, or use to renew what they have. */
const kept: ReadonlySet<number> = new Set([301, 304, 308])

function methodsOf(given: unknown, isSecret: boolean): ReadonlySet<string> | null {
  if (given === undefined) return isSecret ? null : new Set(['GET', 'HEAD'])
  const list = checkEach('cacheControl: methods', given, "a list of methods such as ['GET']", (name, each) =>
    checkText(name, each, /^[A-Z][A-Z-]*$/, "methods in upper case, such as 'GET'"),
  )
  return new Set(list)
}

/** Ten years. Larger numbers are mistakes, such as milliseconds. */
const longest = 315_360_000

function checkDirectives(options: CacheControlOptions): void {
  for (const name of seconds) {
    const value = options[name]
    if (value !== undefined)
      checkInteger(
        `cacheControl: ${name}`,
        value,
        [0, longest],
        'seconds from 0 to 315,360,000, which are ten years',
      )
  }
  for (const name of inOrder)
    if (!(seconds as readonly string[]).includes(name))
      checkFlag(`cacheControl: ${name}`, options[name], false)
  const given = inOrder.filter((name) => options[name] !== undefined && options[name] !== false)
  if (given.length === 0) {
    throw bad(
      'cacheControl',
      options,
      'at least one directive, such as { maxAge: 3_600 } or { noStore: true }',
    )
  }
  const both = contradictions.find((pair) => pair.every((name) => given.includes(name)))
  if (both !== undefined) {
    throw new VolantError(
      'E_BAD_OPTION',
      `cacheControl: ${both.join(' and ')} contradict each other: leave one of them out`,
    )
  }
}

/** What one of the two says the other one takes back. */
const contradictions: readonly (readonly [Directive, Directive])[] = [
  ['public', 'private'],
  ['private', 'sMaxAge'],
  ['private', 'proxyRevalidate'],
  ...(['maxAge', 'sMaxAge', 'public', 'immutable', 'staleWhileRevalidate', 'staleIfError'] as const).map(
    (name) => ['noStore', name] as const,
  ),
  ['noCache', 'immutable'],
  ['mustRevalidate', 'staleWhileRevalidate'],
  ['mustRevalidate', 'staleIfError'],
]

function write(options: CacheControlOptions): string {
  return inOrder
    .flatMap((name) => {
      const value = options[name]
      if (value === undefined || value === false) return []
      return [value === true ? directives[name] : `${directives[name]}=${value}`]
    })
    .join(', ')
}
