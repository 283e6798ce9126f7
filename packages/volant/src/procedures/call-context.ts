/** Shows a call its request. The calls of a batch see the same request; each has a state of its own. */
import { bag } from '@volant/engine'
import { errorFrom } from '../contract/declared-errors.ts'
import { VolantError } from '../errors/errors.ts'
import type { HeaderBlock } from '../reply/header.ts'
import { isNothing, stopped } from '../dispatch/chain.ts'
import { parseConnectionParams } from './connection-params.ts'
import { unlessError } from './definition.ts'
import type { Placed } from './router.ts'
import type { ProcedureContext } from './types.ts'
import type { CookieOptions } from '../types/reply-options.ts'
import { ChainPhase, chainReturned, type LayerOutcome } from '../types/phases.ts'
import type { Chained, ErrorsByCode, RequestContext } from '../types/request.ts'
import { LazyContext } from '../context/lazy-context.ts'

/** The values that a direct call has in place of a request. */
export type OriginData = Pick<
  ProcedureContext<Record<string, unknown>>,
  'headers' | 'cookies' | 'ip' | 'id' | 'signal' | 'state'
>

/** The origin of a call: a request, a call that makes another, or a program. */
export type CallSource = RequestContext | CallContext | OriginData

/** Each call has one object (lab/pair trpc). Everything but its state is read from the request when it is needed. */
export class CallContext implements ProcedureContext, Chained {
  readonly #request: RequestContext | null
  readonly #origin: CallSource
  readonly #errors: ErrorsByCode
  readonly #signal: AbortSignal | null
  #state: Record<string, unknown> | null = null
  /** The input of the caller; after the check, the output of the schema. */
  input: unknown
  /** The names of the procedure, joined by dots. */
  readonly procedurePath: string
  /** Gives the part of the request that a member of the input came from; null where the input is one value. */
  partOf: ((member: string | undefined) => string) | null = null
  replied = false
  chain: ChainPhase = ChainPhase.running
  pending = 0
  layers: LayerOutcome = null
  #result: unknown = undefined
  #concluded: (() => void) | null = null

  /** `signal` takes the place of the signal of the origin. */
  constructor(
    origin: CallSource,
    { path, procedure }: Placed,
    input: unknown,
    signal: AbortSignal | null = null,
  ) {
    this.#signal = signal
    this.#origin = origin
    this.#request =
      origin instanceof LazyContext ? origin : origin instanceof CallContext ? origin.#request : null
    this.#errors = procedure.errors
    this.procedurePath = path
    this.input = input
  }

  get chainName(): string {
    return `the procedure ${this.procedurePath}`
  }

  /** Keeps the value of a layer, which is the result of the call. */
  deliver(value: unknown): void {
    unlessError(value)
    if (this.replied) {
      throw new VolantError(
        'E_ALREADY_REPLIED',
        `a middleware of ${this.chainName} returned a value although the procedure had given one: either call next() or return a value`,
      )
    }
    this.#result = value
    this.replied = true
  }

  /** Gives the result of the call, or a promise of it, once the outermost middleware has settled with `value`. */
  outcome(value: unknown): unknown {
    if (!isNothing(this, value)) this.deliver(value)
    chainReturned(this)
    if (this.replied) return this.#result
    // A middleware neither awaited nor returned `next()`.
    if (this.pending > 0) {
      return new Promise<void>((resolve) => {
        this.#concluded = resolve
      }).then(() => this.outcome(undefined))
    }
    if (this.layers === null) throw stopped(this)
    if (this.layers !== 'nothing') throw this.layers.error
    return undefined
  }

  conclude(): void {
    this.#concluded?.()
  }

  reportLate(error: VolantError): void {
    this.#request?.app.report(error, this.#request)
  }

  /** Gives the input as the check of `request/validation.ts` reads it; `put` replaces it. */
  part(name: string): unknown {
    return name === 'input' ? this.input : absence(name)
  }

  put(_name: string, value: unknown): void {
    this.input = value
  }

  /** Gives the request that the input came from; null for a direct call outside of a request. */
  get source(): RequestContext | null {
    return this.#request
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

  /** Gives the call a copy of the state: other calls of the request change their own. */
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
    throw errorFrom(this.#errors, this.chainName, code, data, message)
  }

  /** Middleware of this package uses this, since its headers were checked before. */
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

  /** A context is never sent: it holds internals of the app. */
  toJSON(): never {
    throw new VolantError('E_NOT_SERIALISABLE', 'a context cannot be sent as JSON')
  }
}

/** Members of a route's context that a procedure's context does not have. */
const absent =
  'params query body bodyText bodyBytes bodyStream json text html bytes stream file redirect reply status earlyHints trailer trailers exchange'

for (const name of absent.split(' ')) {
  Object.defineProperty(CallContext.prototype, name, { get: () => absence(name) })
}

/** Says why the member is not there, which a TypeError would not. */
function absence(name: string): never {
  throw new VolantError(
    'E_PROCEDURE_CONTEXT',
    `the context of a procedure has no ${name}, because a procedure may be called over REST, over tRPC or directly. A handler reads its input and returns its output; a middleware throws errors`,
  )
}
