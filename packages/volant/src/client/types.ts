/**
 * The inputs and results of a client's calls, by the types of the routes they call. Each route is computed by itself,
 * so that it costs the compiler the same however many there are: `npm run types` watches that.
 */
import type { LooseSocketInput, RawMessage, SocketOperation } from './socket-types.ts'
import type { ParamsOf } from '../types/pattern.ts'
import type { Schema, SchemaInput, SchemaOutput } from '../types/schema.ts'
import type { Jsonified } from '../types/jsonified.ts'
import type { Callable, Failure, Invalid, PathValue, Success } from '../types/operation.ts'

/** The calls of an API by name: `client.users.get({ params: { id: 1 } })`. */
export type Client<T> = {
  readonly [K in keyof T]: T[K] extends Callable
    ? T[K] extends { readonly method: 'WS' }
      ? SocketOf<T[K]>
      : Call<InputOf<T[K]>, ResultOf<T[K]>>
    : Client<T[K]>
}

/** Calls an operation. The input can be left out where no part of it is required. */
export type Call<Input, Results> = {} extends Input
  ? (input?: Input, options?: CallOptions) => Promise<Results>
  : (input: Input, options?: CallOptions) => Promise<Results>

/** A value of the query: undefined and null are left out, an array repeats the name. */
export type QueryValue = PathValue | null | undefined | readonly (PathValue | null | undefined)[]

/** A value of a header. */
export type HeaderValue = string | number | bigint | boolean | undefined

/** The options of one call. They take precedence over the client's options of the same names. */
export interface CallOptions {
  /** Aborts the call, and the stream in its result. Both reject with the signal's reason. */
  signal?: AbortSignal | undefined
  /**
   * The time for the whole call in milliseconds, from 1 to 2,147,483,647: its hooks, its retries, and the content that
   * it reads. Default: no limit.
   */
  timeout?: number | undefined
  /** The number of retries after a failed try; default 0. */
  retry?: number | RetryOptions | undefined
  /** Headers that are added to the client's; undefined removes one. */
  headers?: Readonly<Record<string, HeaderValue>> | undefined
  /** The options of `Request`: `credentials`, `cache`, `keepalive`, …. By default `redirect` is `manual`. */
  init?: RequestInit | undefined
}

/** The conditions for trying a failed call again. */
export interface RetryOptions {
  /** The number of retries. */
  count: number
  /**
   * The methods that may be repeated. Default: GET, HEAD, OPTIONS, PUT, DELETE, the idempotent ones (RFC 9110 §9.2.2).
   */
  methods?: readonly string[] | undefined
  /** The statuses that are tried again. Default: 429, 502, 503, 504. A call without any reply is tried again, too. */
  statuses?: readonly number[] | undefined
  /**
   * The milliseconds before the first retry; default 200. They double each time, and up to half of them is left off at
   * random.
   */
  delay?: number | undefined
  /** The longest wait in milliseconds; default 10,000. A `Retry-After` that asks for more ends the retries. */
  maxDelay?: number | undefined
}

/** The operation of a WebSocket's route, for `connect`. */
export type SocketOf<R> = R extends { readonly socket?: infer S }
  ? NonNullable<S> extends { input: infer Input; sent: infer Sent; received: infer Received }
    ? SocketOperation<Input, Sent, Received>
    : never
  : R extends { readonly types?: infer T }
    ? NonNullable<T> extends { options: infer O }
      ? SocketOperation<
          InputOf<R>,
          O extends { in: infer In } ? SchemaInput<In> : RawMessage | Uint8Array | ArrayBuffer,
          O extends { out: infer Out } ? Jsonified<SchemaOutput<Out>> : RawMessage
        >
      : LooseSocket
    : LooseSocket

/** The type for a WebSocket whose types are not known. */
// oxlint-disable-next-line typescript/no-explicit-any -- any message
type LooseSocket = SocketOperation<LooseSocketInput, any, any>

/** The input of a route's call. */
export type InputOf<R> = R extends { readonly call?: { input: infer Input } }
  ? Input
  : R extends { readonly method: infer M; readonly path: infer P extends string; readonly types?: infer T }
    ? NonNullable<T> extends { options: infer O; base: infer B }
      ? ParamsInput<ParamNames<P, B>, O> &
          BodyInput<M, O> &
          Part<'query', O, QueryValue> &
          Part<'headers', O, HeaderValue> &
          Part<'cookies', O, PathValue | undefined> extends infer All
        ? // A mapped type has no name, so that editors write it out; the same holds for those below.
          { [K in keyof All]: All[K] }
        : never
      : LooseInput
    : LooseInput

/** The type for a route whose types are not known. */
export interface LooseInput {
  /** The parameters of the path. */
  params?: Readonly<Record<string, PathValue | undefined>>
  /** The pairs of the query. */
  query?: Readonly<Record<string, QueryValue>>
  /** The request headers. */
  headers?: Readonly<Record<string, HeaderValue>>
  /** The cookies; a browser sends its own in their place. */
  cookies?: Readonly<Record<string, PathValue | undefined>>
  /** The body: sent as JSON unless it is a form, a blob, bytes or a stream, or its operation takes a form. */
  body?: unknown
}

