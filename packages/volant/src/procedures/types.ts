/**
 * The types of procedures. A builder carries four parts: input, output, state and errors. Each call of the builder
 * changes one of them, so that a procedure costs the compiler the same however many there are.
 */
import type { ContextOf } from '../types/context.ts'
import type { HTTPError } from '../errors/errors.ts'
import type {
  AnyParts,
  DeclaredErrors,
  FailArguments,
  LayerOf,
  LooseState,
  Method,
  RootParts,
  Schema,
  SchemaInput,
  SchemaOutput,
  With,
} from '../types/parts.ts'
import type { CookieOptions } from '../types/reply-options.ts'

/** What a procedure does: a query reads, a mutation changes, a subscription tells of events as they come. */
export type ProcedureKind = 'query' | 'mutation' | 'subscription'

/** What a caller gives for a schema, and what a handler gives where it is one of an output. */
export type Given<S> = S extends Schema ? SchemaInput<S> : undefined
/** What a schema makes of it. */
export type Made<S> = S extends Schema ? SchemaOutput<S> : undefined

/** What `data` of a declared error holds. */
export type ErrorData<E> = E extends { data: infer S extends Schema } ? SchemaOutput<S> : undefined

/**
 * What the middleware of a procedure sees of the request. There is no path pattern, query or body in it, and no reply:
 * those depend on how the procedure was called, and several calls may share one request.
 */
export interface LayerContext<State = AnyParts['state']> {
  /** Of the request, in upper case; empty for a direct call. */
  readonly method: string
  /** The canonical path of the request; empty for a direct call. */
  readonly path: string
  /** `path` with the query as sent; empty for a direct call. */
  readonly url: string
  /** Request fields by lower-case name. */
  readonly headers: Record<string, string | undefined>
  /** Cookies by name, decoded. */
  readonly cookies: Record<string, string | undefined>
  /** Address of the client; see `Context`. */
  readonly ip: string
  /** Unique to the request, which the calls of a batch share. */
  readonly id: string
  /** What middleware hands on. The calls of a batch have one each, which begins as the request's own. */
  readonly state: State
  /** Aborted when the client leaves or the server stops; for a subscription as soon as the app begins to close. */
  readonly signal: AbortSignal

  /** Sets a header of the reply. Throws `E_BAD_HEADER`; too late, where the reply is being streamed, it is reported. */
  header(name: string, value: string | number): this
  /** Adds a header beside those of the same name. */
  append(name: string, value: string | number): this
  /** Sets a cookie; see `Context`. */
  cookie(name: string, value: string, options?: CookieOptions): this
  /** Ends a cookie. */
  clearCookie(name: string, options?: CookieOptions): this
}

/** What a handler sees of the request. `State` is what middleware added, `Errors` are the declared ones. */
export interface ProcedureContext<
  State = AnyParts['state'],
  Errors extends DeclaredErrors = {},
> extends LayerContext<State> {
  /** What a tRPC client that cannot set headers sends in their place; null without. Throws 400 if it is malformed. */
  readonly connectionParams: Readonly<Record<string, string>> | null
  /** Throws a declared error: `ctx.fail('USER_NOT_FOUND', { id })`. */
  fail(...error: FailArguments<Errors>): never
}

/** What a handler is called with. */
export interface Call<Input, State, Errors extends DeclaredErrors> {
  /** What the input's schema made of it; undefined without one. */
  readonly input: Input
  /** The request as the procedure's middleware left it. */
  readonly ctx: ProcedureContext<State, Errors>
  /** Where the procedure stands in its router: `users.getUser`. */
  readonly path: string
}

/** How a procedure is reached over REST where its name does not say so; see `rest`. */
export interface RestOptions {
  /** Default by the name, else GET for a query and POST for a mutation. */
  method?: Exclude<Method, 'HEAD' | 'OPTIONS'> | undefined
  /** Below the prefix: `/users/:id/activate`. Its parameters are members of the input. Default by the name. */
  path?: string | undefined
  /** Of a reply that is no error; default 201 for `create` and `add`, else 200, or 204 without a value. */
  status?: number | undefined
}

/** What is told of a procedure in documents. */
export interface ProcedureInfo {
  /** One line. */
  summary?: string | undefined
  /** More of them, in Markdown. */
  description?: string | undefined
  /** Groups of operations; default the name of its router. */
  tags?: readonly string[] | undefined
  /** It is not to be used any more. */
  deprecated?: boolean | undefined
}

/** A finished procedure. Only routers, callers and doors do something with it. */
export interface Procedure<
  Kind extends ProcedureKind = ProcedureKind,
  Input = unknown,
  Output = unknown,
  Errors = unknown,
  Rest = unknown,
> {
  /** What it does. */
  readonly kind: Kind
  /** Types only. */
  readonly types?: { input: Input; output: Output; errors: Errors; rest: Rest }
}

/** Procedures and routers by name. */
export interface ProcedureTree {
  readonly [name: string]: Procedure | Router
}

/** Procedures under names of their own, which `router` has checked. */
// oxlint-disable-next-line typescript/no-explicit-any -- whichever tree it is
export interface Router<T extends ProcedureTree = any> {
  /** As given to `router`. */
  readonly procedures: T
}

