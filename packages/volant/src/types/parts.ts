/**
 * The types users write handlers with. The members of `Parts` type a route's context; pattern, schemas and middleware
 * each change some of them. Interfaces rather than intersections carry the parts, since the compiler caches them: `npm
 * run types` watches that a route costs the same however many there are. These types refer to each other, so they are
 * one file.
 */
import type { Method } from '@volant/engine'
import type { Context, ContextOf } from './context.ts'
import type { FormType } from './form.ts'
import type { HTTPError } from '../errors/errors.ts'
import type { ParamsOf } from './pattern.ts'
import type { JSONSchema, Schema, SchemaInput, SchemaOutput } from './schema.ts'

export type { JSONSchema, ParamsOf, Schema, SchemaInput, SchemaOutput }

/** The types of a context's parts. */
export interface Parts {
  /** The parameters of the path. */
  params: unknown
  /** The pairs of the query. */
  query: unknown
  /** The request headers. */
  headers: unknown
  /** The cookies of the request. */
  cookies: unknown
  /** The parsed body. */
  body: unknown
  /** The values that middleware passes on. */
  state: unknown
  /** The schemas of the replies by status; null for one without content. */
  responses: unknown
  /** The declared errors by code. */
  errors: unknown
}

/** The parts of a context whose route is not known. Every context can be used as one of these. */
export interface AnyParts extends Parts {
  // oxlint-disable-next-line typescript/no-explicit-any -- text, or what a schema made of it
  params: Record<string, any>
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  query: Record<string, any>
  headers: Record<string, string | undefined>
  cookies: Record<string, string | undefined>
  body: unknown
  state: LooseState
  responses: LooseResponses
  errors: LooseErrors
}

/** The parts of a route before pattern, schemas and middleware change them. */
export interface RootParts extends Parts {
  params: {}
  query: Pairs
  headers: Record<string, string | undefined>
  cookies: Record<string, string | undefined>
  body: unknown
  state: LooseState
  responses: LooseResponses
  errors: {}
}

/** The values by name; a repeated name has all its values in an array. */
export type Pairs = Record<string, string | string[] | undefined>

/** The replies of a route without `response`: any status has any value. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type LooseResponses = Record<number, any>

/** The errors of a route that is not known: any code has any data. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type LooseErrors = Record<string, any>

/** The state where nothing declares it. A scope made by `app.with` is typed by what its middleware declare instead. */
export interface LooseState {
  // oxlint-disable-next-line typescript/no-explicit-any -- users narrow it as they like; `unknown` would need a cast at every use
  [name: string]: any
}

/** The parts of a context that a middleware or a set of schemas changes. */
export interface Effect {
  /** The parameters of the path, if it changes them. */
  params?: unknown
  /** The pairs of the query, if it changes them. */
  query?: unknown
  /** The request headers, if it changes them. */
  headers?: unknown
  /** The cookies of the request, if it changes them. */
  cookies?: unknown
  /** The parsed body, if it changes it. */
  body?: unknown
  /** The values that middleware passes on, if it changes them. */
  state?: unknown
  /** The errors it replies with, by code: added to those declared before. */
  errors?: unknown
}

/** Carries a middleware's effect in its type; no such property exists. */
declare const effect: unique symbol

/** Runs the next middleware, and in the end the handler; resolves when they are done. Call it once. */
export type Next = () => Promise<void>

/** A handler that is written apart from its route. `Params` are the parameters it needs. */
export type Handler<Params = AnyParts['params']> = (ctx: Context<{ params: Params }>) => unknown

/**
 * A middleware runs before the handler, and after `await next()` once there is a reply. A value that it returns is a
 * reply, too. `E` is what it changes of the context: `Middleware<{ state: { user: User } }>`, see `middleware`.
 */
export interface Middleware<E extends Effect = {}, C = Context> {
  (ctx: C, next: Next): unknown
  readonly [effect]?: E
}

/** The type of this package's middleware. It fits every context, whatever schemas made of it. */
// oxlint-disable-next-line typescript/no-explicit-any -- that is what makes it fit
export type FittingMiddleware<E extends Effect = {}> = Middleware<E, ContextOf<any>>

