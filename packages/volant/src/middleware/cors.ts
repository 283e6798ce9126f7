/** `cors()` decides which pages of other origins may read replies (Fetch §3.2). */
import type { Context } from '../types/context.ts'
import { checkHeaderValue, headerBlock, type HeaderBlock } from '../reply/header.ts'
import { bad } from '../options/bad-option.ts'
import { gateOf } from '../dispatch/declare.ts'
import { isThenable } from '../types/thenable.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkEach, checkFlag, checkInteger, checkNames, checkText } from '../options/checks.ts'
import type { RequestContext } from '../types/request.ts'

/** Tells whether pages of `origin` may read the reply; a string is sent as the allowed origin in its place. */
export type OriginCheck = (
  origin: string,
  ctx: Context,
) => boolean | string | undefined | Promise<boolean | string | undefined>

/** The options of `cors`. */
export interface CorsOptions {
  /**
   * `*` allows every page; a string or several allow those origins; a RegExp has to match the whole of an origin and
   * is written so (`^…$`); a function decides for each request that has an Origin. `null`, the origin of sandboxed
   * pages and files, is allowed by the string `'null'` or by a function. Default `*`.
   */
  origin?: string | RegExp | readonly (string | RegExp)[] | OriginCheck | undefined
  /** True lets pages send credentials such as cookies and read the reply; `origin` is then not `*`. Default false. */
  credentials?: boolean | undefined
  /** The methods that pages may use, also of the router option. Default GET, HEAD, POST, PUT, PATCH, DELETE and QUERY. */
  methods?: readonly string[] | undefined
  /** The request headers that pages may set. Default: those they ask for. */
  allowedHeaders?: readonly string[] | undefined
  /**
   * The reply headers that pages may read, besides the few they always may. Those of `rateLimit` are added to them
   * where it limits a route. Default none.
   */
  exposedHeaders?: readonly string[] | undefined
  /** The seconds for which a browser may keep the answer to a preflight. Default: browsers keep it for 5. */
  maxAge?: number | undefined
  /** True lets public pages reach this server in a private network, if the browser asks. Default false. */
  privateNetwork?: boolean | undefined
}

const names = [
  'origin',
  'credentials',
  'methods',
  'allowedHeaders',
  'exposedHeaders',
  'maxAge',
  'privateNetwork',
] as const

/**
 * Lets pages of other origins read replies, errors included, and answers preflights:
 *
 *     app.use(cors({ origin: ['https://app.example'], credentials: true }))
 *
 * It runs before a `rateLimit` that was registered before it, unless `origin` is a function, so that pages can read a
 * 429, and preflights are not counted.
 *
 * It belongs to an app, a scope or a path rather than to a route. A preflight (OPTIONS with Origin and
 * Access-Control-Request-Method) is answered with 204 by it, whether there is a route or not and before a route for
 * OPTIONS; other OPTIONS requests go on. A request of an origin that is not allowed goes on, too, without headers that
 * would let its page read the reply: this is no protection of the server. Requests that the engine refuses before any
 * middleware (malformed ones, bodies past `maxBodySize` by their Content-Length) get no headers of CORS.
 *
 * Throws `E_BAD_OPTION`.
 */
export function cors(options: CorsOptions = {}): FittingMiddleware {
  checkNames('cors', options, names, foreignNames.cors)
  const policy = new Policy(options)
  const { decide } = policy
  if (decide === null) {
    return gateOf((ctx) => {
      if (ctx.method === 'OPTIONS' && isPreflight(ctx)) return policy.answer(ctx, '*')
      ctx.placeAll(policy.actualFor(ctx))
      return undefined
    }, early)
  }
  return gateOf(
    (ctx) => {
      ctx.vary('Origin')
      const origin = ctx.exchange.header('origin')
      if (origin === undefined || origin.length > longestOrigin) return undefined
      const allowed = decide(origin, ctx)
      if (isThenable(allowed)) return allowed.then((verdict) => policy.apply(ctx, origin, verdict))
      return policy.apply(ctx, origin, allowed)
    },
    typeof options.origin === 'function' ? {} : early,
  )
}

