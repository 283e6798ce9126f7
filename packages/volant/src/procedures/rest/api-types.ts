/**
 * The REST routes as a typed client calls them: `naming.ts` as types. Each procedure is looked at by itself, so that one
 * costs the compiler the same however many there are.
 */
import type { Jsonified } from '../../types/jsonified.ts'
import type { Failure, Invalid, Operation, PathValue, Success } from '../../types/operation.ts'
import type { ParamsOf } from '../../types/parts.ts'
import type { Conventions, RestRoute } from './naming.ts'
import type { ParameterOf } from './singular.ts'
import type { ErrorData, Procedure, ProcedureTree, RestOptions, Router } from '../types.ts'

/** The operations of a router by name: what `createClient<typeof routes.api>(url)` calls. */
export type RestAPI<R extends Router, Prefix extends string = ''> =
  R extends Router<infer T> ? TreeOf<T, null, null, Unslashed<Prefix>> : never

type Unslashed<P extends string> = P extends `${infer Q}/` ? Q : P

/** `Own` is the path of the procedures of the tree, null where names alone are no path; `Name` is the tree's. */
type TreeOf<
  T extends ProcedureTree,
  Own extends string | null,
  Name extends string | null,
  Prefix extends string,
> = {
  readonly [
    K in keyof T & string as [MemberOf<T, K, Own, Name, Prefix>] extends [never] ? never : K
  ]: MemberOf<T, K, Own, Name, Prefix>
}

type MemberOf<
  T extends ProcedureTree,
  K extends keyof T & string,
  Own extends string | null,
  Name extends string | null,
  Prefix extends string,
> =
  T[K] extends Router<infer U>
    ? TreeOf<U, `${InnerOf<T, Own, Name, Prefix>}/${K}`, K, Prefix>
    : T[K] extends Procedure<infer Kind, infer I, infer O, infer E, infer Rest>
      ? Rest extends false
        ? never
        : OperationOf<I, O, E, RouteFor<Kind, VerbOf<K>, I, Own, Rest, Prefix>>
      : never

/** The path of the routers in a tree; only those that have some are looked at. */
type InnerOf<
  T extends ProcedureTree,
  Own extends string | null,
  Name extends string | null,
  Prefix extends string,
> = Own extends string ? (Name extends string ? ParentPath<T, Own, Name> : Prefix) : Prefix

/** Routers inside one that is about things, each with an id, are inside one of these things. */
type ParentPath<U extends ProcedureTree, Path extends string, Name extends string> = true extends {
  [K in keyof U & string]: IsItem<U[K], VerbOf<K>>
}[keyof U & string]
  ? `${Path}/:${ParameterOf<Name>}`
  : Path

type IsItem<M, V> =
  M extends Procedure<infer Kind, infer I>
    ? [I] extends [undefined]
      ? false
      : V extends keyof Conventions
        ? Conventions[V] extends { kind: Kind; item: true }
          ? true
          : false
        : false
    : false

/** The verb in front of a name: `get` of `getUser`, none of `getaway`. */
type VerbOf<K extends string> = {
  [V in keyof Conventions]: K extends V
    ? V
    : K extends `${V}${infer Next}`
      ? StartsLower<Next> extends true
        ? never
        : V
      : never
}[keyof Conventions]

type StartsLower<S extends string> = S extends `${infer C}${string}`
  ? C extends Uppercase<C>
    ? false
    : true
  : false

type RouteFor<
  Kind,
  V,
  I,
  Own extends string | null,
  Rest,
  Prefix extends string,
> = Kind extends 'subscription'
  ? never
  : [V] extends [keyof Conventions]
    ? [V] extends [never]
      ? Named<Kind, Rest, Prefix>
      : Conventions[V]['kind'] extends Kind
        ? Own extends string
          ? {
              method: Chosen<Rest, 'method', Conventions[V]['method']>
              path: Rest extends { path: infer P extends string }
                ? `${Prefix}${P}`
                : Conventions[V]['item'] extends true
                  ? [I] extends [undefined]
                    ? Own
                    : `${Own}/:id`
                  : Own
              status: Chosen<
                Rest,
                'status',
                Conventions[V]['status'] extends 0 ? 200 : Conventions[V]['status']
              >
            }
          : Named<Kind, Rest, Prefix>
        : Named<Kind, Rest, Prefix>
    : never

/** Where no name helps, only a path of its own does. */
type Named<Kind, Rest, Prefix extends string> = Rest extends { path: infer P extends string }
  ? {
      method: Chosen<Rest, 'method', Kind extends 'query' ? 'GET' : 'POST'>
      path: `${Prefix}${P}`
      status: Chosen<Rest, 'status', 200>
    }
  : never

type Chosen<Rest, K extends keyof RestOptions, Default> = Rest extends { [P in K]: infer X } ? X : Default

type OperationOf<I, O, E, P> = [P] extends [never]
  ? never
  : P extends RestRoute
    ? Operation<InputOf<I, P>, ResultOf<I, O, E, P>>
    : never

type InputOf<I, P extends RestRoute> = [I] extends [undefined]
  ? ParamsInput<{}, ParamNames<P>>
  : [ParamNames<P>] extends [never]
    ? Whole<RestOf<P>, I>
    : unknown extends I
      ? ParamsInput<I, ParamNames<P>> & { [K in RestOf<P>]?: unknown }
      : Split<NonNullable<I>, P>

type ParamNames<P extends RestRoute> = keyof ParamsOf<P['path']> & string

/** Where the members are that are not in the path. */
type RestOf<P extends RestRoute> = P['method'] extends 'GET' | 'DELETE' ? 'query' : 'body'

/** Nothing is an input, too, where the schema takes that. */
type Whole<K extends string, I> = undefined extends I ? { [N in K]?: I } : Optionally<K, I>

/** Each kind of a union by itself: what they have in common is not all there is. */
type Split<I, P extends RestRoute> = I extends unknown
  ? ParamsInput<I, ParamNames<P>> & Optionally<RestOf<P>, Omit<I, ParamNames<P>>>
  : never

/** Parameters of the path; what the input has no type for is anything a path can have. */
type ParamsInput<I, Names extends string> = [Names] extends [never]
  ? {}
  : { params: { [N in Names]: N extends keyof I ? Sendable<I[N]> : PathValue } }

type Sendable<T> = unknown extends T ? PathValue : T

type Optionally<K extends string, V> = {} extends V ? { [N in K]?: V } : { [N in K]: V }

type ResultOf<I, O, E, P extends RestRoute> =
  | SuccessOf<O, P>
  | { [C in keyof E & string]: ErrorOf<C, E[C]> }[keyof E & string]
  | ([I] extends [undefined] ? never : Invalid)

/** Without a value there is no content. */
type SuccessOf<O, P extends RestRoute> = [O] extends [void | undefined]
  ? Success<204, undefined>
  : P['status'] extends 204
    ? Success<204, undefined>
    : unknown extends O
      ? Success<P['status'], Jsonified<O>>
      :
          | Success<P['status'], Jsonified<Exclude<O, void | undefined>>>
          | (undefined extends O ? Success<204, undefined> : never)

type ErrorOf<C extends string, E> = E extends { status: infer S extends number }
  ? Failure<C, S, Jsonified<ErrorData<E>>>
  : never
