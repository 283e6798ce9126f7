/**
 * One request as the stages of the framework see it: context, route and app, and the forms that a chain is made of.
 * Users see `ContextOf`. The stages use these types, so that none of them imports the class of another.
 */
import type { AbortReason, ContentType, Exchange, Limits, ServerStats } from '@volant/engine'
import type { BusStats } from './bus.ts'
import type { ContextOf } from './context.ts'
import type { FormType } from './form.ts'
import type { ResponseListener } from './declaration.ts'
import type { Log } from './log.ts'
import type { AnyParts, DeclaredError, Schemas } from './parts.ts'
import type { ChainPhase, LayerOutcome, ReplyPhase } from './phases.ts'
import type { Encoder, SendHook } from './send-hook.ts'
import type { PublishOptions, SocketHook } from './web-socket.ts'

/** Runs a chain. It returns the handler's value, or replies with it and returns undefined or a promise of that. */
export type Run<C = RequestContext> = (ctx: C) => unknown

/** A middleware or handler as the framework calls it; the types users see are narrower. */
export type Layer<C = RequestContext> = (ctx: C, next: () => Promise<void>) => unknown

/** The progress of a chain, on the context that it runs for: that of a request, or of a procedure's call. */
export interface Chained {
  /** True once a layer replied. */
  readonly replied: boolean
  /** The progress of the chain. */
  chain: ChainPhase
  /** The number of layers that have not settled. */
  pending: number
  /** What the layers left, for a chain that ends without a reply. */
  layers: LayerOutcome
  /** The name of the chain in messages. */
  readonly chainName: string
  /** Replies with the value of a layer. Throws where there is a reply already. */
  deliver(value: unknown): Promise<void> | void
  /** The chain calls this when the last layer has settled, if that was after the outermost one. */
  conclude(): void
  /** Reports an error that nobody is left to catch. */
  reportLate(error: Error): void
}

/**
 * A gate runs before the handler and has no `next`. It is cheaper than a middleware, since nothing is kept until
 * afterwards.
 */
export type Gate = (ctx: RequestContext) => unknown

/**
 * Runs a whole request inside of a function, such as one that sets an async context: chain, hooks and error handlers. It
 * calls `run` once, at once, and must not throw. With `listener` of the rare state it hears of the end.
 */
export type Enclosure = (ctx: RequestContext, run: (ctx: RequestContext) => void) => void

/** The limits that a route can set for itself and that JavaScript enforces. */
export type RouteLimits = Pick<
  Limits,
  | 'maxQueryKeys'
  | 'maxFormKeys'
  | 'maxFormParts'
  | 'maxFormFiles'
  | 'maxFileSize'
  | 'maxFieldSize'
  | 'maxJsonDepth'
>

/** Declared errors as they run, by code; `reply` checks the error's `data` and is null where it has none. */
export type ErrorsByCode = ReadonlyMap<
  string,
  DeclaredError & { readonly reply: { copyOf(value: unknown): unknown } | null }
>

export interface CompiledRoute {
  readonly run: Run
  /** True where it has middleware that must call `next`. */
  readonly layered: boolean
  /** The pattern; null for a miss. */
  readonly pattern: string | null
  readonly paramNames: readonly string[]
  /** With `checked` the request is dispatched before its body, which is collected once `beforeBody` lets it in. */
  readonly bodyMode: 'buffer' | 'stream' | 'checked'
  readonly errorHandler: ((error: unknown, ctx: RequestContext) => unknown) | null
  /** The reply where a route finds that its path has nothing: `onNotFound` of its scope; null without one. */
  readonly notFound: ((ctx: RequestContext) => unknown) | null
  readonly maxBodySize: number
  readonly limits: RouteLimits
  /** The content types of the form that the route declares; null where it declares none. */
  readonly consumes: readonly FormType[] | null
  /** The errors that the route and its middleware declare. */
  readonly errors: ErrorsByCode
  /** True where a listener is called at the end of the request, or it has a time limit other than the app's. */
  readonly watched: boolean
  /** True where it is not watched, and nothing runs around its requests. */
  readonly plain: boolean
  readonly listeners: readonly ResponseListener[]
  /** What the whole request runs in; null without any. */
  readonly enclosure: Enclosure | null
  readonly handlerTimeout: number
  /** The hooks that each reply passes, the innermost first and the encoder's last; null without any. */
  readonly sendHooks: readonly SendHook[] | null
  /** Tells whether a hook has anything to do with a reply; null where one of them sees every reply. */
  readonly concerns: Encoder['concerns'] | null
  /** The encoder, whose hook is the last; null without one. */
  readonly encoder: Encoder | null
  /** The fields that pages of other origins should be able to read, as `cors` writes them; empty without any. */
  readonly exposes: string
}

