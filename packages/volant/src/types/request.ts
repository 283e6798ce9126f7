/**
 * One request as the stages of the framework see it: context, route and app, and the forms that a chain is made of.
 * Users see `ContextOf`. The stages use these types, so that none of them imports the class of another.
 */
import type { AbortReason, Exchange, Limits, ServerStats } from '@volant/engine'
import type { ContextOf } from './context.ts'
import type { ResponseListener } from './declaration.ts'
import type { AnyParts, DeclaredError, Schemas } from './parts.ts'

/** Runs a chain: gives the handler's value, or delivers it and gives undefined or a promise of it. */
export type Run<C = RequestContext> = (ctx: C) => unknown

/** A middleware or handler as the framework calls it; the types users see are narrower. */
export type Layer<C = RequestContext> = (ctx: C, next: () => Promise<void>) => unknown

/** What a chain keeps about its progress, on the context that it runs for: that of a request, or of a procedure's call. */
export interface Chained {
  /** A layer gave a reply. */
  readonly replied: boolean
  /** The outermost layer has settled; `silent` where the handler gave nothing, and that was sent. */
  readonly settled: boolean | 'silent'
  /** Layers that have not settled. */
  pending: number
  /** The handler ran and gave nothing. */
  empty: boolean
  /** The error of the innermost layer that failed, for middleware that swallows it and does not reply. */
  chainError: unknown
  /** Names the chain in messages. */
  readonly chainName: string
  /** Takes the value of a layer as the reply. Throws where there is one already. */
  deliver(value: unknown): Promise<void> | void
  /** Called when the last layer has settled, if that was after the outermost one. */
  conclude(): void
  /** Reports an error that nobody is left to catch. */
  reportLate(error: Error): void
}

/** Runs before the handler and knows no `next`: cheaper than a middleware, since nothing is kept for afterwards. */
export type Gate = (ctx: RequestContext) => unknown

/** Limits a route can have of its own and that JavaScript enforces. */
export type RouteLimits = Pick<Limits, 'maxQueryKeys' | 'maxFormKeys' | 'maxJsonDepth'>

/** Declared errors as they run, by code; `reply` checks the error's `data` and is null where it has none. */
export type ErrorsByCode = ReadonlyMap<
  string,
  DeclaredError & { readonly reply: { copyOf(value: unknown): unknown } | null }
>

/** A route as it runs. */
export interface CompiledRoute {
  readonly run: Run
  /** It has middleware that must call `next`. */
  readonly layered: boolean
  /** Null for misses. */
  readonly pattern: string | null
  readonly paramNames: readonly string[]
  /** `checked`: dispatched as a stream, collected once `beforeBody` agrees. */
  readonly bodyMode: 'buffer' | 'stream' | 'checked'
  readonly errorHandler: ((error: unknown, ctx: RequestContext) => unknown) | null
  readonly limits: RouteLimits
  /** Those it and its middleware declare. */
  readonly errors: ErrorsByCode
  /** Somebody wants to know when a request ends, or it has a time limit of its own. */
  readonly watched: boolean
  readonly listeners: readonly ResponseListener[]
  readonly handlerTimeout: number
}

/** Whether the peer that is `hop` steps away is trusted; 0 is the one the connection is with. */
export type Trusts = (address: string, hop: number) => boolean

/** Which proxies are believed, and which of their fields. */
export interface Trust {
  readonly trusts: Trusts
  readonly headers: 'x-forwarded' | 'forwarded'
}

/** Bytes of bodies being collected by one app, against its `maxBufferedBodies`. */
export interface BodyLedger {
  held: number
  readonly limit: number
}

/** Who is told what an unexpected error was: nobody, clients on this machine, or everybody. */
export type Audience = 'nobody' | 'local' | 'everybody'

/** The app that a request was sent to. */
export interface RequestApp {
  readonly limits: Limits
  readonly ledger: BodyLedger
  /** Null where no proxy is trusted. */
  readonly trust: Trust | null
  readonly errorDetails: Audience
  readonly serving: { stats(): ServerStats; readonly closing: boolean }
  /** Requests whose reply is a stream that has begun, without a length: it may never end by itself. */
  readonly streams: Set<RequestContext>
  readonly reportsToStderr: boolean
  /** The value of Allow for a set of methods (RFC 9110 §10.2.1). */
  allowed(bits: number): string
  /** Says what no client can be told. Never throws. */
  report(error: unknown, ctx: RequestContext): void
  /** Replies with what is left to be said when the chain of a request has ended. */
  conclude(ctx: RequestContext): void
  /** The request waits for `work`, which replies by itself, also where nobody awaits its promise. */
  trackOwnReply(ctx: RequestContext, work: Promise<void>): Promise<void>
}