/** A middleware for the context `C`; one that needs less of the context is accepted, too. */
export type LayerOf<C> = { layer(ctx: C, next: Next): unknown }['layer']

/** Replies to an error. Returning undefined without replying leaves the reply to the framework. */
export type ErrorHandler = (error: unknown, ctx: Context) => unknown

/** The schemas by the part of the request they check. The handler sees their output. */
export interface Schemas {
  /** The schema of the path's parameters: strings by name, as the pattern has them. */
  params?: Schema | undefined
  /** The schema of the query: strings by name, arrays where a name is repeated. */
  query?: Schema | undefined
  /** The schema of the headers: strings by name in lower case. */
  headers?: Schema | undefined
  /** The schema of the cookies: strings by name. */
  cookies?: Schema | undefined
  /** The schema of the parsed body, which is undefined for a request without one. */
  body?: Schema | undefined
}

/** The schemas of a route's replies by status; null says that the reply has no content. */
export interface Responses {
  readonly [status: number]: Schema | null
}

/** An error that a route or a middleware replies with. */
export interface DeclaredError {
  /** The status of the reply, from 400 to 599. */
  status: number
  /** The case in which it is thrown. It is the error's message unless `ctx.fail` is given one. */
  description?: string | undefined
  /** The schema of the reply's `data`. */
  data?: Schema | undefined
  /** The header fields of the reply with what they say, for the API's document. */
  headers?: Readonly<Record<string, string>> | undefined
}

/** The declared errors by code: upper case and `_`, as `USER_NOT_FOUND`. */
export interface DeclaredErrors {
  readonly [code: string]: DeclaredError
}

/** The examples of a body for the API's document, by name. */
export interface Examples {
  readonly [name: string]: { readonly summary?: string | undefined; readonly value: unknown }
}

/** The part of a route's options that its callers see: the API's document shows it, and the client is typed by it. */
export interface Contract extends Schemas {
  /**
   * The content type of the body, where it is a form; with a list any of them. `ctx.body` is then the form, the schema
   * of the body may ask for files, and other types are 415. With `bodyMode: 'stream'` the schema is for callers alone,
   * and the handler reads `ctx.parts()`.
   */
  consumes?: FormType | readonly FormType[] | undefined
  /**
   * The schemas of the replies, which are checked before they are sent. One schema alone is that of status 200; `{ 201:
   * User, 204: null }` has one for each status. Properties that a schema does not name are not sent; see
   * `undeclaredProperties` of the app.
   */
  response?: Schema | Responses | undefined
  /**
   * The Content-Type of replies that are not JSON: `image/svg+xml`. The handler may set another; errors have their own.
   */
  mediaType?: string | undefined
  /** The errors that `ctx.fail` throws, by code. */
  errors?: DeclaredErrors | undefined
  /** The name of the route in the API's document, unique in the app. */
  operationId?: string | undefined
  /** A summary in one line, for the API's document. */
  summary?: string | undefined
  /** A description in CommonMark, for the API's document. */
  description?: string | undefined
  /** The groups that the API's document shows the route in. */
  tags?: readonly string[] | undefined
  /** True where clients should stop using the route. */
  deprecated?: boolean | undefined
  /** True leaves the route out of the API's document and of the table that clients load (`/client.json`). */
  hidden?: boolean | undefined
  /**
   * The security schemes of the route (OpenAPI 3.1 §4.8.30); `[]` requires none. Default: those that its middleware
   * declare.
   */
  security?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  /** The examples for the API's document. */
  examples?: { readonly body?: Examples; readonly response?: Readonly<Record<number, Examples>> } | undefined
}

