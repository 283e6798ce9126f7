/** The cookie of sessions: what came in it, and how it is set. */
import { printLine } from '../report/print-line.ts'
import type { RequestContext } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'
import { cookieValues } from '../cookies/cookie-values.ts'
import type { CookiePlan } from './options.ts'

const none: readonly string[] = []

export class SessionCookie {
  readonly name: string
  readonly #plan: CookiePlan

  constructor(plan: CookiePlan) {
    this.name = plan.name
    this.#plan = plan
  }

  /** Gives the different values that came. */
  valuesOf(ctx: RequestContext): readonly string[] {
    const header = ctx.exchange.header('cookie')
    return header === undefined ? none : cookieValues(header, this.name)
  }

  /** Sets the cookie of a session that may last for `left` milliseconds more. */
  set(ctx: RequestContext, reply: OutgoingReply, value: string, left: number): void {
    const { attributes, isPersistent } = this.#plan
    const maxAge = Math.max(1, Math.ceil(left / 1_000))
    ctx.cookie(this.name, value, isPersistent ? { ...attributes, maxAge } : attributes)
    keepPrivate(reply)
    if (attributes.secure) warnOfPlainHttp(ctx, this.name)
  }

  clear(ctx: RequestContext, reply: OutgoingReply): void {
    ctx.clearCookie(this.name, this.#plan.attributes)
    keepPrivate(reply)
  }
}

const caching = 'cache-control'

/** True where caches that many people share may keep the reply. */
export function isShared({ headers }: OutgoingReply): boolean {
  return /\b(?:public|s-maxage)\b/i.test(headers.get(caching) ?? '')
}

/** Keeps caches from giving one person's cookie to another: they may store Set-Cookie (RFC 9111 §7.3). */
function keepPrivate({ headers }: OutgoingReply): void {
  if (!/\b(?:private|no-store)\b/i.test(headers.get(caching) ?? '')) headers.set(caching, 'no-store')
}

let warned = false

/** Tells once that browsers drop the cookie. Most take a Secure cookie of http://localhost. */
function warnOfPlainHttp(ctx: RequestContext, name: string): void {
  if (warned || ctx.app.trust !== null || ctx.protocol === 'https') return
  const host = ctx.host.replace(/:\d+$/, '')
  if (/^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/i.test(host)) return
  warned = true
  printLine(
    `volant: session() set the cookie ${name} for http://${ctx.host}: browsers drop a Secure cookie that comes over plain HTTP. Behind a proxy that speaks TLS, createApp({ trustProxy }) names the proxy; for development, session({ cookie: { secure: false } }) leaves Secure out`,
  )
}
