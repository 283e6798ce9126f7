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

/** `Own` is the path of the tree's procedures, null outside of any router; `Name` is the tree's name. */
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
        : OperationOf<
            I,
            O,
            E,
            RouteFor<Kind, Own extends string ? ConventionOf<Kind, VerbOf<K>> : never, I, Own, Rest, Prefix>
          >
      : never

/** The path in front of the routers in a tree. */
type InnerOf<
  T extends ProcedureTree,
  Own extends string | null,
  Name extends string | null,
  Prefix extends string,
> = Own extends string ? (Name extends string ? ParentPath<T, Own, Name> : Prefix) : Prefix

/** A router with procedures about one thing has the id of that thing in front of its inner routers. */
type ParentPath<U extends ProcedureTree, Path extends string, Name extends string> = true extends {
  [K in keyof U & string]: IsItem<U[K], VerbOf<K>>
}[keyof U & string]
  ? `${Path}/:${ParameterOf<Name>}`
  : Path

type IsItem<M, V extends keyof Conventions> =
  M extends Procedure<infer Kind, infer I>
    ? [I] extends [undefined]
      ? false
      : [ConventionOf<Kind, V>] extends [{ item: false }]
        ? false
        : true
    : false

/** The type is never for a name without a verb, and for the verb of another kind of procedure. */
type ConventionOf<Kind, V extends keyof Conventions> = Conventions[V]['kind'] extends Kind
  ? Conventions[V]
  : never

/** The verb that a name begins with: `get` for `getUser`, never for `getaway`. */
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

/** `C` is the convention that the name follows. */
type RouteFor<Kind, C, I, Own, Rest, Prefix extends string> = Kind extends 'subscription'
  ? never
  : [PathFor<C, I, Own, Rest, Prefix>] extends [never]
    ? never
    : {
        method: Chosen<Rest, 'method', Defaults<Kind, C>['method']>
        path: PathFor<C, I, Own, Rest, Prefix>
        status: Chosen<Rest, 'status', Defaults<Kind, C>['status']>
      }

type PathFor<C, I, Own, Rest, Prefix extends string> = Rest extends { path: infer P extends string }
  ? `${Prefix}${P}`
  : C extends { item: infer Item }
    ? Own extends string
      ? [Item, I] extends [false, unknown] | [unknown, undefined]
        ? Own
        : `${Own}/:id`
      : never
    : never

/** The method and status that apply unless `.rest()` says otherwise. */
type Defaults<Kind, C> = [C] extends [never]
  ? { method: Kind extends 'query' ? 'GET' : 'POST'; status: 200 }
  : C extends { method: infer M; status: infer S }
    ? { method: M; status: S extends 0 ? 200 : S }
    : never

type Chosen<Rest, K extends keyof RestOptions, Default> = Rest extends { [P in K]: infer X } ? X : Default

type OperationOf<I, O, E, P> = [P] extends [never]
  ? never
  : P extends RestRoute
    ? Operation<RouteInput<I, P>, RouteResults<I, O, E, P>>
    : never

type RouteInput<I, P extends RestRoute> = [I] extends [undefined]
  ? ParamsPart<{}, RouteParams<P>>
  : [RouteParams<P>] extends [never]
    ? Whole<OtherPart<P>, I>
    : unknown extends I
      ? ParamsPart<I, RouteParams<P>> & { [K in OtherPart<P>]?: unknown }
      : Split<NonNullable<I>, P>

type RouteParams<P extends RestRoute> = keyof ParamsOf<P['path']> & string

/** The part of the request that has the members outside of the path. */
type OtherPart<P extends RestRoute> = P['method'] extends 'GET' | 'DELETE' ? 'query' : 'body'

/** The input may be left out where the schema accepts undefined. */
type Whole<K extends string, I> = undefined extends I ? { [N in K]?: I } : Optionally<K, I>

/** Splits each alternative of a union by itself: it may have members that the others lack. */
type Split<I, P extends RestRoute> = I extends unknown
  ? ParamsPart<I, RouteParams<P>> & Optionally<OtherPart<P>, Omit<I, RouteParams<P>>>
  : never

/** The parameters of the path. One without a type in the input takes whatever a path can have. */
type ParamsPart<I, Names extends string> = [Names] extends [never]
  ? {}
  : { params: { [N in Names]: N extends keyof I ? ParamValue<I[N]> : PathValue } }

type ParamValue<T> = unknown extends T ? PathValue : T

type Optionally<K extends string, V> = {} extends V ? { [N in K]?: V } : { [N in K]: V }

type RouteResults<I, O, E, P extends RestRoute> =
  | SuccessOf<O, P>
  | { [C in keyof E & string]: FailureOf<C, E[C]> }[keyof E & string]
  | ([I] extends [undefined] ? never : Invalid)

/** The reply is 204 where there is no value. */
type SuccessOf<O, P extends RestRoute> = [O] extends [void | undefined]
  ? Success<204, undefined>
  : P['status'] extends 204
    ? Success<204, undefined>
    : unknown extends O
      ? Success<P['status'], Jsonified<O>>
      :
          | Success<P['status'], Jsonified<Exclude<O, void | undefined>>>
          | (undefined extends O ? Success<204, undefined> : never)

type FailureOf<C extends string, E> = E extends { status: infer S extends number }
  ? Failure<C, S, Jsonified<ErrorData<E>>>
  : never
