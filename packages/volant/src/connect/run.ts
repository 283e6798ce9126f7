/** Runs a list of connect middlewares for one request: one after the other, each by `next` of the one before it. */
import { inspect } from 'node:util'
import { HTTPError, refusal, VolantError } from '../errors/errors.ts'
import { asHTTPError, originalOf } from './http-error.ts'
import type { Pair, Waiting } from './pair.ts'
import { isBrokenOff } from './request.ts'
import { isThenable } from '../types/thenable.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What middlewares call to go on. */
export type ConnectNext = (error?: unknown) => void

export type Step = (req: IncomingMessage, res: ServerResponse, next: ConnectNext) => unknown
export type ErrorLayer = (
  error: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  next: ConnectNext,
) => unknown

/** A middleware of a list. */
export interface StackEntry {
  readonly kind: 'step' | 'error' | 'app'
  readonly run: Step | ErrorLayer
}

type State = 'running' | 'passed' | 'failed' | 'over'

/** After as many middlewares that called `next` at once the stack is left: 10,000 would not fit in it. */
const mostAtOnce = 100

/** Says that no error is passed on. */
const none = Symbol('none')

export class StackRun implements Waiting {
  readonly #pair: Pair
  readonly #entries: readonly StackEntry[]
  readonly #key: object
  readonly #next: (() => unknown) | undefined
  readonly #leave: (isFailure: boolean) => void
  #at = 0
  #state: State = 'running'
  #value: unknown = undefined
  #settle: { resolve(value: unknown): void; reject(error: unknown): void } | null = null

  /** `leave` is called before the chain goes on, also with an error; `next` is undefined where the list is the handler. */
  // oxlint-disable-next-line max-params -- one object more for each request would cost more than it says
  constructor(
    pair: Pair,
    entries: readonly StackEntry[],
    key: object,
    next: (() => unknown) | undefined,
    leave: (isFailure: boolean) => void,
  ) {
    this.#key = key
    this.#pair = pair
    this.#entries = entries
    this.#next = next
    this.#leave = leave
  }

  /** Gives what the rest of the chain gave, or a promise of it. */
  start(error: unknown = none): unknown {
    this.#call(0, error === none ? none : originalOf(error))
    if (this.#state === 'passed') return this.#value
    if (this.#state === 'failed') throw this.#value
    if (this.#pair.isOver) return undefined
    this.#pair.watch()
    this.#pair.waiting = this
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
  }

  over(isAborted: boolean): void {
    if (this.#state !== 'running') return
    this.#state = 'over'
    if (isAborted) this.#settle?.reject(new VolantError('E_ABORTED'))
    else this.#settle?.resolve(undefined)
  }

  #call(from: number, error: unknown): void {
    const entries = this.#entries
    const wanted = error === none
    for (let at = from; at < entries.length; at++) {
      const entry = entries[at] as StackEntry
      if ((entry.kind !== 'error') === wanted) return this.#invoke(entry, at, error)
    }
    if (wanted) this.#pass()
    else this.#fail(error)
  }

  #invoke({ run, kind }: StackEntry, at: number, error: unknown): void {
    this.#at = at
    const pair = this.#pair
    const req = pair.req as unknown as IncomingMessage
    const res = pair.res as unknown as ServerResponse
    const next = (failure?: unknown): void => this.#step(at, failure)
    try {
      if (kind === 'app') pair.forExpress()
      const value =
        kind === 'error' ? (run as ErrorLayer)(error, req, res, next) : (run as Step)(req, res, next)
      if (isThenable(value)) value.then(undefined, (failure: unknown) => this.#throw(at, failure))
    } catch (failure) {
      this.#throw(at, failure)
    }
  }

  /** Takes what a middleware threw. It is an error also where it is not one. */
  #throw(at: number, failure: unknown): void {
    this.#step(at, failure ?? new Error(`a middleware behind fromConnect threw ${inspect(failure)}`))
  }

  #step(at: number, failure: unknown): void {
    const pair = this.#pair
    const isFailure =
      failure !== undefined && failure !== null && failure !== false && failure !== 0 && failure !== ''
    if (this.#at !== at || this.#state !== 'running') return this.#misuse(failure, isFailure, 'E_NEXT_TWICE')
    if (pair.isOwn && pair.res.finished) return this.#misuse(failure, isFailure, 'E_NEXT_LATE')
    // A second call of the same middleware finds another place.
    this.#at = at + 1
    if (this.#entries[at]?.kind === 'app') pair.fromExpress()
    if (failure === 'route' || failure === 'router') return this.#pass()
    const error = isFailure ? failure : none
    if ((at + 1) % mostAtOnce !== 0) return this.#call(at + 1, error)
    setImmediate(() => {
      if (this.#state === 'running') this.#call(at + 1, error)
    })
  }

  #misuse(failure: unknown, isFailure: boolean, code: 'E_NEXT_TWICE' | 'E_NEXT_LATE'): void {
    const { ctx, isOver } = this.#pair
    if (isFailure) {
      // A body that breaks off is no fault of the app: nobody is told of a client that leaves.
      if (!isBrokenOff(this.#pair.req)) ctx.app.report(failure, ctx)
      return
    }
    if (isOver && this.#state === 'over' && !this.#pair.isOwn) return
    const what =
      code === 'E_NEXT_TWICE'
        ? 'more than once: the first call counts'
        : 'after it had replied: the reply stands'
    ctx.reportLate(
      new VolantError(code, `a middleware behind fromConnect of ${ctx.chainName} called next() ${what}`),
    )
  }

  #pass(): void {
    this.#state = 'passed'
    try {
      this.#leave(false)
      if (this.#next === undefined) throw refusal('E_NOT_FOUND')
      this.#value = this.#next()
    } catch (error) {
      // It must not be seen by the middlewares whose `next` led here.
      this.#state = 'failed'
      this.#value = error
    }
    this.#deliver()
  }

  #fail(error: unknown): void {
    const { res, ctx } = this.#pair
    this.#state = 'failed'
    try {
      this.#pair.reopen()
      this.#leave(true)
      this.#value =
        error instanceof HTTPError
          ? error
          : asHTTPError(error, res.statusCode, (each) => ctx.app.report(each, ctx))
    } catch (failure) {
      // A property of the error threw. Nobody above could catch it where next() was called later.
      this.#value = failure ?? new Error(`an error that was passed to next() threw ${inspect(failure)}`)
    }
    if (this.#entries.some(({ kind }) => kind === 'error')) {
      this.#pair.seen = this.#value
      this.#pair.seenBy = this.#key
    }
    this.#deliver()
  }

  #deliver(): void {
    if (this.#settle === null) return
    if (this.#pair.waiting === this) this.#pair.waiting = null
    if (this.#state === 'failed') this.#settle.reject(this.#value)
    else this.#settle.resolve(this.#value)
  }
}
