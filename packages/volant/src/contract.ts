/**
 * `volant/contract`: routes declared before they have a handler, for those who write the API first or share it with its
 * callers. Nothing of the server is imported.
 */
import type { Method } from '@volant/engine'
import type { Contract, Returnable, RootParts, Route, RouteOptions, RouteParts, With } from './types.ts'

/** Makes a contract for a method: path and options as those of a route, no handler. */
export interface ContractVerb<M extends string> {
  <const P extends string, const O extends Omit<RouteOptions, 'beforeBody'> = {}>(
    path: P,
    options?: O & Knowing<O>,
  ): Route<M, P, O, Awaited<Returnable<O>>, RootParts, With<RouteParts<RootParts, P>, O>>
}

/** Refuses an option that does not exist. */
type Knowing<O> = { [K in Exclude<keyof O, keyof RouteOptions>]: `there is no route option '${K & string}'` }

/**
 * Declares routes without handlers:
 *
 *     export const getUser = contract.get('/users/:id', { params: Id, response: User })
 *
 * The server gives each its handler with `app.implement(getUser, handler)`; a client takes them as they are. Nothing is
 * checked here: a path or an option that makes no sense is refused by `implement`.
 */
export const contract: {
  readonly [V in Exclude<Lowercase<Method>, 'query'>]: ContractVerb<Uppercase<V>>
} = {
  get: verb('GET'),
  head: verb('HEAD'),
  post: verb('POST'),
  put: verb('PUT'),
  patch: verb('PATCH'),
  delete: verb('DELETE'),
  options: verb('OPTIONS'),
}

function verb<M extends string>(method: M): ContractVerb<M> {
  return ((path: string, options: Contract = {}) => Object.freeze({ method, path, options })) as never
}