/** A function of the app may need what comes before it. */
const early = { goesBefore: true } as const

/** A host name has at most 253 characters; what is longer is no origin and is not matched against anything. */
const longestOrigin = 512

function isPreflight(ctx: RequestContext): boolean {
  const { exchange } = ctx
  return (
    exchange.header('access-control-request-method') !== undefined && exchange.header('origin') !== undefined
  )
}

class Policy {
  /** Null allows every origin. */
  readonly decide: ((origin: string, ctx: RequestContext) => unknown) | null
  /** The headers of replies; the allowed origin is among them only where it never changes. */
  readonly #actual: HeaderBlock
  /** The same with headers of other middleware to expose, by their names. */
  readonly #exposing = new Map<string, HeaderBlock>()
  readonly #fields: Readonly<Record<string, string>>
  readonly #credentials: boolean
  readonly #privateNetwork: boolean
  readonly #preflight: HeaderBlock
  readonly #reflectsHeaders: boolean

  constructor(options: CorsOptions) {
    const { methods = usual, allowedHeaders, exposedHeaders, maxAge } = options
    const credentials = checkFlag('cors: credentials', options.credentials, false)
    this.#privateNetwork = checkFlag('cors: privateNetwork', options.privateNetwork, false)
    this.decide = decider(options.origin ?? '*', credentials)
    this.#credentials = credentials
    this.#reflectsHeaders = allowedHeaders === undefined
    const lists = {
      methods: checkNamed('methods', methods, credentials),
      allowed: checkNamed('allowedHeaders', allowedHeaders, credentials),
      exposed: checkNamed('exposedHeaders', exposedHeaders, credentials),
    }
    if (maxAge !== undefined)
      checkInteger('cors: maxAge', maxAge, [0, 2 ** 31 - 1], 'an integer of seconds from 0')
    const open = this.decide === null ? '*' : ''
    const shared = { 'access-control-allow-credentials': credentials ? 'true' : '' }
    this.#fields = {
      'access-control-allow-origin': open,
      ...shared,
      'access-control-expose-headers': lists.exposed,
    }
    this.#actual = block(this.#fields)
    this.#preflight = block({
      ...shared,
      'access-control-allow-methods': lists.methods.toUpperCase(),
      'access-control-allow-headers': lists.allowed,
      'access-control-max-age': maxAge === undefined ? '' : String(maxAge),
    })
  }

  /** Gives the headers for replies of a route. */
  actualFor({ route: { exposes } }: RequestContext): HeaderBlock {
    return exposes === '' ? this.#actual : (this.#exposing.get(exposes) ?? this.#expose(exposes))
  }

  #expose(names: string): HeaderBlock {
    const own = this.#fields['access-control-expose-headers'] ?? ''
    // Without credentials `*` exposes all.
    const all = own === '' ? names : own.split(', ').includes('*') ? own : `${own}, ${names}`
    const made = block({ ...this.#fields, 'access-control-expose-headers': all })
    this.#exposing.set(names, made)
    return made
  }

  /** Sends the headers for a request with an Origin, once it is known whether that is allowed. */
  apply(ctx: RequestContext, origin: string, verdict: unknown): void {
    const text = verdict === true ? origin : verdict
    const allowed = typeof text === 'string' && text !== '' ? this.#checked(text) : null
    if (ctx.method === 'OPTIONS' && isPreflight(ctx)) this.answer(ctx, allowed)
    else if (allowed !== null) {
      ctx.place('access-control-allow-origin', 'access-control-allow-origin', allowed)
      const actual = this.actualFor(ctx)
      if (actual.names.size > 0) ctx.placeAll(actual)
    }
  }

  /** Answers a preflight; null in `allowed` refuses it. */
  answer(ctx: RequestContext, allowed: string | null): void {
    if (this.#reflectsHeaders) ctx.vary('Access-Control-Request-Headers')
    if (allowed !== null) {
      ctx.placeAll(this.#preflight)
      ctx.place('access-control-allow-origin', 'access-control-allow-origin', allowed)
      const wanted = this.#reflectsHeaders && ctx.exchange.header('access-control-request-headers')
      if (typeof wanted === 'string' && tokens.test(wanted)) {
        ctx.place('access-control-allow-headers', 'access-control-allow-headers', wanted)
      }
      if (this.#privateNetwork && ctx.exchange.header('access-control-request-private-network') === 'true') {
        ctx.header('access-control-allow-private-network', 'true')
      }
    }
    ctx.reply(204)
  }

  #checked(origin: string): string {
    if (origin === '*' && this.#credentials) {
      throw bad(
        'cors: what origin() returns',
        origin,
        'true, false or an origin where credentials are allowed',
      )
    }
    return checkHeaderValue('access-control-allow-origin', origin)
  }
}

/** Gives null where every origin is allowed. */
function decider(
  origin: NonNullable<CorsOptions['origin']>,
  credentials: boolean,
): ((origin: string, ctx: RequestContext) => unknown) | null {
  if (typeof origin === 'function') return origin as (origin: string, ctx: RequestContext) => unknown
  if (origin === '*') {
    if (!credentials) return null
    throw bad('cors: credentials', true, "false while origin is '*': list the origins that may have them")
  }
  const list: readonly unknown[] = Array.isArray(origin) ? origin : [origin]
  if (list.length === 0) throw bad('cors: origin', origin, "at least one origin, or '*'")
  const exact = new Set<string>()
  const patterns: RegExp[] = []
  for (const one of list) {
    if (one instanceof RegExp) patterns.push(whole(one))
    else exact.add(checkOrigin(one, credentials))
  }
  if (patterns.length === 0) return (given) => exact.has(given)
  // A pattern such as /^.*$/ is not meant to allow sandboxed pages, whose origin is the text `null`.
  return (given) => exact.has(given) || (given !== 'null' && patterns.some((pattern) => pattern.test(given)))
}

function checkOrigin(value: unknown, credentials: boolean): string {
  const wanted = "an origin such as 'https://app.example' (scheme, host, port unless it is the usual one)"
  if (typeof value !== 'string') throw bad('cors: origin', value, `${wanted}, a RegExp, a list or a function`)
  if (value === '*') throw bad('cors: origin', value, "no list with '*': alone it allows every origin")
  if (value === 'null') {
    if (!credentials) return value
    throw bad('cors: origin', value, 'no null with credentials: every sandboxed page has that origin')
  }
  // Browsers send scheme, host and port in this form; a path or a slash would never be equal (RFC 6454 §6.2).
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || url.host === '' || `${url.protocol}//${url.host}` !== value) {
    throw bad('cors: origin', value, wanted)
  }
  return value
}