/** The options of a route: they stand between its path and its middleware. */
export interface RouteOptions<T extends Parts = AnyParts> extends Contract {
  /** With `stream` the handler runs as soon as the head has arrived, and reads `ctx.bodyStream`. Default `buffer`. */
  bodyMode?: 'buffer' | 'stream' | undefined
  /** The most bytes of a body. Default: the app's `maxBodySize`. */
  maxBodySize?: number | undefined
  /**
   * The time limit of a request in milliseconds, from its head to the end of its body. It is extended while the body
   * arrives at 1 KiB/s, up to 300,000. 0 is no limit, for bodies that may stay open for any time, such as long calls of
   * gRPC. Default: the app's `requestTimeout`.
   */
  requestTimeout?: number | undefined
  /**
   * The handler's time in milliseconds, after which 503 is sent; 0 is no limit of its own. Default: the app's
   * `handlerTimeout`. The time starts when the handler could.
   */
  handlerTimeout?: number | undefined
  /** The most keys of the query. Default: the app's `maxQueryKeys`. */
  maxQueryKeys?: number | undefined
  /** The most keys of a form body that is not multipart. Default: the app's `maxFormKeys`. */
  maxFormKeys?: number | undefined
  /** The most parts of a multipart form. Default: the app's `maxFormParts`. */
  maxFormParts?: number | undefined
  /** The most files of a multipart form. Default: the app's `maxFormFiles`. */
  maxFormFiles?: number | undefined
  /** The most bytes of a file of a multipart form. Default: the app's `maxFileSize`. */
  maxFileSize?: number | undefined
  /** The most bytes of a field of a multipart form that is no file. Default: the app's `maxFieldSize`. */
  maxFieldSize?: number | undefined
  /** The most levels of nesting in a JSON body. Default: the app's `maxJsonDepth`. */
  maxJsonDepth?: number | undefined
  /**
   * False sends replies as they are, where `compress()` is used around the route: for those that have a secret beside
   * text of the client (BREACH). Default true.
   */
  compress?: boolean | undefined
  /**
   * Runs after the scope's middleware and before the body is read. If it throws or replies, the request is refused
   * without its body: a client that sent `Expect: 100-continue` never sends it. Otherwise the body is read and checked,
   * and the route's middleware and handler run as usual.
   */
  beforeBody?: ((ctx: ContextOf<T>) => unknown) | undefined
}

/** The outputs of the schemas, by the part they check. */
export type Outputs<O extends Schemas> = { [K in keyof O & keyof Schemas]: SchemaOutput<O[K]> }

/** The parts that a route's options change: those that schemas check, its replies and errors. */
type OptionsEffect<O> = {
  [
    K in keyof O & (keyof Schemas | 'response' | 'errors') as K extends 'response' ? 'responses' : K
  ]: K extends 'response' ? ResponsesOf<O[K]> : K extends 'errors' ? O[K] : SchemaOutput<O[K]>
}

/** Gives the schemas by status; a schema alone is that of 200. */
export type ResponsesOf<R> = R extends Schema ? { 200: R } : R extends Responses ? R : LooseResponses

/** The statuses a route replies with. */
export type StatusOf<R> = keyof R & number

/** The value that a handler replies with for a status. */
type ValueOf<R, S extends keyof R> = 0 extends 1 & R[S] ? unknown : SchemaInput<R[S]>

/** A declared status and its value, as `ctx.reply` takes them. */
export type ReplyArguments<R> = {
  [S in StatusOf<R>]: 0 extends 1 & R[S]
    ? [status: S, value?: unknown]
    : R[S] extends null
      ? [status: S]
      : [status: S, value: SchemaInput<R[S]>]
}[StatusOf<R>]

/** A value and its status, as `ctx.json` takes them: 200 may be left out. */
export type JSONArguments<R> = {
  [S in StatusOf<R>]: 0 extends 1 & R[S]
    ? [value: unknown, status?: S]
    : S extends 200
      ? [value: SchemaInput<R[S]>, status?: S]
      : [value: SchemaInput<R[S]>, status: S]
}[StatusOf<R>]

declare const repliedWith: unique symbol

/** The result of `ctx.reply` and `ctx.json`: undefined, with the status of the reply in its type. */
export type Replied<S extends number = number> = void & { readonly [repliedWith]: S }

/** The values that a handler may return where these replies are declared. */
type Given<R> =
  200 extends StatusOf<R> ? ValueOf<R, 200 & keyof R> | Otherwise<R> : StatusHint<StatusOf<R>> | Otherwise<R>