/** True when the peer `hop` steps away is trusted; 0 is the peer of the connection. */
export type Trusts = (address: string, hop: number) => boolean

/** The proxies that are trusted, and the headers they write. */
export interface Trust {
  readonly trusts: Trusts
  readonly headers: 'x-forwarded' | 'forwarded'
}

/** The bytes of bodies that one app collects at present. Its `maxBufferedBodies` bounds them. */
export interface BodyLedger {
  held: number
  readonly limit: number
}

/** The clients that see what an unexpected error was: none, those on this machine, or all. */
export type Audience = 'nobody' | 'local' | 'everybody'

export interface RequestApp {
  readonly limits: Limits
  readonly ledger: BodyLedger
  /** The trusted proxies, or null without any. */
  readonly trust: Trust | null
  readonly errorDetails: Audience
  readonly serving: {
    stats(): ServerStats & { readonly bus?: BusStats }
    readonly closing: boolean
    readonly log: Log
    /** Sends a message to all WebSockets of the app that are subscribed to the topic. */
    publish(topic: string, data: string | Uint8Array, options?: PublishOptions): void
  }
  /** The open WebSockets by client, where the app limits them. */
  readonly addresses: Map<string, number>
  /** Counts the WebSockets of each topic. */
  readonly topics: {
    join(topic: string): void
    leave(topic: string): void
  }
  /** The topics that other processes have, too; null without a bus. */
  readonly sharedTopics: {
    publish(topic: string, data: string | Uint8Array): void
  } | null
  /** The requests whose reply is a stream without a length that has begun: it may never end by itself. */
  readonly streams: Set<RequestContext>
  readonly reportsToStderr: boolean
  /** The logger of the app. */
  readonly log: Log
  /** Gives the value of Allow for a set of methods (RFC 9110 §10.2.1). */
  allowed(bits: number): string
  /** Answers an error of a send hook, whose reply was given up. Never throws. */
  answer(ctx: RequestContext, error: unknown): void
  /** Reports an error that no client sees, with the hook of a WebSocket where one failed. Never throws. */
  report(error: unknown, ctx: RequestContext, hook?: SocketHook): void
  /** Sends the reply that is still due when the chain of a request has ended. */
  conclude(ctx: RequestContext): void
  /** Makes the request wait for `work`, which replies by itself, also where nobody awaits its promise. */
  trackOwnReply(ctx: RequestContext, work: Promise<void>): Promise<void>
}

/** The complete body, whether the adapter or the framework collected it. */
export interface WholeBody {
  readonly length: number
  text(): string
  bytes(): Buffer
}

/** Undoes the Content-Encoding of a request's body. */
export interface BodyDecoder {
  whole(bytes: Buffer): Buffer | Promise<Buffer>
  stream(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>
}

/** The trace that a request belongs to, and its own part of it, by the ids of W3C Trace Context. */
export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
  /** The flags; 1 is "sampled". */
  readonly traceFlags: number
}

/** The replies that a route declares, for what its handler replies with by itself. */
export interface DeclaredReplies {
  /** Throws `E_RESPONSE_STATUS` for a status that is not declared. */
  replyOf(status: number): unknown
  /** Gives the text of `ctx.json(value)`. */
  jsonText(value: unknown, status: number): string
  /** Gives the text of `ctx.text(value)` and `ctx.html(value)`. */
  text(value: string, status: number): string
  /** Does `ctx.reply(status, value)`. */
  reply(ctx: RequestContext, status: number, value: unknown): void
}

