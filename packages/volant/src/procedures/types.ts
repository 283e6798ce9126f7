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

/** The kind of a procedure: a query reads, a mutation changes something, a subscription sends events. */
export type ProcedureKind = 'query' | 'mutation' | 'subscription'

/** The input of a schema: from a caller for an input, from a handler for an output. */
export type GivenTo<S> = S extends Schema ? SchemaInput<S> : undefined
/** The output of a schema. */
export type MadeBy<S> = S extends Schema ? SchemaOutput<S> : undefined

/** The `data` of a declared error. */
export type ErrorData<E> = E extends { data: infer S extends Schema } ? SchemaOutput<S> : undefined

/**
 * The context that the middleware of a procedure sees. It has no path pattern, query or body and cannot reply, because
 * these depend on how the procedure was called, and several calls may share one request.
 */
export interface LayerContext<State = AnyParts['state']> {
  /** The method of the request, in upper case; empty for a direct call. */
  readonly method: string
  /** The canonical path of the request; empty for a direct call. */
  readonly path: string
  /** The `path` with the query as sent; empty for a direct call. */
  readonly url: string
  /** The request headers by lower-case name. */
  readonly headers: Record<string, string | undefined>
  /** The cookies by name, decoded. */
  readonly cookies: Record<string, string | undefined>
  /** The address of the client; see `Context`. */
  readonly ip: string
  /** The id of the request, which the calls of a batch share. */
  readonly id: string
  /** The values that middleware adds. Each call of a batch has a copy of the request's state. */
  readonly state: State
  /** Is aborted when the client leaves or the server stops; for a subscription as soon as the app begins to close. */
  readonly signal: AbortSignal

  /** Sets a header of the reply. Throws `E_BAD_HEADER`. After a streamed reply has begun it is reported and dropped. */
  header(name: string, value: string | number): this
  /** Adds a header beside those of the same name. */
  append(name: string, value: string | number): this
  /** Sets a cookie; see `Context`. */
  cookie(name: string, value: string, options?: CookieOptions): this
  /** Ends a cookie. */
  clearCookie(name: string, options?: CookieOptions): this
}

/** The context that a handler sees. `State` is what middleware added, `Errors` are the declared errors. */
export interface ProcedureContext<
  State = AnyParts['state'],
  Errors extends DeclaredErrors = {},
> extends LayerContext<State> {
  /** The values that a tRPC client sends if it cannot set headers; null without any. Throws 400 for malformed ones. */
  readonly connectionParams: Readonly<Record<string, string>> | null
  /** Throws a declared error: `ctx.fail('USER_NOT_FOUND', { id })`. */
  fail(...error: FailArguments<Errors>): never
}

/** The argument of a handler. */
export interface ProcedureCall<Input, State, Errors extends DeclaredErrors> {
  /** The input as its schema made it; undefined without a schema. */
  readonly input: Input
  /** The request as the procedure's middleware left it. */
  readonly ctx: ProcedureContext<State, Errors>
  /** The names of the procedure, joined by dots: `users.getUser`. */
  readonly path: string
}

/** The REST route of a procedure, where its name does not give the right one; see `rest`. */
export interface RestOptions {
  /** The method. Default: by the name, otherwise GET for a query and POST for a mutation. */
  method?: Exclude<Method, 'HEAD' | 'OPTIONS'> | undefined
  /** The path below the prefix: `/users/:id/activate`. Its parameters are members of the input. Default: by the name. */
  path?: string | undefined
  /** The status of success; default 201 for `create` and `add`, 204 without a value, otherwise 200. */
  status?: number | undefined
}

/** The description of a procedure in API documents. */
export interface ProcedureInfo {
  /** A summary of one line. */
  summary?: string | undefined
  /** A longer text, in Markdown. */
  description?: string | undefined
  /** The groups that the operation belongs to; default the name of its router. */
  tags?: readonly string[] | undefined
  /** True where callers should stop using it. */
  deprecated?: boolean | undefined
}

/** A finished procedure. Routers take it; `caller`, `rest` and `trpc` call it. */
export interface Procedure<
  Kind extends ProcedureKind = ProcedureKind,
  Input = unknown,
  Output = unknown,
  Errors = unknown,
  Rest = unknown,
> {
  /** The kind: the procedure reads, changes something or sends events. */
  readonly kind: Kind
  /** This property carries types alone and does not exist at run time. */
  readonly types?: { input: Input; output: Output; errors: Errors; rest: Rest }
}

/** A tree of procedures and routers by name. */
export interface ProcedureTree {
  readonly [name: string]: Procedure | Router
}

/** A tree of procedures whose names `router` has checked. */
// oxlint-disable-next-line typescript/no-explicit-any -- whichever tree it is
export interface Router<T extends ProcedureTree = any> {
  /** The members, as they were given to `router`. */
  readonly procedures: T
}

/** The parts of a context with this state and these errors. */
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

