/**
 * Sessions that are their cookie: sealed, so that clients can neither read nor change them. Nothing of them is on the
 * server, and so nothing can be taken back there before it has expired.
 */
import type { Sealer } from '../cookies/sealer.ts'
import { VolantError } from '../errors/errors.ts'
import type { RequestContext } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'
import { isShared, type SessionCookie } from './cookie.ts'
import { mergedJson } from './json-values.ts'
import type { Change, Keeper, OpenedSession } from './keeper.ts'
import type { SessionPlan } from './options.ts'
import { secretLength } from './secrets.ts'
import { touchInterval } from './timing.ts'

/** The most bytes of name and value that a browser keeps (RFC 6265bis §5.6). */
const longest = 4_096

export class SealedKeeper implements Keeper {
  readonly #sealer: Sealer
  readonly #cookie: SessionCookie
  readonly #idle: number
  readonly #absolute: number
  readonly #touchInterval: number

  constructor(sealer: Sealer, cookie: SessionCookie, { idle, absolute }: SessionPlan) {
    this.#sealer = sealer
    this.#cookie = cookie
    this.#idle = idle
    this.#absolute = absolute
    this.#touchInterval = touchInterval(idle)
  }

  get cookieName(): string {
    return this.#cookie.name
  }

  open(ctx: RequestContext): OpenedSession | null {
    let found: OpenedSession | null = null
    for (const value of this.#cookie.valuesOf(ctx)) {
      if (value.length > longest) continue
      const opened = this.#openOne(value)
      // Nobody knows which of two is the one that this server set last.
      if (opened !== null && found !== null) return null
      found ??= opened
    }
    return found
  }

  /** The text is `BEGAN.USED.SECRET.JSON`, with times in seconds of base 36. */
  #openOne(value: string): OpenedSession | null {
    const { name } = this.#cookie
    const sealed = this.#sealer.open(name, value)
    if (sealed === null) return null
    const { text, isNewest } = sealed
    const afterBegan = text.indexOf('.')
    const afterUsed = text.indexOf('.', afterBegan + 1)
    const afterSecret = afterUsed + 1 + secretLength
    const began = Number.parseInt(text.slice(0, afterBegan), 36) * 1_000
    const used = Number.parseInt(text.slice(afterBegan + 1, afterUsed), 36) * 1_000
    const now = Date.now()
    // One that is far in the future comes from a clock that was wrong, and would not end.
    const isLive = Math.abs(now - used) < this.#idle && Math.abs(now - began) < this.#absolute
    if (!isLive) return null
    return {
      secret: text.slice(afterUsed + 1, afterSecret),
      began,
      values: JSON.parse(text.slice(afterSecret + 1)) as Record<string, unknown>,
      isStale: !isNewest || now - used >= this.#touchInterval,
      isReplaced: false,
      stored: null,
    }
  }

  write(ctx: RequestContext, change: Change, reply: OutgoingReply | null): void {
    if (reply === null) return
    const { opened, secret, changes, ending } = change
    const owner = secret ?? opened?.secret
    if (owner === undefined) {
      if (ending !== null && this.#cookie.valuesOf(ctx).length > 0) this.#cookie.clear(ctx, reply)
      return
    }
    // What caches may give to others is no reply to extend a session by.
    if (secret === null && changes.size === 0 && isShared(reply)) return
    const now = Date.now()
    const began = opened?.began ?? now
    const json = mergedJson(opened?.values ?? {}, changes)
    const sealed = this.#seal(`${seconds(began)}.${seconds(now)}.${owner}.${json}`, opened, changes)
    this.#cookie.set(ctx, reply, sealed, began + this.#absolute - now)
  }

  #seal(text: string, opened: OpenedSession | null, changes: Change['changes']): string {
    const { name } = this.#cookie
    const bytes = Buffer.byteLength(text)
    // Base64 has four characters for three bytes: what is much too long is not sealed.
    const sealed = bytes > longest ? null : this.#sealer.seal(name, text)
    const length = name.length + 1 + (sealed?.length ?? Math.ceil((bytes * 4) / 3))
    if (sealed !== null && length <= longest) return sealed
    throw new VolantError(
      'E_SESSION_TOO_LARGE',
      `the sealed cookie of a session would have ${length} bytes, and browsers drop one of more than ${longest}: keep less in it (${sizesOf(opened, changes)}), or use a store`,
    )
  }
}

function seconds(ms: number): string {
  return Math.floor(ms / 1_000).toString(36)
}

/** Gives the largest values by key, without what they are. */
export function sizesOf(opened: OpenedSession | null, changes: Change['changes']): string {
  const sizes = new Map<string, number>()
  for (const [key, value] of Object.entries(opened?.values ?? {})) {
    sizes.set(key, Buffer.byteLength(JSON.stringify(value)))
  }
  for (const [key, text] of changes) sizes.set(key, text === null ? 0 : Buffer.byteLength(text))
  return [...sizes]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([key, size]) => `${key.slice(0, 50)} has ${size}`)
    .join(', ')
}
