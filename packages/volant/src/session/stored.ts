/**
 * Sessions in a store: the cookie has a secret, and the store what belongs to the digest of it. A session is written
 * with its version, and what another request wrote meanwhile is kept.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { refusal, VolantError } from '../errors/errors.ts'
import type { RequestContext } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'
import { isShared, type SessionCookie } from './cookie.ts'
import { mergedJson } from './json-values.ts'
import type { Change, Keeper, OpenedSession, Stored } from './keeper.ts'
import type { SessionPlan } from './options.ts'
import { sizesOf } from './sealed.ts'
import { idOf, isId, secretForm } from './secrets.ts'
import { refuseWithoutStore, GuardedStore } from './guarded-store.ts'
import type { SessionStore } from './store.ts'
import { touchInterval } from './timing.ts'
import { Turns } from './turns.ts'

/** The most bytes of a session in a store: it is read with every request. */
export const longestRecord = 65_536

/** For so long requests that were on their way at a sign-in may read the session that it ended. */
const graceMs = 10_000

/** A session that others write so often at once is one that something writes in a loop. */
const mostTries = 100

/** More sign-ins than these over one session, within its ten seconds, are no browser's: each makes its record longer. */
const mostSuccessors = 100

/** What a store has of a session. */
interface Content {
  /** The milliseconds of Unix time at which it began. */
  readonly began: number
  readonly values: Readonly<Record<string, unknown>>
  /** Set by a sign-in: until when it can be read, and the ids of the sessions that took its place. */
  readonly until?: number
  readonly successors?: readonly string[]
}

export class StoredKeeper implements Keeper {
  readonly #cookie: SessionCookie
  readonly #plan: SessionPlan
  readonly #guard: GuardedStore
  readonly #turns = new Turns()
  /** The requests whose session may be there: another one must not take its place in the browser. */
  readonly #unread = new WeakSet<RequestContext>()

  constructor(store: SessionStore, cookie: SessionCookie, plan: SessionPlan) {
    this.#cookie = cookie
    this.#plan = plan
    this.#guard = new GuardedStore(store, plan)
  }

  get cookieName(): string {
    return this.#cookie.name
  }

  open(ctx: RequestContext): null | Promise<OpenedSession | null> {
    const secrets = this.#cookie.valuesOf(ctx).filter((value) => secretForm.test(value))
    return secrets.length === 0 ? null : this.#openAny(ctx, secrets)
  }

