/** The options of `session`, and their checks. */
import { sealerOf, type Sealer } from '../cookies/sealer.ts'
import { VolantError } from '../errors/errors.ts'
import { checkChoice, checkFlag, checkInteger, checkNames, checkText } from '../options/checks.ts'
import { millisecondsOf } from '../options/duration.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { setCookie } from '../reply/cookie.ts'
import type { SessionStore } from './store.ts'

/** The cookie of sessions. It is HttpOnly in any case. */
export interface SessionCookieOptions {
  /** The name. Default `__Host-session`: browsers then let no other host of the domain set it. */
  name?: string | undefined
  /**
   * False leaves out Secure, and the prefix of the name: for development over plain HTTP under another name than
   * localhost, and in Safari. Default true.
   */
  secure?: boolean | undefined
  /** Which requests of other sites have the cookie: `lax` (default) links alone, `strict` none, `none` all. */
  sameSite?: 'lax' | 'strict' | 'none' | undefined
  /** True keeps the cookie apart for each site that embeds this one (CHIPS). Default false. */
  partitioned?: boolean | undefined
  /** The hosts that get the cookie, with their subdomains. Default: this host alone. */
  domain?: string | undefined
  /** The paths that get the cookie. Default `/`. */
  path?: string | undefined
  /** True keeps the cookie when the browser is closed, for as long as the session may last. Default false. */
  persistent?: boolean | undefined
}

/** The options of `session`. */
export interface SessionOptions {
  /**
   * The keys that seal the cookie: texts of 32 bytes or more, the newest first. The first seals, and each of them opens:
   * a key goes to the end when it is replaced, and is taken away once `absoluteTimeout` has passed. A store needs none.
   * `process.env` has undefined where a key is missing, which is refused.
   */
  keys?: readonly (string | undefined)[] | undefined
  /** Keeps the sessions, so that the cookie has an id alone. Default: the sealed cookie is the session. */
  store?: SessionStore | undefined
  /** The time without a request that uses the session after which it ends: milliseconds or a text. Default 30 minutes. */
  idleTimeout?: number | string | undefined
  /** The time after which it ends in any case. Default 12 hours. */
  absoluteTimeout?: number | string | undefined
  /** The cookie. */
  cookie?: SessionCookieOptions | undefined
  /** True asks the store when a handler calls `load()`, and not before. Default false. */
  lazy?: boolean | undefined
  /** The milliseconds that the store has to answer in, from 1 to 60,000. Default 1,000. */
  storeTimeout?: number | undefined
  /**
   * What happens to a request whose session cannot be read from the store:
   *
   * - `deny` (default): it is answered with 503.
   * - `anonymous`: it has no session. A request that changes it is answered with 503.
   */
  onStoreError?: 'deny' | 'anonymous' | undefined
}

/** The checked options. */
export interface SessionPlan {
  readonly sealer: Sealer | null
  readonly store: SessionStore | null
  readonly idle: number
  readonly absolute: number
  readonly cookie: CookiePlan
  readonly isLazy: boolean
  readonly storeTimeout: number
  readonly onStoreError: 'deny' | 'anonymous'
}

export interface CookiePlan {
  readonly name: string
  readonly isPersistent: boolean
  readonly attributes: {
    readonly secure: boolean
    readonly sameSite: 'lax' | 'strict' | 'none'
    readonly path: string
    readonly domain?: string
    readonly partitioned?: boolean
  }
}

const names = [
  'keys',
  'store',
  'idleTimeout',
  'absoluteTimeout',
  'cookie',
  'lazy',
  'storeTimeout',
  'onStoreError',
] as const
const cookieNames = ['name', 'secure', 'sameSite', 'partitioned', 'domain', 'path', 'persistent'] as const
const storeNames = ['lazy', 'storeTimeout', 'onStoreError'] as const

/** Browsers keep no cookie for longer (RFC 6265bis §5.6.1). */
const longest = 400 * 86_400_000

