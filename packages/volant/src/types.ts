/** The types users write handlers with. */
import type { Method } from '@volant/engine'
import type { Context } from './context.ts'

/** Goes on to the next middleware and in the end to the handler; resolves when they are done. Call it once. */
export type Next = () => Promise<void>

export type Handler<Params extends object = Record<string, string>> = (ctx: Context<Params>) => unknown

/** Runs before the handler, and after `await next()` once the reply was given. What it returns is a reply, too. */
export type Middleware<Params extends object = Record<string, string>> = (
  ctx: Context<Params>,
  next: Next,
) => unknown

/** Replies to an error. Returning undefined without replying leaves the reply to the framework. */
export type ErrorHandler = (error: unknown, ctx: Context) => unknown

/** Characters that end a parameter's name: what follows them is a suffix (`/:value.svg`). */
type Name<S extends string> = S extends `${infer N}.${string}` ? Dashed<N> : Dashed<S>
type Dashed<S extends string> = S extends `${infer N}-${string}` ? N : S

type Segments<P extends string> = P extends `${infer A}/${infer B}` ? Segments<A> | Segments<B> : P

type Required<S extends string> = S extends `::${string}`
  ? never
  : S extends `:${string}?`
    ? never
    : S extends `:${infer N}`
      ? Name<N>
      : S extends '*'
        ? '*'
        : S extends `*${infer N}`
          ? N
          : never

type Optional<S extends string> = S extends `::${string}` ? never : S extends `:${infer N}?` ? N : never

/** The parameters of a pattern: `/a/:id` has `id`. */
export type ParamsOf<P extends string> = string extends P
  ? Record<string, string>
  : { [K in Required<Segments<P>>]: string } & { [K in Optional<Segments<P>>]?: string }

export interface RouteOptions<Params extends object = Record<string, string>> {
  /** `stream`: the handler runs when the head is there, and reads `ctx.bodyStream`. Default `buffer`. */
  bodyMode?: 'buffer' | 'stream'
  /** Bytes; default the app's `maxBodySize`. */
  maxBodySize?: number
  /**
   * Runs after the app's middleware and before any of the body is read: throwing or replying refuses the request
   * without its body, so that with `Expect: 100-continue` it is never sent. Then the body is read, and the route's
   * middleware and handler run as usual.
   */
  beforeBody?: (ctx: Context<Params>) => unknown
}

/** Registers a route: optional options, any number of middlewares, the handler. */
export interface Verb<M extends string> {
  <const P extends string>(path: P, ...handlers: Handlers<ParamsOf<P>>): Route<M, P>
  <const P extends string>(
    path: P,
    options: RouteOptions<ParamsOf<P>>,
    ...handlers: Handlers<ParamsOf<P>>
  ): Route<M, P>
}

export type Handlers<Params extends object> = [...middleware: Middleware<Params>[], handler: Handler<Params>]

export interface Route<M extends string = string, P extends string = string> {
  readonly method: M
  readonly path: P
}

export type { Method }
