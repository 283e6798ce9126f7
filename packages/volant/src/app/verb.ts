/** The types of `app.get`, `app.on` and the like, with one signature for each number of middlewares. */
import type { Method } from '@volant/engine'
import type { Context, ContextOf } from '../types/context.ts'
import type {
  HandlerBehind,
  LayerOf,
  Parts,
  RootParts,
  Route,
  RouteOptions,
  RouteParts,
  Schema,
  SchemaInput,
  With,
} from '../types/parts.ts'
import type { RequiredNames } from '../types/pattern.ts'

/** The first argument after the path: options of the route, or its first middleware. */
export type OptionsOrMiddleware<T extends Parts> = LayerOf<ContextOf<T>> | RouteOptions<T>

/**
 * Registers a route: options if there are any, middlewares, and the handler. Up to five middlewares change the
 * handler's types.
 */
export interface Verb<M extends string, B extends Parts = RootParts> {
  /**
   * Registers a route: `app.get('/users/:id', (ctx) => ({ id: ctx.params.id }))`. Throws `E_ROUTE_PATTERN`,
   * `E_ROUTE_CONFLICT`, `E_BAD_HANDLER`, and `E_STARTED` once the app listens.
   * @param path A pattern such as `/users/:id`, `/calendar/:year/:month?` or `/files/*rest`; the prefix of the scope comes before it.
   * @param handler Runs for each request. What it returns or resolves to is the reply: an object as JSON, a string as text, nothing as 204.
   */
  <const P extends string, R>(
    path: P,
    handler: (ctx: ContextOf<RouteParts<B, P>>) => R,
  ): Route<M, P, {}, Awaited<R>, B, RouteParts<B, P>>
  /**
   * Registers a route with options, or with a middleware: `app.post('/users', { body: NewUser, response: User }, handler)`.
   * Throws also `E_BAD_OPTION` and `E_BAD_SCHEMA`.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param handler Runs when the request has passed its schemas. What it returns or resolves to is the reply.
   */
  <const P extends string, const A extends OptionsOrMiddleware<RouteParts<B, P>>, R>(
    path: P,
    options: A & Covering<P, A> & Known<A>,
    handler: HandlerBehind<A, With<RouteParts<B, P>, A>, R>,
  ): Route<M, P, A, Awaited<R>, B, With<RouteParts<B, P>, A>>
  /**
   * Registers a route with options or a middleware, and with further middleware.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param middleware2 Runs before the handler, and around it if it calls `next`; so do those after it, in this order.
   * @param handler Runs last. What it returns or resolves to is the reply.
   */
  <
    const P extends string,
    const A extends OptionsOrMiddleware<RouteParts<B, P>>,
    const A2 extends LayerOf<ContextOf<With<RouteParts<B, P>, A>>>,
    R,
  >(
    path: P,
    options: A & Covering<P, A> & Known<A>,
    middleware2: A2,
    handler: HandlerBehind<A, With<With<RouteParts<B, P>, A>, A2>, R>,
  ): Route<M, P, A, Awaited<R>, B, With<With<RouteParts<B, P>, A>, A2>>
  /**
   * Registers a route with options or a middleware, and with further middleware.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param middleware2 Runs before the handler, and around it if it calls `next`; so do those after it, in this order.
   * @param handler Runs last. What it returns or resolves to is the reply.
   */
  <
    const P extends string,
    const A extends OptionsOrMiddleware<RouteParts<B, P>>,
    const A2 extends LayerOf<ContextOf<With<RouteParts<B, P>, A>>>,
    const A3 extends LayerOf<ContextOf<With<With<RouteParts<B, P>, A>, A2>>>,
    R,
  >(
    path: P,
    options: A & Covering<P, A> & Known<A>,
    middleware2: A2,
    middleware3: A3,
    handler: HandlerBehind<A, With<With<With<RouteParts<B, P>, A>, A2>, A3>, R>,
  ): Route<M, P, A, Awaited<R>, B, With<With<With<RouteParts<B, P>, A>, A2>, A3>>
  /**
   * Registers a route with options or a middleware, and with further middleware.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param middleware2 Runs before the handler, and around it if it calls `next`; so do those after it, in this order.
   * @param handler Runs last. What it returns or resolves to is the reply.
   */
  <
    const P extends string,
    const A extends OptionsOrMiddleware<RouteParts<B, P>>,
    const A2 extends LayerOf<ContextOf<With<RouteParts<B, P>, A>>>,
    const A3 extends LayerOf<ContextOf<With<With<RouteParts<B, P>, A>, A2>>>,
    const A4 extends LayerOf<ContextOf<With<With<With<RouteParts<B, P>, A>, A2>, A3>>>,
    R,
  >(
    path: P,
    options: A & Covering<P, A> & Known<A>,
    middleware2: A2,
    middleware3: A3,
    middleware4: A4,
    handler: HandlerBehind<A, With<With<With<With<RouteParts<B, P>, A>, A2>, A3>, A4>, R>,
  ): Route<M, P, A, Awaited<R>, B, With<With<With<With<RouteParts<B, P>, A>, A2>, A3>, A4>>
  /**
   * Registers a route with options or a middleware, and with further middleware.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param middleware2 Runs before the handler, and around it if it calls `next`; so do those after it, in this order.
   * @param handler Runs last. What it returns or resolves to is the reply.
   */
  <
    const P extends string,
    const A extends OptionsOrMiddleware<RouteParts<B, P>>,
    const A2 extends LayerOf<ContextOf<With<RouteParts<B, P>, A>>>,
    const A3 extends LayerOf<ContextOf<With<With<RouteParts<B, P>, A>, A2>>>,
    const A4 extends LayerOf<ContextOf<With<With<With<RouteParts<B, P>, A>, A2>, A3>>>,
    const A5 extends LayerOf<ContextOf<With<With<With<With<RouteParts<B, P>, A>, A2>, A3>, A4>>>,
    R,
  >(
    path: P,
    options: A & Covering<P, A> & Known<A>,
    middleware2: A2,
    middleware3: A3,
    middleware4: A4,
    middleware5: A5,
    handler: HandlerBehind<A, With<With<With<With<With<RouteParts<B, P>, A>, A2>, A3>, A4>, A5>, R>,
  ): Route<M, P, A, Awaited<R>, B, With<With<With<With<With<RouteParts<B, P>, A>, A2>, A3>, A4>, A5>>
  /** With more middlewares the handler's types are those of any route. */
  <const P extends string>(
    path: P,
    options: OptionsOrMiddleware<RouteParts<B, P>>,
    middleware2: LayerOf<Context>,
    middleware3: LayerOf<Context>,
    middleware4: LayerOf<Context>,
    middleware5: LayerOf<Context>,
    middleware6: LayerOf<Context>,
    ...rest: [...layers: LayerOf<Context>[], handler: (ctx: Context) => unknown]
  ): Route<M, P>
}