/** Throws `E_BAD_OPTION`. */
export function planOf(options: SessionOptions): SessionPlan {
  checkNames('session', options, names, foreignNames.session)
  const { keys, store, idleTimeout = 1_800_000, absoluteTimeout = 43_200_000 } = options
  checkStore(store, options)
  if (keys === undefined && store === undefined) {
    throw new VolantError(
      'E_BAD_OPTION',
      'session takes keys, which seal the cookie, or a store: keys: [process.env.SESSION_KEY]. Make a key with "openssl rand -base64 32"',
    )
  }
  const idle = checkTime('session: idleTimeout', idleTimeout)
  const absolute = checkTime('session: absoluteTimeout', absoluteTimeout)
  if (idle > absolute) {
    throw new VolantError(
      'E_BAD_OPTION',
      'session: idleTimeout is longer than absoluteTimeout, after which a session ends in any case: raise absoluteTimeout',
    )
  }
  const sealer = keys === undefined ? null : sealerOf(keys as readonly string[], 'session', 'session: keys')
  return {
    sealer: store === undefined ? sealer : null,
    store: store ?? null,
    idle,
    absolute,
    cookie: cookieOf(options.cookie ?? {}),
    isLazy: checkFlag('session: lazy', options.lazy, false),
    storeTimeout: checkInteger(
      'session: storeTimeout',
      options.storeTimeout ?? 1_000,
      [1, 60_000],
      'ms from 1 to 60,000',
    ),
    onStoreError: checkChoice('session: onStoreError', options.onStoreError ?? 'deny', ['deny', 'anonymous']),
  }
}

function checkTime(name: string, value: number | string): number {
  const wanted = "milliseconds from 1,000 to 400 days, or a text such as '30 minutes', '12 hours', '7 days'"
  return checkInteger(name, millisecondsOf(value) ?? value, [1_000, longest], wanted)
}

function checkStore(store: unknown, options: SessionOptions): void {
  if (store === undefined) {
    const name = storeNames.find((each) => options[each] !== undefined)
    if (name === undefined) return
    throw new VolantError('E_BAD_OPTION', `session: ${name} is for a store, and there is none: add store`)
  }
  const calls = ['get', 'set', 'touch', 'destroy'] as const
  const given = (store ?? {}) as Partial<Record<keyof SessionStore, unknown>>
  const absent = calls.filter((name) => typeof given[name] !== 'function')
  if (absent.length === 0) return
  throw new VolantError(
    'E_BAD_OPTION',
    `session: store has no ${absent.join(', ')}: give it memorySessions(), sqliteSessions(database), redisSessions(client), or an object with get, set, touch and destroy`,
  )
}

function cookieOf(given: SessionCookieOptions): CookiePlan {
  checkNames('session: cookie', given, cookieNames, foreignNames.sessionCookie)
  const { path = '/', domain, sameSite = 'lax' } = given
  const secure = checkFlag('session: cookie.secure', given.secure, true)
  const partitioned = checkFlag('session: cookie.partitioned', given.partitioned, false)
  const isBound = path === '/' && domain === undefined
  const name = checkText(
    'session: cookie.name',
    given.name ?? `${secure ? (isBound ? '__Host-' : '__Secure-') : ''}session`,
    /^[\w!#$%&'*+.^`|~-]{1,64}$/,
    "a name of 1 to 64 letters, digits and characters of _!#$%&'*+.^`|~-",
  )
  const attributes = {
    secure,
    sameSite: checkChoice('session: cookie.sameSite', sameSite, ['lax', 'strict', 'none']),
    path,
    ...(domain === undefined ? {} : { domain }),
    ...(partitioned ? { partitioned } : {}),
  }
  try {
    setCookie(name, '', attributes, true)
  } catch (error) {
    throw new VolantError('E_BAD_OPTION', `session: ${(error as Error).message}`, { cause: error })
  }
  return { name, isPersistent: checkFlag('session: cookie.persistent', given.persistent, false), attributes }
}
