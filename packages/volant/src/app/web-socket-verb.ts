/** The type of `app.ws`, with one signature for each number of middlewares. */
import type { ContextOf } from '../types/context.ts'
import type { DeclaredErrors, LayerOf, Parts, RouteParts, Schema, With } from '../types/parts.ts'
import type {
  BehindSocket,
  Sent,
  SocketDeclared,
  WebSocketOptions,
  WebSocketRoute,
} from '../types/web-socket.ts'

type S = Schema | undefined

/**
 * Registers a WebSocket. Options come last; up to three middlewares change the types of `upgrade`.
 */
export interface WebSocketVerb<B extends Parts> {
  /**
   * Registers a WebSocket: `app.ws('/chat/:room', { upgrade: (ctx) => ({ room: ctx.params.room }), message(ws, message) {} })`.
   * A GET that asks for one runs the middleware, as any request does, and then `upgrade`. The path may have routes as well.
   * Throws `E_ROUTE_PATTERN`, `E_ROUTE_CONFLICT`, `E_BAD_HANDLER`, `E_BAD_OPTION`, `E_BAD_SCHEMA`, and `E_STARTED` once the
   * app listens.
   * @param path A pattern such as `/chat/:room`; the prefix of the scope comes before it.
   * @param options The hooks, schemas and limits; see `WebSocketOptions`.
   */
  <
    const P extends string,
    const Params extends S = undefined,
    const Query extends S = undefined,
    const Headers extends S = undefined,
    const Cookies extends S = undefined,
    const Errors extends DeclaredErrors = {},
    const In extends S = undefined,
    const Out extends S = undefined,
    R = undefined,
  >(
    path: P,
    options: WebSocketOptions<RouteParts<B, P>, Params, Query, Headers, Cookies, Errors, In, Out, R>,
  ): Registered<P, B, RouteParts<B, P>, Params, Query, Headers, Cookies, Errors, In, Out>
  /**
   * Registers a WebSocket behind a middleware.
   * @param path A pattern such as `/chat/:room`; the prefix of the scope comes before it.
   * @param middleware Runs before `upgrade`.
   * @param options The hooks, schemas and limits; see `WebSocketOptions`.
   */
  <
    const P extends string,
    const A extends LayerOf<ContextOf<RouteParts<B, P>>>,
    const Params extends S = undefined,
    const Query extends S = undefined,
    const Headers extends S = undefined,
    const Cookies extends S = undefined,
    const Errors extends DeclaredErrors = {},
    const In extends S = undefined,
    const Out extends S = undefined,
    R = undefined,
  >(
    path: P,
    middleware: A,
    options: WebSocketOptions<With<RouteParts<B, P>, A>, Params, Query, Headers, Cookies, Errors, In, Out, R>,
  ): Registered<P, B, With<RouteParts<B, P>, A>, Params, Query, Headers, Cookies, Errors, In, Out>
  /**
   * Registers a WebSocket behind two middlewares.
   * @param path A pattern such as `/chat/:room`; the prefix of the scope comes before it.
   * @param middleware Runs first.
   * @param middleware2 Runs next, before `upgrade`.
   * @param options The hooks, schemas and limits; see `WebSocketOptions`.
   */
  <
    const P extends string,
    const A extends LayerOf<ContextOf<RouteParts<B, P>>>,
    const A2 extends LayerOf<ContextOf<With<RouteParts<B, P>, A>>>,
    const Params extends S = undefined,
    const Query extends S = undefined,
    const Headers extends S = undefined,
    const Cookies extends S = undefined,
    const Errors extends DeclaredErrors = {},
    const In extends S = undefined,
    const Out extends S = undefined,
    R = undefined,
  >(
    path: P,
    middleware: A,
    middleware2: A2,
    options: WebSocketOptions<
      With<With<RouteParts<B, P>, A>, A2>,
      Params,
      Query,
      Headers,
      Cookies,
      Errors,
      In,
      Out,
      R
    >,
  ): Registered<P, B, With<With<RouteParts<B, P>, A>, A2>, Params, Query, Headers, Cookies, Errors, In, Out>
  /** Registers a WebSocket behind more middlewares: the types of `upgrade` are those of the scope. */
  <
    const P extends string,
    const Params extends S = undefined,
    const Query extends S = undefined,
    const Headers extends S = undefined,
    const Cookies extends S = undefined,
    const Errors extends DeclaredErrors = {},
    const In extends S = undefined,
    const Out extends S = undefined,
    R = undefined,
  >(
    path: P,
    middleware: LayerOf<ContextOf<RouteParts<B, P>>>,
    middleware2: LayerOf<ContextOf<RouteParts<B, P>>>,
    middleware3: LayerOf<ContextOf<RouteParts<B, P>>>,
    ...rest: [
      ...layers: LayerOf<ContextOf<RouteParts<B, P>>>[],
      options: WebSocketOptions<RouteParts<B, P>, Params, Query, Headers, Cookies, Errors, In, Out, R>,
    ]
  ): Registered<P, B, RouteParts<B, P>, Params, Query, Headers, Cookies, Errors, In, Out>
}

/** The route that is given back; `T` are the parts in front of its schemas. */
type Registered<
  P extends string,
  B extends Parts,
  T extends Parts,
  Params extends S,
  Query extends S,
  Headers extends S,
  Cookies extends S,
  Errors extends DeclaredErrors,
  In extends S,
  Out extends S,
> = WebSocketRoute<
  P,
  SocketDeclared<{ params: Params; query: Query; headers: Headers; cookies: Cookies }, In, Out>,
  Sent<Out>,
  B,
  BehindSocket<T, { params: Params; query: Query; headers: Headers; cookies: Cookies }, Errors>
>
