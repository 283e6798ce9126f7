/** Cookies whose values clients cannot change: how they are read, set, ended, and protected again by a new key. */
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { cookieOptionNames, setCookie } from '../reply/cookie.ts'
import type { Context } from '../types/context.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { CookieOptions } from '../types/reply-options.ts'
import type { RequestContext } from '../types/request.ts'
import { cookieValues } from './cookie-values.ts'
import { longestName } from './node-sealing.ts'

/** The options of `signedCookie` and `sealedCookie`: the keys, and those of `ctx.cookie`. */
export interface ProtectedCookieOptions extends CookieOptions {
  /**
   * Texts of 32 bytes or more, the newest first. The first protects, and each of them reads: a key goes to the end when
   * it is replaced, and is taken away when no cookie of it is valid any more. Make one with `openssl rand -base64 32`.
   */
  keys: readonly (string | undefined)[]
}

/** How long a cookie is valid: the server refuses it afterwards, too. `maxAge` counts if both are given. */
export interface CookieLife {
  /** The seconds for which it is valid. */
  maxAge?: number | undefined
  /** The time when it ends. */
  expires?: Date | undefined
}

/** A cookie whose value clients cannot change. */
export interface ProtectedCookie {
  /** The name of the cookie. */
  readonly name: string
  /**
   * Gives the value that came with the request. It is undefined without a cookie, and for one that was changed, has
   * ended, or came twice with two valid values. If an older key than the first has protected it, the reply sets the
   * cookie again.
   */
  get(ctx: Context): string | undefined
  /**
   * Sets the cookie. `life` replaces the life of the options. Throws `E_BAD_COOKIE` for a value that is no text, or too
   * long: browsers keep 4,096 bytes of name and value.
   */
  set(ctx: Context, value: string, life?: CookieLife): void
  /** Ends the cookie in the browser. A copy of its value is still valid for as long as its life was. */
  clear(ctx: Context): void
}

/** Protects values by the keys that it was made with. */
export interface CookieCodec {
  /** Gives what is sent. `end` is a number in base 36, or nothing. */
  write(name: string, value: string, end: string): string
  /** Gives what `write` was given, of what came in the Cookie field. Gives null for anything else. */
  read(name: string, raw: string): { value: string; end: string; isNewest: boolean } | null
}

/** The most bytes of name and value that a browser keeps (RFC 6265bis §5.6). */
const longest = 4_096
const lifeNames = ['maxAge', 'expires'] as const
const names = ['keys', ...cookieOptionNames] as const

/**
 * Makes the cookie of a name, where `codecOf` makes its codec of the keys. `where` names the function in errors. Throws
 * `E_BAD_OPTION`.
 */
export function protectedCookie(
  where: string,
  name: string,
  options: ProtectedCookieOptions,
  codecOf: (keys: readonly (string | undefined)[], where: string) => CookieCodec,
): ProtectedCookie {
  if (typeof name !== 'string' || name.length > longestName)
    throw bad(
      `the first argument of ${where}`,
      name,
      `the name of a cookie, of ${longestName} characters at most`,
    )
  checkNames(where, options, names, foreignNames.protectedCookie)
  const { keys, ...attributes } = options
  try {
    setCookie(name, '', attributes, true)
  } catch (error) {
    throw new VolantError('E_BAD_OPTION', `${where}: ${(error as Error).message}`, { cause: error })
  }
  return new LiveCookie(name, codecOf(keys, `${where}: keys`), attributes)
}

class LiveCookie implements ProtectedCookie {
  readonly name: string
  readonly #codec: CookieCodec
  readonly #attributes: CookieOptions
  readonly #life: CookieLife
  /** What its Set-Cookie begins with. */
  readonly #start: string
  /** A cookie of the same name with another path or domain is another one. */
  readonly #scope: string

