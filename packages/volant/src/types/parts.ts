/**
 * The types users write handlers with. A route's context is typed by the members of `Parts`; patterns, schemas and middleware each
 * say what they make of them. Interfaces rather than intersections carry the parts, since the compiler caches them:
 * `npm run types` watches that a route costs the same however many there are. One file, since each of these types is
 * said by the others.
 */
import type { Method } from '@volant/engine'
import type { Context, ContextOf } from './context.ts'
import type { HTTPError } from '../errors/errors.ts'
import type { ParamsOf } from './pattern.ts'
import type { JSONSchema, Schema, SchemaInput, SchemaOutput } from './schema.ts'

export type { JSONSchema, ParamsOf, Schema, SchemaInput, SchemaOutput }

/** What a context is typed by. */
export interface Parts {
  /** Parameters of the path. */
  params: unknown
  /** Pairs of the query. */
  query: unknown
  /** Request fields. */
  headers: unknown
  /** Cookies of the request. */
  cookies: unknown
  /** The parsed body. */
  body: unknown
  /** What middleware hands on. */
  state: unknown
  /** Schemas of the replies by status; null for one without content. */
  responses: unknown
  /** Declared errors by code. */
  errors: unknown
}

/** The parts of a context whose route is not known: every context can be used as one of these. */
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

/** The parts of an app's routes before pattern, schemas and middleware have their say. */
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

/** Values by name; a repeated name has all its values in an array. */
export type Pairs = Record<string, string | string[] | undefined>

/** Replies nobody declared: any status, any value. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type LooseResponses = Record<number, any>

/** Errors of a route that is not known: any code, any data. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type LooseErrors = Record<string, any>

/** State nobody declared. A scope made by `app.with` is typed by what its middleware declare instead. */
export interface LooseState {
  // oxlint-disable-next-line typescript/no-explicit-any -- users narrow it as they like; `unknown` would need a cast at every use
  [name: string]: any
}

/** What a middleware or a set of schemas changes of a context's parts. */
export interface Effect {
  /** Parameters of the path, if it changes them. */
  params?: unknown
  /** Pairs of the query, if it changes them. */
  query?: unknown
  /** Request fields, if it changes them. */
  headers?: unknown
  /** Cookies of the request, if it changes them. */
  cookies?: unknown
  /** The parsed body, if it changes them. */
  body?: unknown
  /** What middleware hands on, if it changes them. */
  state?: unknown
  /** Errors it replies with, by code: added to those declared before. */
  errors?: unknown
}

/** Carries a middleware's effect in its type; no such property exists. */
declare const effect: unique symbol

/** Goes on to the next middleware and in the end to the handler; resolves when they are done. Call it once. */
export type Next = () => Promise<void>

/** A handler in a place of its own; `Params` are the parameters it needs. */
export type Handler<Params = AnyParts['params']> = (ctx: Context<{ params: Params }>) => unknown

/**
 * Runs before the handler, and after `await next()` once the reply was given. What it returns is a reply, too.
 * `E` is what it changes of the context: `Middleware<{ state: { user: User } }>`, see `middleware`.
 */
export interface Middleware<E extends Effect = {}, C = Context> {
  (ctx: C, next: Next): unknown
  readonly [effect]?: E
}

/** Middleware of this package: it fits everywhere, whatever schemas made of the context before. */
// oxlint-disable-next-line typescript/no-explicit-any -- that is what makes it fit
export type FittingMiddleware<E extends Effect = {}> = Middleware<E, ContextOf<any>>

/** What is accepted as a middleware where the context is `C`: also one that asks for less of it. */
export type LayerOf<C> = { layer(ctx: C, next: Next): unknown }['layer']

/** Replies to an error. Returning undefined without replying leaves the reply to the framework. */
export type ErrorHandler = (error: unknown, ctx: Context) => unknown

