/** The session of one request: what came, what the handler makes of it, and what is to be written. */
import { refusal, VolantError } from '../errors/errors.ts'
import { requestName } from '../reply/late-reply.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext, SessionOfRequest } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'
import { isThenable } from '../types/thenable.ts'
import { frozen, jsonOf } from './json-values.ts'
import type { Change, Keeper, OpenedSession } from './keeper.ts'
import { idOf, newSecret } from './secrets.ts'
import type { Frozen, Session } from './types.ts'

type Values = Record<string, unknown>

const noChanges: Change['changes'] = new Map()

export class LiveSession implements Session<Values>, SessionOfRequest {
  readonly #ctx: RequestContext
  readonly #keeper: Keeper
  /** `unread` until the session is needed, `written` once its reply leaves. */
  #phase: 'unread' | 'open' | 'written' = 'unread'
  #reading: Promise<void> | null = null
  #opened: OpenedSession | null = null
  #before: OpenedSession | null = null
  #ending: Change['ending'] = null
  #changes: Map<string, string | null> | null = null
  /** The secret of a session that may begin; it does once there is a reason. */
  #secret: string | null = null
  /** True where the session begins although it has no values. */
  #isKept = false
  /** True once the session was written, or did not have to be: what comes later would be lost. */
  #isPast = false
  readonly #isStored: boolean

  constructor(ctx: RequestContext, keeper: Keeper, isStored: boolean) {
    this.#ctx = ctx
    this.#keeper = keeper
    this.#isStored = isStored
  }

  /** True where this is a session of the same middleware. */
  isOf(keeper: Keeper): boolean {
    return this.#keeper === keeper
  }

  get isUnread(): boolean {
    return this.#phase === 'unread'
  }

  get id(): string {
    return idOf(this.#ownSecret())
  }

  get isNew(): boolean {
    return this.#current() === null
  }

  get(key: string): Frozen<unknown> | undefined {
    const opened = this.#current()
    const changed = this.#changes?.get(key)
    if (changed === null) return undefined
    if (changed !== undefined) return frozen(JSON.parse(changed))
    if (opened === null || !Object.hasOwn(opened.values, key)) return undefined
    return frozen(opened.values[key])
  }

  set(key: string, value: unknown): void {
    this.#change(key, jsonOf(checkKey(key), value))
  }

  delete(key: string): void {
    checkKey(key)
    if (this.get(key) !== undefined) this.#change(key, null)
  }

  signIn(data: Readonly<Values> = {}): void {
    const changes = new Map<string, string>()
    for (const [key, value] of Object.entries(data)) {
      if (value !== undefined) changes.set(key, jsonOf(key, value))
    }
    this.#leave('signIn')
    this.#changes = changes
    this.#secret = newSecret()
    this.#isKept = true
  }

  signOut(): void {
    this.#leave('signOut')
    this.#changes = null
    this.#secret = null
    this.#isKept = false
  }

  load(): Promise<void> {
    return this.ready() ?? Promise.resolve()
  }

  /** Reads the session; undefined where that needs no store. */
  ready(): Promise<void> | undefined {
    if (this.#phase !== 'unread') return undefined
    if (this.#reading !== null) return this.#reading
    const opened = this.#keeper.open(this.#ctx)
    if (!isThenable(opened)) return this.#take(opened)
    return (this.#reading = opened.then(
      (found) => this.#take(found),
      (error: unknown) => {
        this.#reading = null
        throw error
      },
    ))
  }

  #take(opened: OpenedSession | null): undefined {
    this.#opened = opened
    this.#phase = 'open'
  }

  get isDue(): boolean {
    if (this.#phase !== 'open') return false
    return (
      this.#ending !== null ||
      this.#isKept ||
      (this.#changes !== null && this.#changes.size > 0) ||
      this.#opened?.isStale === true
    )
  }

  /** Writes what is to be written before the reply leaves. */
  write(reply: OutgoingReply): void | Promise<void> {
    const { isDue } = this
    this.#isPast = true
    if (!isDue) return
    const change = this.#finish()
    return this.#keeper.write(this.#ctx, change, reply)
  }

  abandon(): void {
    const { isDue } = this
    this.#isPast = true
    // A sealed session goes with its reply, and one that begins is of no use to a client that does not hear of it.
    if (!this.#isStored || !isDue) return
    const ctx = this.#ctx
    const written = Promise.resolve(this.#keeper.write(ctx, this.#finish(), null))
    written.catch((error: unknown) => ctx.app.report(error, ctx))
  }

  get cookieName(): string {
    return this.#keeper.cookieName
  }

  /** The secret of the session that came with the request; null without one. */
  get secretThatCame(): string | null {
    return this.#current()?.secret ?? null
  }

  /** Gives the secret that tokens are bound to, and has the session begin, so that they hold. */
  bind(): string {
    const secret = this.#ownSecret()
    if (this.#opened === null && !this.#isKept) {
      this.#checkInTime()
      this.#isKept = true
    }
    return secret
  }

  #finish(): Change {
    this.#phase = 'written'
    const begins = this.#opened === null && (this.#isKept || hasValues(this.#changes))
    return {
      opened: this.#opened,
      before: this.#before,
      ending: this.#ending,
      changes: this.#changes ?? noChanges,
      secret: begins ? this.#ownSecret() : null,
    }
  }

  #ownSecret(): string {
    return this.#current()?.secret ?? (this.#secret ??= newSecret())
  }

  #current(): OpenedSession | null {
    if (this.#phase === 'unread') {
      if (this.#isStored) throw new VolantError('E_SESSION_UNREAD', unread(this.#ctx))
      void this.ready()
    }
    return this.#opened
  }

  #change(key: string, text: string | null): void {
    const opened = this.#current()
    this.#checkInTime()
    if (opened?.isReplaced === true) throw refusal('E_SESSION_ENDED')
    this.#changes ??= new Map()
    this.#changes.set(key, text)
  }

  /** Leaves the session that came, which `signIn` or `signOut` ends. */
  #leave(ending: 'signIn' | 'signOut'): void {
    const opened = this.#current()
    this.#checkInTime()
    this.#before ??= opened
    // What was signed out of stays so.
    if (this.#ending === null || ending === 'signOut' || this.#before === null) this.#ending = ending
    this.#opened = null
  }

  #checkInTime(): void {
    if (!this.#isPast && this.#phase !== 'written' && this.#ctx.phase <= ReplyPhase.sending) return
    throw new VolantError(
      'E_SESSION_LATE',
      `the session of ${requestName(this.#ctx)} was changed after its reply had left, with which it would have been written: change it before replying`,
    )
  }
}

function hasValues(changes: ReadonlyMap<string, string | null> | null): boolean {
  return changes !== null && [...changes.values()].some((text) => text !== null)
}

function unread(ctx: RequestContext): string {
  return `the session of ${requestName(ctx)} was not read from its store, since session() has the option lazy: call "await ctx.state.session.load()" before`
}

function checkKey(key: unknown): string {
  if (typeof key === 'string') return key
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `a key of a session is a text, not a value of type ${typeof key}`,
  )
}