  constructor(name: string, codec: CookieCodec, { maxAge, expires, ...attributes }: CookieOptions) {
    this.name = name
    this.#codec = codec
    this.#attributes = attributes
    this.#life = { maxAge, expires }
    this.#start = `${name}=`
    this.#scope = scopeOf(setCookie(name, '', attributes, true))
  }

  get(given: Context): string | undefined {
    const ctx = given as unknown as RequestContext
    const header = ctx.exchange.header('cookie')
    if (header === undefined) return undefined
    const now = Date.now()
    let found: { value: string; end: number; isNewest: boolean } | undefined
    for (const raw of cookieValues(header, this.name)) {
      const read = raw.length > longest ? null : this.#codec.read(this.name, raw)
      if (read === null) continue
      const end = read.end === '' ? Infinity : Number.parseInt(read.end, 36) * 1_000
      if (now >= end) continue
      // Nobody knows which of two this server has set last: another host of the domain may have set one.
      if (found !== undefined) return undefined
      found = { value: read.value, end, isNewest: read.isNewest }
    }
    if (found === undefined) return undefined
    if (!found.isNewest && ctx.phase <= ReplyPhase.sending && this.#placed(ctx) === -1) {
      const maxAge = Math.floor((found.end - now) / 1_000)
      this.#send(ctx, found.value, found.end === Infinity ? {} : { maxAge })
    }
    return found.value
  }

  set(given: Context, value: string, life: CookieLife = this.#life): void {
    if (life !== this.#life) this.#check(life)
    if (typeof value !== 'string') throw this.#bad(`takes a text, not a value of type ${typeof value}`)
    if (/\p{Cs}/u.test(value)) throw this.#bad('takes a text, not one with an unpaired surrogate')
    this.#send(given as unknown as RequestContext, value, life)
  }

  clear(given: Context): void {
    const ctx = given as unknown as RequestContext
    this.#replace(ctx, () => ctx.clearCookie(this.name, this.#attributes))
  }

  /** The value is protected for as long as the options say, so they are checked before. */
  #check(life: CookieLife): void {
    checkNames(`set of the cookie ${this.name}`, life, lifeNames, foreignNames.cookieLife)
    setCookie(this.name, '', { ...this.#attributes, ...life }, true)
  }

  #send(ctx: RequestContext, value: string, life: CookieLife): void {
    const sent = this.#codec.write(this.name, value, endOf(life))
    this.#replace(ctx, () => ctx.cookie(this.name, sent, { ...this.#attributes, ...life }))
  }

  /** Places Set-Cookie, instead of the one that was placed before (RFC 6265 §4.1.1). */
  #replace(ctx: RequestContext, place: () => void): void {
    const earlier = this.#placed(ctx)
    const before = ctx.replyHeaders?.length
    place()
    if (earlier !== -1 && ctx.replyHeaders?.length !== before) ctx.replyHeaders?.splice(earlier, 2)
  }

  /** Gives the index of this cookie among the headers of the reply, or -1. */
  #placed({ replyHeaders: list }: RequestContext): number {
    if (list === null) return -1
    for (let at = 0; at < list.length; at += 2) {
      const value = list[at + 1] as string
      if (list[at] === 'set-cookie' && value.startsWith(this.#start) && scopeOf(value) === this.#scope)
        return at
    }
    return -1
  }

  #bad(what: string): VolantError {
    return new VolantError('E_BAD_COOKIE', `the cookie ${JSON.stringify(this.name)} ${what}`)
  }
}

/** Gives path and domain, as Set-Cookie has them. */
function scopeOf(value: string): string {
  return (value.match(/; (?:Path|Domain)=[^;]*/g) ?? []).join('')
}

/** Gives the second in which a cookie ends, in base 36. `maxAge` precedes `expires`, as in browsers. */
function endOf({ maxAge, expires }: CookieLife): string {
  if (maxAge !== undefined) return seconds(Date.now() + maxAge * 1_000)
  return expires === undefined ? '' : seconds(expires.getTime())
}

function seconds(ms: number): string {
  return Math.max(0, Math.floor(ms / 1_000)).toString(36)
}