/** Schemas by the part of the request they check. What they make of it is what the handler sees. */
export interface Schemas {
  /** Of strings by name, as the pattern has them. */
  params?: Schema | undefined
  /** Of strings by name, arrays where a name is repeated. */
  query?: Schema | undefined
  /** Of strings by name in lower case. */
  headers?: Schema | undefined
  /** Of strings by name. */
  cookies?: Schema | undefined
  /** Of the parsed body; undefined without one. */
  body?: Schema | undefined
}

/** Schemas of a route's replies by status; null says that the reply has no content. */
export interface Responses {
  readonly [status: number]: Schema | null
}

/** An error a route or a middleware replies with. */
export interface DeclaredError {
  /** From 400 to 599. */
  status: number
  /** When it happens; the error's message unless `ctx.fail` is given one. */
  description?: string | undefined
  /** What the reply's `data` holds. */
  data?: Schema | undefined
}

/** Declared errors by code: upper case and `_`, as `USER_NOT_FOUND`. */
export interface DeclaredErrors {
  readonly [code: string]: DeclaredError
}

/** Examples of a body for the API's document, by name. */
export interface Examples {
  readonly [name: string]: { readonly summary?: string | undefined; readonly value: unknown }
}

/** What a route says of itself to those who call it: in the API's document and, by its types, in the client. */
export interface Contract extends Schemas {
  /**
   * What the handler gives, checked before it is sent: a schema is that of status 200, `{ 201: User, 204: null }` are
   * those of each status. Properties it does not name are not sent; see `undeclaredProperties` of the app.
   */
  response?: Schema | Responses | undefined
  /**
   * Content-Type of what the handler gives, where it is no JSON: `image/svg+xml`. Sent unless the handler sets another;
   * errors have their own.
   */
  mediaType?: string | undefined
  /** Errors that `ctx.fail` throws, by code. */
  errors?: DeclaredErrors | undefined
  /** Its name in the API's document; unique in the app. */
  operationId?: string | undefined
  /** One line. */
  summary?: string | undefined
  /** CommonMark. */
  description?: string | undefined
  /** Groups it is shown in. */
  tags?: readonly string[] | undefined
  /** Clients should stop using it. */
  deprecated?: boolean | undefined
  /** Not in the API's document, nor in the table that clients load (`/client.json`). */
  hidden?: boolean | undefined
  /** Which security schemes it wants (OpenAPI 3.1 §4.8.30); `[]` for none. Default: those its middleware declare. */
  security?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  /** Examples for the document. */
  examples?: { readonly body?: Examples; readonly response?: Readonly<Record<number, Examples>> } | undefined
}

/** Options of a route, before its middleware and handler. */
export interface RouteOptions<T extends Parts = AnyParts> extends Contract {
  /** `stream`: the handler runs when the head is there, and reads `ctx.bodyStream`. Default `buffer`. */
  bodyMode?: 'buffer' | 'stream' | undefined
  /** Bytes; default the app's `maxBodySize`. */
  maxBodySize?: number | undefined
  /** Milliseconds until 503, 0 for none; default the app's `handlerTimeout`. It starts when the handler could. */
  handlerTimeout?: number | undefined
  /** Keys of the query; default the app's. */
  maxQueryKeys?: number | undefined
  /** Keys of a form body; default the app's. */
  maxFormKeys?: number | undefined
  /** Levels of nesting in a JSON body; default the app's. */
  maxJsonDepth?: number | undefined
  /**
   * Runs after the scope's middleware and before any of the body is read: throwing or replying refuses the request
   * without its body, so that with `Expect: 100-continue` it is never sent. Then the body is read and checked, and the
   * route's middleware and handler run as usual.
   */
  beforeBody?: ((ctx: ContextOf<T>) => unknown) | undefined
}

/** What schemas make of the parts they check. */
export type Outputs<O extends Schemas> = { [K in keyof O & keyof Schemas]: SchemaOutput<O[K]> }

