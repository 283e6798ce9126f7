/** What a call sees of its request: the same for the calls of a batch, but for their state. */
import { bag } from '@volant/engine'
import type { CookieOptions } from '../reply/cookie.ts'
import { errorFrom, type ErrorsByCode } from '../contract/declared-errors.ts'
import { VolantError } from '../errors/errors.ts'
import type { HeaderBlock } from '../reply/header.ts'
import { RequestContext } from '../context/request-context.ts'
import { parseConnectionParams } from './connection-params.ts'
import type { ProcedureContext } from './types.ts'

/** What stands in for a request where there is none. */
export interface CallOrigin {
  readonly headers: Record<string, string | undefined>
  readonly cookies: Record<string, string | undefined>
  readonly ip: string
  readonly id: string
  readonly signal: AbortSignal
  /** Of which the call has a copy. */
  readonly state: Record<string, unknown>
}

/** Where a call comes from: a request, a call that makes another, or a program. */
export type Origin = RequestContext | CallContext | CallOrigin

/** lab/pair trpc: one object for each call; all but its state is read from the request when it is asked for. */
export class CallContext implements ProcedureContext {
  readonly #request: RequestContext | null
  readonly #origin: Origin
  readonly #errors: ErrorsByCode
  readonly #name: string
  readonly #signal: AbortSignal | null
  #state: Record<string, unknown> | null = null

  /** `name` is the procedure's in messages, `signal` in place of the one of the origin. */
  constructor(origin: Origin, errors: ErrorsByCode, name: string, signal: AbortSignal | null = null) {
    this.#signal = signal
    this.#origin = origin
    this.#request =
      origin instanceof RequestContext ? origin : origin instanceof CallContext ? origin.#request : null
    this.#errors = errors
    this.#name = name
  }

  get method(): string {
    return this.#request?.method ?? ''
  }

  get path(): string {
    return this.#request?.path ?? ''
  }

  get url(): string {
    return this.#request?.url ?? ''
  }

  get headers(): Record<string, string | undefined> {
    return this.#origin.headers
  }

  get cookies(): Record<string, string | undefined> {
    return this.#origin.cookies
  }

  get ip(): string {
    return this.#origin.ip
  }

  get id(): string {
    return this.#origin.id
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#origin.signal
  }

  get state(): Record<string, unknown> {
    return (this.#state ??= this.#origin.state)
  }

  /** A copy of the state, for calls that are not alone. */
  detach(): this {
    this.#state = Object.assign(bag(), this.#origin.state)
    return this
  }

  get connectionParams(): Readonly<Record<string, string>> | null {
    return this.#request === null ? null : parseConnectionParams(this.#request)
  }

  header(name: string, value: string | number): this {
    this.#request?.header(name, value)
    return this
  }

  append(name: string, value: string | number): this {
    this.#request?.append(name, value)
    return this
  }

  cookie(name: string, value: string, options?: CookieOptions): this {
    this.#request?.cookie(name, value, options)
    return this
  }

  clearCookie(name: string, options?: CookieOptions): this {
    this.#request?.clearCookie(name, options)
    return this
  }

  fail(code: string, data?: unknown, message?: string): never {
    throw errorFrom(this.#errors, `the procedure ${this.#name}`, code, data, message)
  }

  /** For middleware of this package, which places headers it has checked. */
  place(name: string, lower: string, text: string): this {
    this.#request?.place(name, lower, text)
    return this
  }

  placeAll(block: HeaderBlock): void {
    this.#request?.placeAll(block)
  }

  vary(text: string): this {
    this.#request?.vary(text)
    return this
  }

  get replied(): boolean {
    return false
  }

  /** Whatever leads here would send the app's insides. */
  toJSON(): never {
    throw new VolantError('E_NOT_SERIALISABLE', 'a context cannot be sent as JSON')
  }
}

/** What routes have and procedures do not: the message says so, rather than that it is no function. */
for (const name of [
  'params',
  'query',
  'body',
  'bodyText',
  'bodyBytes',
  'bodyStream',
  'json',
  'text',
  'html',
  'bytes',
  'stream',
  'file',
  'redirect',
  'reply',
  'status',
  'earlyHints',
  'exchange',
] as const) {
  Object.defineProperty(CallContext.prototype, name, {
    get(): never {
      throw new VolantError(
        'E_PROCEDURE_CONTEXT',
        `the context of a procedure has no ${name}: it may be called over REST, over tRPC or directly, so its handler takes its input and returns its output, and middleware throws errors`,
      )
    },
  })
}