/** The value that a handler may return: any, or what the output's schema takes. A returned error counts as thrown. */
type HandlerResult<Output> = Output extends Schema
  ? GivenTo<Output> | HTTPError | Promise<GivenTo<Output> | HTTPError>
  : Output extends null
    ? Nothing | Promise<Nothing>
    : unknown
type Nothing = void | undefined | HTTPError
type Events<Output> = Output extends Schema ? Sent<GivenTo<Output>> : unknown
/** An event, with or without an id. */
type Sent<T> = T | Tracked<T>

/** The value that a caller gets back. */
type Gotten<Output, R> = Output extends Schema
  ? MadeBy<Output>
  : Output extends null
    ? undefined
    : Exclude<Awaited<R>, HTTPError>
type GottenEvent<Output, T> = Output extends Schema
  ? T extends Tracked<unknown>
    ? TrackedEvent<MadeBy<Output>>
    : MadeBy<Output>
  : T extends Tracked<infer D>
    ? TrackedEvent<D>
    : T

declare const tracking: unique symbol

/** An event with an id, made by `tracked`. */
export type Tracked<T = unknown> = readonly [id: string, data: T, mark: symbol] & { readonly [tracking]?: T }

/** A tracked event as subscribers get it. */
export interface TrackedEvent<T> {
  /** The id, which the client sends back as `lastEventId` when it connects again. */
  readonly id: string
  /** The data of the event. */
  readonly data: T
}

/**
 * Makes a procedure step by step; each step gives a new builder, so that they may be shared:
 *
 *     const authed = procedure().use(auth)
 *     const getUser = authed.input(Id).output(User).query(({ input, ctx }) => find(input.id, ctx.state.user))
 *
 * A call runs the middleware in order, checks the input, runs the handler and checks what it returned.
 */
export interface ProcedureBuilder<Input, Output, State, Errors extends DeclaredErrors, Rest = {}> {
  /** Sets the schema of the input, whose output the handler sees. Without a schema there is no input. */
  input<const S extends Schema>(schema: S): ProcedureBuilder<S, Output, State, Errors, Rest>
  /** Sets the schema of what the handler returns, or of each event of a subscription; null for nothing, 204 over REST. */
  output<const S extends Schema | null>(schema: S): ProcedureBuilder<Input, S, State, Errors, Rest>
  /**
   * Adds a middleware, as routes have them. It may set `ctx.state` and headers, throw, and call `next`; a value that it
   * returns without `next` is what the procedure gives. Throws `E_BAD_HANDLER` for a value that is not a middleware, and
   * `E_BAD_OPTION` for a middleware that observes replies, which belongs to an app or a scope.
   */
  use<const M extends LayerOf<LayerContext<State>>>(
    middleware: M,
  ): Behind<Input, Output, State, Errors, Rest, M>
  /** Adds a middleware of routes. Members of their context that procedures do not have throw `E_PROCEDURE_CONTEXT`. */
  use<const M extends LayerOf<ContextOf<Stated<State, Errors>>>>(
    middleware: M,
  ): Behind<Input, Output, State, Errors, Rest, M>
  /** Declares errors by code, which the handler throws with `ctx.fail(code, data)`. */
  errors<const E extends DeclaredErrors>(errors: E): ProcedureBuilder<Input, Output, State, Errors & E, Rest>
  /** Sets what documents say about the procedure; a later call adds to earlier ones. */
  meta(info: ProcedureInfo): ProcedureBuilder<Input, Output, State, Errors, Rest>
  /** Sets the REST route; false for none. */
  rest<const R extends RestOptions | false>(options: R): ProcedureBuilder<Input, Output, State, Errors, R>

  /** Makes a procedure that reads. */
  query<R extends HandlerResult<Output>>(
    handler: (call: ProcedureCall<MadeBy<Input>, State, Errors>) => R,
  ): Procedure<'query', GivenTo<Input>, Gotten<Output, R>, Errors, Rest>
  /** Makes a procedure that changes something. */
  mutation<R extends HandlerResult<Output>>(
    handler: (call: ProcedureCall<MadeBy<Input>, State, Errors>) => R,
  ): Procedure<'mutation', GivenTo<Input>, Gotten<Output, R>, Errors, Rest>
  /** Makes a procedure that sends events, usually by an async generator, which stops when `ctx.signal` is aborted. */
  subscription<T extends Events<Output>>(
    handler: (
      call: ProcedureCall<MadeBy<Input>, State, Errors>,
    ) => AsyncIterable<T> | HTTPError | Promise<AsyncIterable<T> | HTTPError>,
  ): Procedure<'subscription', GivenTo<Input>, AsyncIterable<GottenEvent<Output, T>>, Errors, Rest>
}

/** The builder that `procedure()` gives. */
export type AnyProcedureBuilder = ProcedureBuilder<undefined, undefined, LooseState, {}>