/** The whole body, wherever it was collected. */
export interface WholeBody {
  readonly length: number
  text(): string
  bytes(): Buffer
}

/** The replies that a route declares, for what its handler replies with by itself. */
export interface DeclaredReplies {
  /** Throws `E_RESPONSE_STATUS` for a status that is not declared. */
  replyOf(status: number): unknown
  /** The text of `ctx.json(value)`. */
  jsonText(value: unknown, status: number): string
  /** The text of `ctx.text(value)` and `ctx.html(value)`. */
  text(value: string, status: number): string
  /** `ctx.reply(status, value)`. */
  reply(ctx: RequestContext, status: number, value: unknown): void
}

/** What the framework keeps of a request only where something happens that most requests do without. */
export interface RareState {
  /** The error handler was called; it is not called again if it fails. */
  failing: boolean
  /** Set while somebody is to be told of the end of this request. */
  watch: {
    settle(ctx: RequestContext): void
    complete(ctx: RequestContext): void
  } | null
  /** What a watched request threw. */
  failure: unknown
  /** The reply broke off after its head. */
  cutOff: boolean
  /** The route's time limit has passed: later replies are dropped. */
  expired: boolean
  /** Promises of replies, such as that of `ctx.file`, that are not settled. */
  ownReplies: number
  /** Stops the source of a streamed reply. */
  cancelStream: (() => void) | null
  /** The body, where `beforeBody` let it in. */
  collected: WholeBody | null
}

/**
 * What the framework keeps of a request beside what users see.
 *
 * Nine fields decide how a request ends. One `phase` cannot replace them: the reply, the chain and the error handler end
 * independently, so that most combinations exist. These hold:
 *
 * - `replied` is set once, by `beginReply`, and not any more once the exchange is aborted.
 * - `settled` is set where the outermost layer gave a value. A chain that failed goes to `fail` and leaves it false, also
 *   after a reply. `'silent'` is only set with `pending` 0, directly before the empty reply is sent.
 * - `pending` counts the layers and own replies that are not settled, so `ownReplies <= pending`. With `settled` true and
 *   `pending` above 0 a middleware did not await `next()`: the last of these to settle calls `conclude`.
 * - `empty` and `chainError` are set by the chain alone and only looked at when it ended without a reply, `chainError`
 *   first: both are set where a middleware failed after a handler that returned nothing.
 * - `failing` stays set once the error handler was called. A second error is then answered without it.
 * - `expired` is set before the error of the time limit is answered. The handler may still run: whatever it replies is
 *   dropped without a report.
 * - `cutOff` implies `replied`: a stream ended before its content was complete.
 * - `failure` is only written with `watch`, with `cutOff`, or where the adapter ended the request.
 */
export interface RequestContext extends ContextOf<AnyParts>, Chained {
  readonly exchange: Exchange
  readonly app: RequestApp
  readonly route: CompiledRoute
  /** Bit set of allowed methods, for replies to 405 and OPTIONS. */
  readonly allow: number
  /** 0 while nobody set it. */
  statusCode: number
  /** Flat list of name and value; null while empty. */
  replyHeaders: string[] | null
  /** A content-type is among `replyHeaders`. */
  hasType: boolean
  replied: boolean
  settled: boolean | 'silent'
  /** The declared replies of its route, once the handler runs; null where there are none, and when an error is answered. */
  responses: DeclaredReplies | null
  /** Undefined while nothing asked for `more`. */
  readonly rare: RareState | undefined
  /** `rare`, made now if it was not before: for those who write to it. */
  readonly more: RareState
  /** A handler or middleware put something in the place of the body. */
  readonly bodyAssigned: boolean
  /** Tells whoever works on the request to stop. */
  stop(why?: string): void
  /** `ctx[part]`. */
  part(part: keyof Schemas): unknown
  /** Puts what a schema made of a part in its place. */
  put(part: keyof Schemas, value: unknown): void
  /** Adds the parameters of the path that a schema left out. */
  completeParams(): undefined
  /** Gives the request an id that may be written anywhere: no setter, so that nobody else does. */
  identify(id: string): void
  /** `header` for a name and a value that were checked. */
  place(name: string, lower: string, text: string): this
  /** Sets headers that are the same for many requests. */
  placeAll(block: { readonly entries: readonly string[]; readonly names: ReadonlySet<string> }): void
  /** Adds the names that Vary does not have yet: nobody who replies may take away what others depend on. */
  vary(text: string): this
  /** Drops what describes a reply that will not be sent; CORS and request id stay for the error's reply. */
  dropRepresentation(): void
  /** Asks the exchange to say when the client leaves; until somebody asks, nothing is allocated for it. */
  watchAbort(): void
  onAbort(reason: AbortReason): void
}