/** What the options of a route change: the parts their schemas check, its replies and errors. */
type OptionsEffect<O> = {
  [
    K in keyof O & (keyof Schemas | 'response' | 'errors') as K extends 'response' ? 'responses' : K
  ]: K extends 'response' ? ResponsesOf<O[K]> : K extends 'errors' ? O[K] : SchemaOutput<O[K]>
}

/** Schemas by status: one alone is that of 200. */
export type ResponsesOf<R> = R extends Schema ? { 200: R } : R extends Responses ? R : LooseResponses

/** The statuses a route replies with. */
export type StatusOf<R> = keyof R & number

/** What a handler gives for a status. */
type ValueOf<R, S extends keyof R> = 0 extends 1 & R[S] ? unknown : SchemaInput<R[S]>

/** A declared status and what belongs to it, as `ctx.reply` takes them. */
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

/** What `ctx.reply` and `ctx.json` give: nothing, and in the type the status they replied with. */
export type Replied<S extends number = number> = void & { readonly [repliedWith]: S }

/** What a handler may give where these replies are declared. */
type Given<R> =
  200 extends StatusOf<R> ? ValueOf<R, 200 & keyof R> | Otherwise<R> : StatusHint<StatusOf<R>> | Otherwise<R>

type Otherwise<R> =
  | (204 extends StatusOf<R> ? (R[204 & keyof R] extends null ? undefined | void : never) : never)
  | Replied<StatusOf<R>>
  | HTTPError

/** In the compiler's message about a returned value: what to write where 200 is not declared. */
type StatusHint<S extends number> = `200 is not declared: write ctx.reply(${S}, …)`

/** What a handler behind these options may return. */
export type Returnable<A> = [A] extends [{ response: infer X }]
  ? [A] extends [never]
    ? unknown
    : Given<ResponsesOf<X>> | Promise<Given<ResponsesOf<X>>>
  : unknown

/**
 * The handler behind these options: it gives what they declare, else `R`, whatever it is. The conditional type stands
 * around the function: only so the compiler knows what is declared while it looks at what the handler gives, and
 * `{ kind: 'a' }` is not a `{ kind: string }`.
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

/** Refuses `ctx.fail` where no error is declared, with a reason; as an argument it would make contexts incompatible. */
export type Failing<E> = [keyof E] extends [never]
  ? 'no error is declared here: errors: { CODE: { status } } declares one'
  : unknown

type EffectOf<X> = X extends { readonly [effect]?: infer E }
  ? NonNullable<E>
  : X extends (...args: never) => unknown
    ? {}
    : OptionsEffect<X>

type Changed<K extends keyof Parts, B extends Parts, E> = E extends { [P in K]: infer X } ? X : B[K]

/** The parts after a middleware, or after the schemas of a route's options. */
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
          : // Not an intersection: editors show what is in it.
            { [K in keyof (B['state'] & S)]: (B['state'] & S)[K] }
        : B['state']
      responses: Changed<'responses', B, E>
      errors: E extends { errors: infer X } ? B['errors'] & X : B['errors']
    }

/** The parts of a route with this pattern. */
export type RouteParts<B extends Parts, P extends string> = {
  // What a schema of the scope made of a parameter stands.
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
 * A route as a value: what verbs and `contract` give. `Returns` is what its handler gives, `Base` are the parts of the
 * scope it is in, `Behind` those its handler sees.
 */
export interface Route<
  M extends string = string,
  P extends string = string,
  Options = unknown,
  Returns = unknown,
  Base = unknown,
  Behind = unknown,
> {
  /** Or several, with commas between. */
  readonly method: M
  /** With the prefixes of its scopes. */
  readonly path: P
  /** As they were given. */
  readonly options?: Options | undefined
  /** Types only. */
  readonly types?: { options: Options; returns: Returns; base: Base; behind: Behind }
}

export type { Method }
