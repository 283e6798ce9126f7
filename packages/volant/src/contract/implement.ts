/** Registers handlers for contracts that were declared elsewhere, for `app.implement`. */
import { type APITree, isRoute, namedRoutes } from './api-tree.ts'
import type { ContextOf } from '../types/context.ts'
import { VolantError } from '../errors/errors.ts'
import type { HooksBehind, ImplementedSocket } from '../types/web-socket.ts'
import type { LayerOf, Parts, HandlerBehind, Returnable, Route, RouteParts, With } from '../types/parts.ts'

type Seen<B extends Parts, P extends string, O> = With<RouteParts<B, P>, O>

/** The handlers of a tree of contracts, by the same names. */
export type Handlers<T, B extends Parts> = {
  // oxlint-disable-next-line typescript/no-explicit-any -- parts that a handler does not depend on
  readonly [K in keyof T]: T[K] extends Route<'WS', infer P, infer O, any, any, any>
    ? HooksBehind<RouteParts<B, P>, O, any>
    : // oxlint-disable-next-line typescript/no-explicit-any -- parts that a handler does not depend on
      T[K] extends Route<any, infer P, infer O, any, any, any>
      ? (ctx: ContextOf<Seen<B, P, O>>) => Returnable<O>
      : Handlers<T[K], B>
}

/**
 * The type of a scope's `implement`: `app.implement(contract, handler)`, with one middleware between them, or
 * `app.implement(tree, handlers)`, where `handlers` has the names of the tree. A WebSocket has an object of hooks in the
 * place of a handler, in which `ws.data` is of any type: the compiler infers it in `app.ws` alone. Throws `E_NOT_IMPLEMENTED` for a tree's
 * contract without a handler, `E_BAD_HANDLER` for a handler without a contract.
 */
export interface Implement<B extends Parts> {
  // Contracts and trees share one signature: of two overloads the compiler would blame the wrong one.
  <const T extends Route | APITree, R>(
    contract: T,
    handler: Implementation<T, B, R>,
  ): Implemented<T, B, R, this>
  <M extends string, P extends string, O, T, U, const A extends LayerOf<ContextOf<Seen<B, P, O>>>, R>(
    contract: Route<M, P, O, unknown, T, U>,
    middleware: A,
    handler: M extends 'WS'
      ? HooksBehind<With<RouteParts<B, P>, A>, O, any>
      : HandlerBehind<O, With<Seen<B, P, O>, A>, R>,
  ): M extends 'WS'
    ? ImplementedSocket<P, B, With<RouteParts<B, P>, A>, O>
    : Route<M, P, O, Awaited<R>, B, With<Seen<B, P, O>, A>>
}

// oxlint-disable-next-line typescript/no-explicit-any -- parts that a handler does not depend on
type Implementation<T, B extends Parts, R> =
  T extends Route<infer M, infer P, infer O, any, any, any>
    ? M extends 'WS'
      ? HooksBehind<RouteParts<B, P>, O, any>
      : HandlerBehind<O, Seen<B, P, O>, R>
    : Handlers<T, B>

type Implemented<T, B extends Parts, R, Self> =
  T extends Route<infer M, infer P, infer O, any, any, any>
    ? M extends 'WS'
      ? ImplementedSocket<P, B, RouteParts<B, P>, O>
      : Route<M, P, O, Awaited<R>, B, Seen<B, P, O>>
    : Self

/** Gives contracts with their handlers, found by name. */
export function handlersOf(tree: APITree, handlers: unknown): [Route, unknown][] {
  const named = namedRoutes(tree, 'implement')
  const known = new Map(named.map(({ name, route }) => [name, route]))
  const given = new Map(handlersIn(handlers, '', [], (name) => known.get(name)?.method === 'WS'))
  for (const name of given.keys()) {
    if (!known.has(name))
      throw new VolantError(
        'E_BAD_HANDLER',
        `implement was given a handler ${name}, and no contract has that name: correct the name, or add the contract`,
      )
  }
  const missing = named.filter(({ name }) => !given.has(name))
  if (missing.length > 0) {
    const list = missing.map(({ name, route: { method, path } }) => `${name} (${method} ${path})`).join(', ')
    throw new VolantError('E_NOT_IMPLEMENTED', `implement was given no handler for ${list}`)
  }
  return named.map(({ name, route }) => [route, given.get(name)])
}

/** Gives functions, and the hooks of WebSockets, by their names. */
function* handlersIn(
  value: unknown,
  prefix: string,
  above: readonly unknown[],
  isSocket: (name: string) => boolean,
): Generator<[string, unknown]> {
  if (typeof value === 'function') yield [prefix, value]
  if (typeof value !== 'object' || value === null || isRoute(value) || above.includes(value)) return
  if (isSocket(prefix)) return yield [prefix, value]
  for (const [key, inner] of Object.entries(value)) {
    yield* handlersIn(inner, prefix === '' ? key : `${prefix}.${key}`, [...above, value], isSocket)
  }
}

/** Contracts by the routes that `implement` gives for them, where these are other objects. */
export const contractBehind = new WeakMap<Route, Route>()