/** The parameters of the pattern and of the prefixes in front of it. */
type ParamNames<P extends string, B> = B extends { params: infer G }
  ? [keyof G] extends [never]
    ? ParamsOf<P>
    : { [K in keyof G]: string } & ParamsOf<P>
  : ParamsOf<P>

type ParamsInput<N, O> = O extends { params: infer Q }
  ? ParamsOfSchema<N, SchemaInput<Q>>
  : ParamsOfPattern<N>

type ParamsOfSchema<N, I> = unknown extends I
  ? ParamsOfPattern<N>
  : { params: { [K in keyof I]: Sendable<I[K], PathValue> } & Rest<Exclude<keyof N, keyof I>> }

/** The parameters of prefixes that the route's own schema does not have. */
type Rest<K extends PropertyKey> = [K] extends [never] ? unknown : { [P in K]: PathValue }

type ParamsOfPattern<N> = [keyof N] extends [never]
  ? {}
  : {} extends N
    ? { params?: { [K in keyof N]: PathValue | undefined } | undefined }
    : { params: { [K in keyof N]: PathValue } }

type Part<K extends 'query' | 'headers' | 'cookies', O, V> = O extends { [P in K]: infer Q }
  ? PartOf<K, SchemaInput<Q>, V>
  : { [P in K]?: Readonly<Record<string, V>> | undefined }

type PartOf<K extends string, I, V> = unknown extends I
  ? { [P in K]?: Readonly<Record<string, V>> | undefined }
  : {} extends I
    ? { [P in K]?: { [N in keyof I]: Sendable<I[N], V> } | undefined }
    : { [P in K]: { [N in keyof I]: Sendable<I[N], V> } }

/** A schema that converts takes any value; then the type of what can be sent is used. */
type Sendable<T, V> = unknown extends T ? V : T

type BodyInput<M, O> = O extends { consumes: unknown; body: infer Q }
  ? { body: SchemaInput<Q> | FormData }
  : O extends { body: infer Q }
    ? undefined extends SchemaInput<Q>
      ? { body?: SchemaInput<Q> | undefined }
      : { body: SchemaInput<Q> }
    : M extends 'GET' | 'HEAD' | 'WS'
      ? {}
      : { body?: unknown }

/** The result of a route's call. */
export type ResultOf<R> = R extends { readonly call?: { results: infer Results } }
  ? Results
  : R extends { readonly types?: infer T }
    ? NonNullable<T> extends { options: infer O; returns: infer Returns; behind: infer B }
      ? Replies<O, Returns> | Errors<B> | (O extends Checked ? Invalid : never)
      : LooseResult
    : LooseResult

/** The type for a route whose types are not known. */
export type LooseResult = Success<number, unknown> | Failure<string, number, unknown>

type Checked =
  | { params: Schema }
  | { query: Schema }
  | { headers: Schema }
  | { cookies: Schema }
  | { body: Schema }

type Replies<O, Returns> = O extends { mediaType: infer M extends string }
  ? O extends { response: infer R }
    ? ByStatus<R extends Schema ? { 200: R } : R, M>
    : Success<number, ByMediaType<M, Jsonified<Returns>>>
  : O extends { response: infer R }
    ? ByStatus<R extends Schema ? { 200: R } : R, undefined>
    : Success<number, Content<Returns>>

/**
 * It is part of a conditional type, so that editors and messages show the results instead of this name with its
 * schemas.
 */
type ByStatus<R, M> = R extends object
  ? {
      [S in keyof R & number]: `${S}` extends `${2 | 3}${string}`
        ? Success<S, ContentOf<R[S], M>>
        : Failure<undefined, S, ContentOf<R[S], M>>
    }[keyof R & number]
  : never

type ContentOf<S, M> = [S] extends [null]
  ? undefined
  : M extends string
    ? ByMediaType<M, Jsonified<SchemaOutput<S>>>
    : Jsonified<SchemaOutput<S>>

/** The type of the content by its media type. */
type ByMediaType<M extends string, T> = string extends M
  ? unknown
  : Lowercase<M> extends `application/json${string}` | `application/${string}+json${string}`
    ? T
    : Lowercase<M> extends `text/event-stream${string}`
      ? ReadableStream<Uint8Array<ArrayBuffer>>
      : Lowercase<M> extends `text/${string}`
        ? string
        : ReadableStream<Uint8Array<ArrayBuffer>>

type Errors<B> = B extends { errors: infer E }
  ? { [C in keyof E & string]: ErrorOf<C, E[C]> }[keyof E & string]
  : Failure<string, number, unknown>

type ErrorOf<C extends string, E> = E extends { status: infer S extends number }
  ? Failure<C, S, E extends { data: infer D extends Schema } ? Jsonified<SchemaOutput<D>> : undefined>
  : Failure<C, number, unknown>

/** The type that arrives for a returned value that no schema describes. */
type Content<R> = unknown extends R
  ? unknown
  : R extends string | number | boolean
    ? R
    : R extends null | undefined
      ? undefined
      : // The handler replied by itself, so its type does not say with what.
        R extends void | Response
        ? unknown
        : R extends Error
          ? never
          : R extends Streamed
            ? ReadableStream<Uint8Array<ArrayBuffer>>
            : Jsonified<R>

type Streamed =
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream
  | { [Symbol.asyncIterator](): unknown }
  | { next(...values: never): unknown; [Symbol.iterator](): unknown }