  async #openAny(ctx: RequestContext, secrets: readonly string[]): Promise<OpenedSession | null> {
    const all = await Promise.all(secrets.map((secret) => this.#openOne(ctx, secret)))
    const found = all.filter((each) => each !== null)
    // Nobody knows which of two is the one that this server set last.
    return found.length === 1 ? (found[0] as OpenedSession) : null
  }

  async #openOne(ctx: RequestContext, secret: string): Promise<OpenedSession | null> {
    const record = await this.#guard.get(ctx, idOf(secret))
    if (record === 'down') {
      if (this.#plan.onStoreError === 'deny') return refuseWithoutStore(ctx)
      this.#unread.add(ctx)
      return null
    }
    if (record === 'none') return null
    const opened = openedOf(secret, record.value, record.version)
    if (opened === null) return null
    const { idle, absolute } = this.#plan
    const isReplayed = opened.until !== undefined && Date.now() >= opened.until
    if (isReplayed) await this.#end(ctx, opened)
    // One that began far in the future comes from a clock that was wrong, and would not end.
    if (isReplayed || Math.abs(Date.now() - opened.began) >= absolute) return null
    const isStale = record.ttl < Math.min(idle, this.#leftOf(opened)) - touchInterval(idle)
    return { ...opened, isStale: isStale && !opened.isReplaced }
  }

  async write(ctx: RequestContext, change: Change, reply: OutgoingReply | null): Promise<void> {
    const { opened, before, ending, changes, secret } = change
    if (this.#unread.has(ctx)) return refuseWithoutStore(ctx)
    const begins = secret !== null && reply !== null
    if (begins) await this.#begin(ctx, secret, changes)
    if (before !== null) {
      if (ending === 'signOut') await this.#end(ctx, before)
      else if (begins) await this.#replace(ctx, before, idOf(secret))
    }
    if (begins) return this.#cookie.set(ctx, reply, secret, this.#plan.absolute)
    if (opened === null) {
      if (ending !== null && reply !== null && this.#cookie.valuesOf(ctx).length > 0) {
        this.#cookie.clear(ctx, reply)
      }
    } else if (changes.size > 0) await this.#update(ctx, opened, changes)
    else if (reply === null || !isShared(reply)) {
      // A session that is not extended now may be extended by the next request.
      await this.#guard.touch(ctx, idOf(opened.secret), Math.min(this.#plan.idle, this.#leftOf(opened)))
    }
  }

  async #begin(ctx: RequestContext, secret: string, changes: Change['changes']): Promise<void> {
    const value = contentText({ began: Date.now(), values: {} }, changes)
    checkLength(value, null, changes)
    const { idle } = this.#plan
    const isWritten = await this.#guard.set(ctx, idOf(secret), { value, version: 1, ttl: idle })
    if (isWritten !== true) refuseWithoutStore(ctx)
  }

  /** Applies the changes to what the store has, as often as another request comes first. */
  #update(ctx: RequestContext, opened: OpenedSession, changes: Change['changes']): Promise<void> {
    return this.#rewrite(ctx, opened, (latest) => {
      if (latest === null || latest.isReplaced) throw refusal('E_SESSION_ENDED')
      const value = contentText(latest, changes)
      checkLength(value, latest, changes)
      return { value, ttl: Math.min(this.#plan.idle, this.#leftOf(latest)) }
    })
  }

  /** Says of a session which one took its place, for as long as that may last. */
  #replace(ctx: RequestContext, opened: OpenedSession, successor: string): Promise<void> {
    return this.#rewrite(ctx, opened, (latest) => {
      if (latest === null) return null
      const { began, values, until = Date.now() + graceMs, stored } = latest
      const successors = [...(stored as Stored).successors, successor]
      if (successors.length > mostSuccessors) throw refusal('E_SESSION_ENDED')
      const value = contentText({ began, values, until, successors }, new Map())
      return { value, ttl: this.#plan.absolute }
    })
  }

  /** Forgets a session, those that took its place, and those that took theirs. */
  async #end(ctx: RequestContext, { secret, stored }: OpenedSession): Promise<void> {
    const ids = new Set((stored as Stored).successors)
    // What is added meanwhile is gone through as well.
    for (const id of ids) {
      const record = await this.#guard.get(ctx, id)
      if (record === 'down') return refuseWithoutStore(ctx)
      if (record === 'none') continue
      for (const next of openedOf('', record.value, record.version)?.stored?.successors ?? []) ids.add(next)
    }
    // The first comes last: where the store fails in between, it still leads to the others.
    for (const id of [idOf(secret), ...ids].toReversed()) {
      if ((await this.#guard.destroy(ctx, id)) === 'down') return refuseWithoutStore(ctx)
    }
  }

  /** Writes what `next` makes of the latest version; null leaves it alone. The requests of a process take turns. */
  #rewrite(
    ctx: RequestContext,
    opened: OpenedSession,
    next: (latest: Known | null) => { value: string; ttl: number } | null,
  ): Promise<void> {
    const id = idOf(opened.secret)
    return this.#turns.take(id, async () => {
      let latest: Known | null = opened
      for (let tries = 0; tries < mostTries; tries++) {
        if (tries > 0) {
          // Other processes should not all come back at once.
          if (tries > 1) await delay(Math.random() * tries)
          const record = await this.#guard.get(ctx, id)
          if (record === 'down') return refuseWithoutStore(ctx)
          latest = record === 'none' ? null : openedOf(opened.secret, record.value, record.version)
        }
        const wanted = next(latest)
        if (wanted === null || latest === null) return
        const version = (latest.stored as Stored).version + 1
        const isWritten = await this.#guard.set(ctx, id, { ...wanted, version })
        if (isWritten === 'down') return refuseWithoutStore(ctx)
        if (isWritten) return
      }
      return refuseWithoutStore(ctx)
    })
  }

  #leftOf({ began }: OpenedSession): number {
    return Math.max(1, began + this.#plan.absolute - Date.now())
  }
}

/** A session with the time until which it can be read, where another took its place. */
type Known = OpenedSession & { readonly until?: number }

/** Gives null for a text that no session wrote. */
function openedOf(secret: string, value: string, version: number): Known | null {
  let content: Content
  try {
    content = JSON.parse(value) as Content
  } catch {
    return null
  }
  const { began, values, until, successors = [] } = content ?? {}
  if (typeof began !== 'number' || typeof values !== 'object' || values === null) return null
  if (until !== undefined && typeof until !== 'number') return null
  if (!Array.isArray(successors) || !successors.every(isId)) return null
  return {
    secret,
    began,
    values,
    isStale: false,
    isReplaced: until !== undefined,
    stored: { version, successors },
    ...(until === undefined ? {} : { until }),
  }
}

function contentText({ began, values, until, successors }: Content, changes: Change['changes']): string {
  const replaced = until === undefined ? '' : `,"until":${until},"successors":${JSON.stringify(successors)}`
  return `{"began":${began},"values":${mergedJson(values, changes)}${replaced}}`
}

function checkLength(value: string, opened: OpenedSession | null, changes: Change['changes']): void {
  const length = Buffer.byteLength(value)
  if (length <= longestRecord) return
  throw new VolantError(
    'E_SESSION_TOO_LARGE',
    `a session would have ${length} bytes, and ${longestRecord} is the most: keep less in it (${sizesOf(opened, changes)}), and the rest in a database`,
  )
}