/** The state of a request that most requests do without; it is made when it is first written to. */
export interface RareState {
  /** This is set while a listener waits for the end of the request, or its time is limited. */
  watch: {
    /** True where a streamed reply that has begun ends with the time, too. */
    readonly cutsStreams: boolean
    limit(ctx: RequestContext): void
    allow(ctx: RequestContext, ms: number, cutsStreams: boolean): void
    settle(ctx: RequestContext): void
    complete(ctx: RequestContext): void
  } | null
  /** A listener of this request alone, which is called after those of its route. */
  listener: ResponseListener | null
  /** The error that a watched request threw. */
  failure: unknown
  /** The number of promises of replies, such as that of `ctx.file`, that are not settled. */
  ownReplies: number
  /** Stops the source of a streamed reply. */
  cancelStream: (() => void) | null
  /** The stream of events that is the reply. Other streams are told of the server's close by the signal alone. */
  events: EventsOfRequest | null
  /** The body, where `beforeBody` let it in, or a decoder gave it. */
  collected: WholeBody | null
  /** The received trailer fields: name, value, name, value, …; null if there are none. */
  trailers: string[] | null
  /** The trailer fields of the reply, in the same form. */
  replyTrailers: string[] | null
  /** What undoes the Content-Encoding of the body; null where it is read as it is. */
  decoder: BodyDecoder | null
  /** The request and reply of connect middlewares. */
  connect: object | null
  /** The session; null where no middleware gives one. */
  session: SessionOfRequest | null
  /** The id of the request; undefined until it is read. */
  readonly id: string | undefined
  /**
   * Gets the reply of a request whose client has left, before send hooks have seen it. It is set while the reply is needed
   * nevertheless.
   */
  unsent: ((type: ContentType, content: unknown, status: number) => void) | null
  /** The trace, where a middleware made the request a part of one. */
  trace: { readonly ids: TraceIds | null } | null
}

/** What the stages of a reply ask of a stream of events. */
export interface EventsOfRequest {
  /** Ends the stream, since the server closes. */
  closeWithServer(): void
  /** Sends something that a client which is gone answers by a reset: it has closed its sending side. */
  probe(): void
}

/** What the stages of a reply ask of a session. */
export interface SessionOfRequest {
  /** True where it has to be written before the reply leaves. */
  readonly isDue: boolean
  /** The client left, or has another reply: what was changed is written without one, where that is possible. */
  abandon(): void
}

/**
 * The state of a request that the framework keeps beside what users see.
 *
 * How it ends is in `phase`, the progress of the reply, and `chain`, that of the middleware and the handler:
 * `types/phases.ts` has both diagrams, and all moves. Beside them are two counts and the outcome of the layers:
 *
 * - `pending` counts the layers and own replies that are not settled, so `ownReplies <= pending`. Where the chain has
 *   returned and `pending` is above 0 a middleware did not await `next()`: the last of these to settle calls `conclude`.
 * - `layers` is set by the chain alone and only looked at when it ended without a reply.
 * - `failure` is only written with `watch`, with a reply that breaks off, or where the adapter ended the request.
 */
export interface RequestContext extends ContextOf<AnyParts>, Chained {
  readonly exchange: Exchange
  readonly app: RequestApp
  readonly route: CompiledRoute
  /** The bit set of allowed methods, for replies to 405 and OPTIONS. */
  readonly allow: number
  /** The status of the reply; 0 while none was set. */
  statusCode: number
  /** The reply's headers as a flat list of names and values; null while it is empty. */
  replyHeaders: string[] | null
  /** True where `replyHeaders` has a content-type. */
  hasType: boolean
  /** The progress of the reply; see `ReplyPhase`. */
  phase: ReplyPhase
  /**
   * The declared replies of the route, once the handler runs. It is null where none are declared, and while an error is
   * answered.
   */
  responses: DeclaredReplies | null
  /** The rare state; undefined until `more` is read. */
  readonly rare: RareState | undefined
  /** The rare state, made at the first access, for code that writes to it. */
  readonly more: RareState
  /** True where a handler or middleware assigned to `body`. */
  readonly bodyAssigned: boolean
  /** Aborts `ctx.signal`. */
  stop(why?: string): void
  /** Gives `ctx[part]`. */
  part(part: keyof Schemas): unknown
  /** Replaces a part by the output of its schema. */
  put(part: keyof Schemas, value: unknown): void
  /** Adds the parameters of the path that a schema left out. */
  completeParams(): undefined
  /**
   * Sets the id of the request. It is a method, not a setter, so that handlers do not set it. The id may be written
   * anywhere.
   */
  identify(id: string): void
  /** Sets a header whose name and value were checked. */
  place(name: string, lower: string, text: string): this
  /** Sets headers that are the same for many requests. */
  placeAll(block: { readonly entries: readonly string[]; readonly names: ReadonlySet<string> }): void
  /** Adds names to Vary that it does not have yet. A later reply may not remove names that others depend on. */
  vary(text: string): this
  /**
   * Drops the headers that describe a reply which will not be sent. Those of CORS and the request id stay for the
   * error's reply.
   */
  dropRepresentation(): void
  /** Asks the exchange to report a disconnect. Before the first call nothing is allocated for it. */
  watchAbort(): void
  onAbort(reason: AbortReason): void
}