type Otherwise<R> =
  | (204 extends StatusOf<R> ? (R[204 & keyof R] extends null ? undefined | void : never) : never)
  | Replied<StatusOf<R>>
  | HTTPError

/** The compiler shows this name for a returned value where 200 is not declared. */
type StatusHint<S extends number> = `200 is not declared: write ctx.reply(${S}, …)`

/** The values that a handler with these options may return. */
export type Returnable<A> = [A] extends [{ response: infer X }]
  ? [A] extends [never]
    ? unknown
    : Given<ResponsesOf<X>> | Promise<Given<ResponsesOf<X>>>
  : unknown

/**
 * A handler with these options: it returns what they declare, else any `R`. The conditional type stands around the
 * function, because only then the compiler knows the declared type while it infers the returned one, so that `{ kind:
 * 'a' }` is not taken for a `{ kind: string }`.
 */
export type HandlerBehind<A, T extends Parts, R> = [A] extends [{ response: infer X }]
  ? [A] extends [never]
    ? (ctx: ContextOf<T>) => R
    : (ctx: ContextOf<T>) => Given<ResponsesOf<X>> | Promise<Given<ResponsesOf<X>>>
  : (ctx: ContextOf<T>) => R

/** A declared code and its data, as `ctx.fail` takes them. */
export type FailArguments<E> = {
  [C in keyof E & string]: 0 extends 1 & E[C]
    ? [code: C, data?: unknown, message?: string]
    : E[C] extends { data: infer D extends Schema }
      ? [code: C, data: SchemaInput<D>, message?: string]
      : [code: C, data?: undefined, message?: string]
}[keyof E & string]

/**
 * Refuses `ctx.fail` where no error is declared, and says why. It is the type of `this`: as an argument it would make
 * contexts incompatible.
 */
export type Failing<E> = [keyof E] extends [never]
  ? 'no error is declared here: errors: { CODE: { status } } declares one'
  : unknown

type EffectOf<X> = X extends { readonly [effect]?: infer E }
  ? NonNullable<E>
  : X extends (...args: never) => unknown
    ? {}
    : OptionsEffect<X>

type Changed<K extends keyof Parts, B extends Parts, E> = E extends { [P in K]: infer X } ? X : B[K]

/** The parts as a middleware, or the schemas of a route's options, leave them. */
export type With<B extends Parts, X, E = EffectOf<X>> = [keyof E] extends [never]
  ? B
  : {
      params: Changed<'params', B, E>
      query: Changed<'query', B, E>
      headers: Changed<'headers', B, E>
      cookies: Changed<'cookies', B, E>
      body: Changed<'body', B, E>
      state: E extends { state: infer S }
        ? string extends keyof B['state']
          ? S
          : // This is a mapped type, so that editors show its members.
            { [K in keyof (B['state'] & S)]: (B['state'] & S)[K] }
        : B['state']
      responses: Changed<'responses', B, E>
      errors: E extends { errors: infer X } ? B['errors'] & X : B['errors']
    }

/** The parts of a route with this pattern. */
export type RouteParts<B extends Parts, P extends string> = {
  // A parameter that a schema of the scope checked keeps the type of its output.
  params: [keyof B['params']] extends [never]
    ? ParamsOf<P>
    : B['params'] & Omit<ParamsOf<P>, keyof B['params']>
  query: B['query']
  headers: B['headers']
  cookies: B['cookies']
  body: B['body']
  state: B['state']
  responses: B['responses']
  errors: B['errors']
}

/**
 * A route as a value: the result of a verb or of `contract`. `Returns` is what its handler returns, `Base` are the
 * parts of the scope it is in, `Behind` those that its handler sees.
 */
export interface Route<
  M extends string = string,
  P extends string = string,
  Options = unknown,
  Returns = unknown,
  Base = unknown,
  Behind = unknown,
> {
  /** The method; several have commas between them. */
  readonly method: M
  /** The path with the prefixes of its scopes. */
  readonly path: P
  /** The options as they were given. */
  readonly options?: Options | undefined
  /** This property carries types alone and does not exist at run time. */
  readonly types?: { options: Options; returns: Returns; base: Base; behind: Behind }
}

export type { Method }