/** The parts of a context with these. */
interface Stated<State, Errors> extends Omit<RootParts, 'state' | 'errors'> {
  state: State
  errors: Errors
}

type Behind<
  Input,
  Output,
  State,
  Errors extends DeclaredErrors,
  Rest,
  M,
  P = With<Stated<State, Errors>, M>,
> = P extends {
  state: infer S
  errors: infer E extends DeclaredErrors
}
  ? ProcedureBuilder<Input, Output, S, E, Rest>
  : never

/** What a handler may give: anything, or what the output's schema takes. A returned error is as if thrown. */
type Result<Output> = Output extends Schema
  ? Given<Output> | HTTPError | Promise<Given<Output> | HTTPError>
  : Output extends null
    ? Nothing | Promise<Nothing>
    : unknown
type Nothing = void | undefined | HTTPError
type Events<Output> = Output extends Schema ? Sent<Given<Output>> : unknown
/** An event, with or without an id. */
type Sent<T> = T | Tracked<T>

/** What a caller gets. */
type Gotten<Output, R> = Output extends Schema
  ? Made<Output>
  : Output extends null
    ? undefined
    : Exclude<Awaited<R>, HTTPError>
type GottenEvent<Output, T> = Output extends Schema
  ? T extends Tracked<unknown>
    ? TrackedEvent<Made<Output>>
    : Made<Output>
  : T extends Tracked<infer D>
    ? TrackedEvent<D>
    : T

declare const tracking: unique symbol

/** An event with an id, made by `tracked`. */
export type Tracked<T = unknown> = readonly [id: string, data: T, mark: symbol] & { readonly [tracking]?: T }

/** A tracked event as subscribers get it. */
export interface TrackedEvent<T> {
  /** What the client sends back as `lastEventId` when it connects again. */
  readonly id: string
  /** The event. */
  readonly data: T
}

/**
 * Makes a procedure step by step; each step gives a new builder, so that they may be shared:
 *
 *     const authed = procedure().use(auth)
 *     const getUser = authed.input(Id).output(User).query(({ input, ctx }) => find(input.id, ctx.state.user))
 *
 * A call runs the middleware in their order, checks the input, runs the handler and checks what it gave.
 */
export interface ProcedureBuilder<Input, Output, State, Errors extends DeclaredErrors, Rest = {}> {
  /** A schema of the input; what it makes of it is what the handler sees. Without one there is no input. */
  input<const S extends Schema>(schema: S): ProcedureBuilder<S, Output, State, Errors, Rest>
  /** A schema of what the handler gives, or of each event of a subscription; null: it gives nothing, 204 over REST. */
  output<const S extends Schema | null>(schema: S): ProcedureBuilder<Input, S, State, Errors, Rest>
  /**
   * A middleware, as routes have them. It may set `ctx.state` and headers, throw, and go on with `next`; a value it
   * returns in its place is what the procedure gives. Throws `E_BAD_HANDLER` for what is no middleware, `E_BAD_OPTION`
   * for one that only observes replies, which an app or a scope can use.
   */
  use<const M extends LayerOf<LayerContext<State>>>(
    middleware: M,
  ): Behind<Input, Output, State, Errors, Rest, M>
  /** Middleware of routes, whose context has more; what procedures do not have of it throws `E_PROCEDURE_CONTEXT`. */
  use<const M extends LayerOf<ContextOf<Stated<State, Errors>>>>(
    middleware: M,
  ): Behind<Input, Output, State, Errors, Rest, M>
  /** Errors the handler replies with, by code; it throws `ctx.fail(code, data)`. */
  errors<const E extends DeclaredErrors>(errors: E): ProcedureBuilder<Input, Output, State, Errors & E, Rest>
  /** What documents tell of it; later ones are added to earlier ones. */
  meta(info: ProcedureInfo): ProcedureBuilder<Input, Output, State, Errors, Rest>
  /** How it is reached over REST; false: not at all. */
  rest<const R extends RestOptions | false>(options: R): ProcedureBuilder<Input, Output, State, Errors, R>

  /** A procedure that reads. */
  query<R extends Result<Output>>(
    handler: (call: Call<Made<Input>, State, Errors>) => R,
  ): Procedure<'query', Given<Input>, Gotten<Output, R>, Errors, Rest>
  /** A procedure that changes something. */
  mutation<R extends Result<Output>>(
    handler: (call: Call<Made<Input>, State, Errors>) => R,
  ): Procedure<'mutation', Given<Input>, Gotten<Output, R>, Errors, Rest>
  /** A procedure that tells of events: usually an async generator, which stops when `ctx.signal` is aborted. */
  subscription<T extends Events<Output>>(
    handler: (
      call: Call<Made<Input>, State, Errors>,
    ) => AsyncIterable<T> | HTTPError | Promise<AsyncIterable<T> | HTTPError>,
  ): Procedure<'subscription', Given<Input>, AsyncIterable<GottenEvent<Output, T>>, Errors, Rest>
}

/** The builder `procedure()` gives. */
export type AnyProcedureBuilder = ProcedureBuilder<undefined, undefined, LooseState, {}>