/** Gives the pattern without flags that keep state, each side of a `|` bound to whole origins. */
function whole(pattern: RegExp): RegExp {
  const { source, flags } = pattern
  if (!source.startsWith('^') || !source.endsWith('$')) {
    throw bad(
      'cors: origin',
      pattern.toString(),
      String.raw`a RegExp of the whole origin, such as /^https:\/\/([a-z0-9-]+\.)?app\.example$/: others match origins like https://app.example.evil.example`,
    )
  }
  return new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ''))
}

const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'] as const
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const tokens = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*,[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+)*$/

/** Gives the list as one value, empty if there is none. */
function checkNamed(option: string, values: readonly string[] | undefined, credentials: boolean): string {
  if (values === undefined) return ''
  const wanted = option === 'methods' ? 'methods' : 'header names'
  const list = checkEach(`cors: ${option}`, values, `an array of ${wanted}`, (name, each) =>
    checkText(name, each, token, wanted),
  )
  // Beside credentials `*` is a name like any other (Fetch §3.2.4).
  if (credentials && list.includes('*'))
    throw bad(`cors: ${option}`, '*', 'names where credentials are allowed')
  return list.join(', ')
}

function block(fields: Record<string, string>): HeaderBlock {
  return headerBlock(Object.entries(fields).filter(([, value]) => value !== ''))
}
