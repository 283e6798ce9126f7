/**
 * `volant/contract` declares routes before they have a handler, for people who write the API first or share it with its
 * callers. It imports nothing of the server.
 */
import type { Method } from '@volant/engine'
import type { ErrorCode } from '../errors/errors.ts'
import type {
  Contract,
  Returnable,
  RootParts,
  Route,
  RouteOptions,
  RouteParts,
  With,
} from '../types/parts.ts'
import type { SocketContractOptions } from '../types/web-socket.ts'

/** Makes a contract for a method: path and options as those of a route, no handler. */
export interface ContractVerb<M extends string> {
  <const P extends string, const O extends Omit<RouteOptions, 'beforeBody'> | Taken = {}>(
    path: P,
    options?: O & Knowing<O>,
  ): Route<M, P, O, Awaited<Returnable<O>>, RootParts, With<RouteParts<RootParts, P>, O>>
}

/** Makes a contract of a WebSocket: path and options as those of `app.ws`, no hooks. */
export interface SocketContractVerb {
  <const P extends string, const O extends SocketContractOptions | Taken = {}>(
    path: P,
    options?: O & KnowingSocket<O>,
  ): Route<'WS', P, O, unknown, RootParts, With<RouteParts<RootParts, P>, O>>
}

/** The type of a handler. It is accepted only to be refused with a reason. */
type Taken = (...args: never) => unknown

/** Refuses a handler, and an option that does not exist. */
type Knowing<O> = O extends Taken
  ? 'a contract has no handler: app.implement(contract, handler) gives it one'
  : { [K in Exclude<keyof O, keyof RouteOptions>]: `there is no route option '${K & string}'` }

/** Refuses a hook, and an option that does not exist. */
type KnowingSocket<O> = O extends Taken
  ? 'a contract has no handler: app.implement(contract, { message }) gives it its hooks'
  : { [K in Exclude<keyof O, keyof SocketContractOptions>]: `a contract has no option '${K & string}'` }

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
} & {
  /** Declares a WebSocket: `app.implement(contract, { message(ws, message) {} })` gives it its hooks. */
  readonly ws: SocketContractVerb
} = {
  get: verb('GET'),
  head: verb('HEAD'),
  post: verb('POST'),
  put: verb('PUT'),
  patch: verb('PATCH'),
  delete: verb('DELETE'),
  options: verb('OPTIONS'),
  ws: verb('WS') as never,
}

function verb<M extends string>(method: M): ContractVerb<M> {
  return ((path: string, options: Contract = {}, ...rest: unknown[]) => {
    if (typeof options === 'function' || rest.length > 0) {
      const message = `contract.${method.toLowerCase()}(${JSON.stringify(path)}) takes no handler: app.implement(contract, handler) gives it one`
      // Clients import this module, so the error class and its table stay out of it.
      throw Object.assign(new TypeError(message), { code: 'E_BAD_HANDLER' satisfies ErrorCode })
    }
    return Object.freeze({ method, path, options })
  }) as never
}