/**
 * The type of `on(['GET', 'HEAD'], path, …)`: a verb whose methods come first. It takes any that the router option
 * `methods` names.
 */
export interface OnMethods<B extends Parts> {
  /**
   * Registers a route for several methods: `app.on(['GET', 'POST'], '/form', handler)`. Throws as `get` does.
   * @param methods The methods in upper case; others than the usual ones are named by the router option `methods`.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param handler Runs for each request. What it returns or resolves to is the reply.
   */
  <const M extends Method | (string & {}), const P extends string, R>(
    methods: readonly M[],
    path: P,
    handler: (ctx: ContextOf<RouteParts<B, P>>) => R,
  ): Route<M, P, {}, Awaited<R>, B, RouteParts<B, P>>
  /**
   * Registers a route for several methods, with options or middleware.
   * @param methods The methods in upper case; others than the usual ones are named by the router option `methods`.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param handler Runs last. What it returns or resolves to is the reply.
   */
  <
    const M extends Method | (string & {}),
    const P extends string,
    const A extends OptionsOrMiddleware<RouteParts<B, P>>,
    R,
  >(
    methods: readonly M[],
    path: P,
    options: A & Covering<P, A> & Known<A>,
    handler: HandlerBehind<A, With<RouteParts<B, P>, A>, R>,
  ): Route<M, P, A, Awaited<R>, B, With<RouteParts<B, P>, A>>
  /**
   * Registers a route for several methods, with options or middleware.
   * @param methods The methods in upper case; others than the usual ones are named by the router option `methods`.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param handler Runs last. What it returns or resolves to is the reply.
   */
  <
    const M extends Method | (string & {}),
    const P extends string,
    const A extends OptionsOrMiddleware<RouteParts<B, P>>,
    const A2 extends LayerOf<ContextOf<With<RouteParts<B, P>, A>>>,
    R,
  >(
    methods: readonly M[],
    path: P,
    options: A & Covering<P, A> & Known<A>,
    middleware2: A2,
    handler: HandlerBehind<A, With<With<RouteParts<B, P>, A>, A2>, R>,
  ): Route<M, P, A, Awaited<R>, B, With<With<RouteParts<B, P>, A>, A2>>
  /**
   * Registers a route for several methods, with options or middleware.
   * @param methods The methods in upper case; others than the usual ones are named by the router option `methods`.
   * @param path A pattern such as `/users/:id`; the prefix of the scope comes before it.
   * @param options The schemas, replies, limits and words for the API's document (see `RouteOptions`), or a middleware.
   * @param handler Runs last. What it returns or resolves to is the reply.
   */
  <const M extends Method | (string & {}), const P extends string>(
    methods: readonly M[],
    path: P,
    options: OptionsOrMiddleware<RouteParts<B, P>>,
    middleware2: LayerOf<Context>,
    middleware3: LayerOf<Context>,
    ...rest: [...layers: LayerOf<Context>[], handler: (ctx: Context) => unknown]
  ): Route<M, P>
}

/** The parameters of the pattern that the params schema does not take. */
type Missing<P extends string, Q extends Schema, I = SchemaInput<Q>> = unknown extends I
  ? never
  : Exclude<RequiredNames<P>, keyof I>

/** Refuses a params schema that leaves out a parameter of the pattern, and names it. */
type Covering<P extends string, X> = X extends { params: infer Q extends Schema }
  ? [Missing<P, Q>] extends [never]
    ? unknown
    : { params: `the params schema misses '${Missing<P, Q> & string}' of the path` }
  : unknown

/** Refuses an option that does not exist; a constraint alone lets it pass. */
type Known<X> = X extends (...args: never) => unknown
  ? unknown
  : { [K in Exclude<keyof X, keyof RouteOptions>]: `there is no route option '${K & string}'` }
