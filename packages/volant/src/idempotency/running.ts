/** A request that has a key: it holds the key while it runs, and leaves its reply there. */
import { setTimeout as delay } from 'node:timers/promises'
import { type ContentType, contentTypes } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { requestName } from '../reply/late-reply.ts'
import { printLine } from '../report/print-line.ts'
import type { Context } from '../types/context.ts'
import { isExpired, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'
import type { GuardedKeys } from './guarded-keys.ts'
import type { IdempotencyPlan } from './options.ts'
import { doneText, type KeptReply } from './records.ts'
import { addedFields, fieldsOf } from './reply-parts.ts'

/** A reply that the store did not take is offered again after so many milliseconds. */
const retryAfter = 1_000

/** A key that a request has taken. */
interface Taken {
  /** The key in the store. */
  readonly name: string
  /** It says in the store that the request runs. */
  readonly text: string
  readonly fingerprint: string
  /** The caller for whom it is counted. */
  readonly owner: string
}

export class Running {
  readonly #ctx: RequestContext
  readonly #keys: GuardedKeys
  readonly #plan: IdempotencyPlan
  readonly #taken: Taken
  /** The fields that the reply had when the request came here. */
  readonly #before: readonly string[]
  #timer: NodeJS.Timeout | null = null
  #hasEnded = false
  /** Settles once the key has its reply, or is free again. Null while that is open. */
  #done: Promise<void> | null = null

  constructor(ctx: RequestContext, keys: GuardedKeys, plan: IdempotencyPlan, taken: Taken) {
    this.#ctx = ctx
    this.#keys = keys
    this.#plan = plan
    this.#taken = taken
    this.#before = fieldsOf(ctx)
    ctx.more.unsent = (type, content, status) => this.#unsent(type, content, status)
    this.#hold()
  }

  /** The reply is about to leave. Its client is told once the key has it. */
  leaves({ status, body, headers }: OutgoingReply): Promise<void> | void {
    // Time was over, and this reply says so: the handler may still be at work.
    if (isExpired(this.#ctx)) return
    const type = headers.get('content-type')
    return this.#settle(status, body, type === undefined ? [] : ['content-type', type], false)
  }

  /** The handler has ended, and everything behind this middleware with it. */
  async ends(error: unknown, hasFailed: boolean): Promise<void> {
    const ctx = this.#ctx
    this.#hasEnded = true
    const { phase, exchange } = ctx
    // While hooks run the reply is still to come.
    const isGone =
      phase !== ReplyPhase.sending && (exchange.aborted || isExpired(ctx) || phase !== ReplyPhase.open)
    if (this.#done === null && isGone) {
      // An empty reply comes once the chain has ended. What is given after its time is not kept: its status was replaced.
      if (!hasFailed) setImmediate(() => void (this.#done ??= this.#write(null)))
      else this.#done = this.#free()
    }
    await this.#done
    if (hasFailed) throw error
  }

  #unsent(type: ContentType, content: unknown, status: number): void {
    const text = contentTypes[type]
    void this.#settle(status, content, typeof text === 'string' ? ['content-type', text] : [], true)
  }

  #settle(status: number, body: unknown, type: readonly string[], isRaw: boolean): Promise<void> {
    return (this.#done ??= this.#settleOnce(status, body, type, isRaw))
  }

  #settleOnce(status: number, body: unknown, type: readonly string[], isRaw: boolean): Promise<void> {
    const ctx = this.#ctx
    if (!this.#plan.keeps(ctx as unknown as Context, status)) return this.#free()
    const kept = this.#bodyOf(body)
    if (kept === undefined) return this.#write(null)
    const added = addedFields(ctx, this.#before)
    const hasType = added.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-type')
    return this.#write({ status, headers: hasType ? added : [...added, ...type], body: kept, isRaw })
  }

  /** Gives the body; undefined for one that is not kept. */
  #bodyOf(body: unknown): KeptReply['body'] | undefined {
    if (body === null) return null
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
      tellLost(this.#ctx, 'is a stream')
      return undefined
    }
    const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    if (size > this.#plan.maxReplySize) {
      tellLost(this.#ctx, `has ${size} bytes, and maxReplySize is ${this.#plan.maxReplySize}`)
      return undefined
    }
    return typeof body === 'string' ? body : Buffer.from(body)
  }

  /** Writes the reply in place of what says that the request runs. A store that is down is asked again for a while. */
  async #write(reply: KeptReply | null): Promise<void> {
    this.#stop()
    const done = doneText(this.#taken.fingerprint, reply)
    const isWritten = await this.#keys.keep(this.#ctx, this.#taken.name, this.#taken, done)
    if (isWritten === 'down') void this.#writeLater(done)
    else if (!isWritten) this.#tellTaken()
  }

  async #writeLater(done: string): Promise<void> {
    const until = performance.now() + this.#plan.lockTimeout
    while (performance.now() < until) {
      await delay(retryAfter, undefined, { ref: false })
      const isWritten = await this.#keys.keep(this.#ctx, this.#taken.name, this.#taken, done)
      if (isWritten === 'down') continue
      if (!isWritten) this.#tellTaken()
      return
    }
  }

  async #free(): Promise<void> {
    this.#stop()
    await this.#keys.free(this.#ctx, this.#taken.name, this.#taken.text)
  }

  /** Holds the key on for as long as the handler is at work. */
  #hold(): void {
    this.#timer = setTimeout(async () => {
      // A hook behind this middleware failed, or does not settle: nobody is left to tell what came of it.
      if (this.#hasEnded && this.#ctx.exchange.aborted) return void (this.#done ??= this.#write(null))
      const isHeld = await this.#keys.hold(this.#ctx, this.#taken.name, this.#taken.text)
      if (this.#done !== null || this.#timer === null) return
      if (isHeld === false) return this.#tellTaken()
      this.#hold()
    }, this.#plan.lockTimeout / 3)
    this.#timer.unref()
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#ctx.more.unsent = null
  }

  #tellTaken(): void {
    const { app } = this.#ctx
    const message = `the key of ${requestName(this.#ctx)} was free again before its request had ended, and another request may have run with it: raise lockTimeout, which is ${this.#plan.lockTimeout} ms`
    app.report(new VolantError('E_IDEMPOTENCY_STORE', message), this.#ctx)
  }
}

const told = new Set<string>()
const mostTold = 1_000

/** Tells once of a route whose replies are not kept. */
function tellLost(ctx: RequestContext, why: string): void {
  const name = requestName(ctx)
  if (told.has(name) || told.size >= mostTold) return
  told.add(name)
  printLine(
    `volant: idempotency(): the reply of ${name} ${why}, so that it is not kept: a repetition is answered with 409 E_IDEMPOTENCY_LOST. This is said once`,
  )
}
