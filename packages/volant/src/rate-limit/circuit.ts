/** Keeps requests from waiting for a store: it has a time to answer in, and is not asked while it is down. */
import { inspect } from 'node:util'
import { type ErrorCode, VolantError } from '../errors/errors.ts'
import { printLine } from '../report/print-line.ts'
import type { RequestContext } from '../types/request.ts'

/** So many failures one after the other open the circuit: for a second the store is not asked. */
const mostFailures = 5
const restMs = 1_000

/** The words of a circuit. */
export interface CircuitNames {
  /** The code of the error that is reported. */
  readonly code: ErrorCode
  /** The call that the store was given to, such as `rateLimit()`. */
  readonly call: string
  /** What the store is one of, such as `the store of sessions`. */
  readonly store: string
  /** What happens until it answers. */
  readonly meanwhile: string
  /** What it does once it answers. */
  readonly again: string
}

export class Circuit {
  errors = 0
  readonly #names: CircuitNames
  readonly #timeout: number
  #failures = 0
  #lastFailure = 0
  #isProbing = false
  /** True once it was said that the store is down, until it is said that it answers. */
  #isTold = false

  /** The store has `timeout` milliseconds to answer in. */
  constructor(names: CircuitNames, timeout: number) {
    this.#names = names
    this.#timeout = timeout
  }

  /** True where the store did not answer when it was asked last. */
  get isDown(): boolean {
    return this.#failures > 0
  }

  /** After a second of rest one request at a time finds out whether the store answers again. */
  mayAsk(): boolean {
    if (this.#failures < mostFailures) return true
    if (this.#isProbing || performance.now() - this.#lastFailure < restMs) return false
    this.#isProbing = true
    return true
  }

  /** Gives the result of `work`, or null where it fails or takes too long. Ask `mayAsk` before. */
  within<T>(ctx: RequestContext | null, work: () => Promise<T>): Promise<T | null> {
    return new Promise((resolve) => {
      const fail = (error: unknown): void => {
        clearTimeout(timer)
        this.#failed(ctx, error)
        resolve(null)
      }
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        fail(new Error(`no answer within ${this.#timeout} ms`))
      }, this.#timeout)
      let promise: Promise<T>
      try {
        promise = work()
      } catch (error) {
        return fail(error)
      }
      promise.then(
        (value) => {
          if (isLate) return
          clearTimeout(timer)
          this.#answered(ctx)
          resolve(value)
        },
        (error: unknown) => {
          if (!isLate) fail(error)
        },
      )
    })
  }

  #answered(ctx: RequestContext | null): void {
    this.#failures = 0
    this.#isProbing = false
    // A store that fails now and then is told of once.
    if (!this.#isTold || performance.now() - this.#lastFailure < restMs) return
    this.#isTold = false
    if (ctx === null || ctx.app.reportsToStderr) {
      const { call, store, again } = this.#names
      printLine(`volant: ${call}: ${store} answers again, and ${again}`)
    }
  }

  #failed(ctx: RequestContext | null, error: unknown): void {
    this.errors++
    this.#failures++
    this.#isProbing = false
    this.#lastFailure = performance.now()
    if (this.#isTold) return
    this.#isTold = true
    const { code, store, meanwhile } = this.#names
    const message = error instanceof Error ? error.message : inspect(error)
    const failure = new VolantError(
      code,
      `${store} fails (${message}): until it answers, ${meanwhile}. This is said once`,
      { cause: error },
    )
    if (ctx === null) printLine(`volant: ${inspect(failure)}`)
    else ctx.app.report(failure, ctx)
  }
}
