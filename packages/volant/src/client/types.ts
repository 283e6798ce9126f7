/**
 * What a client's calls take and give, by the types of the routes they call. Each route is looked at by itself, so that
 * one costs the compiler the same however many there are: `npm run types` watches it.
 */
import type { ParamsOf } from '../types/pattern.ts'
import type { Schema, SchemaInput, SchemaOutput } from '../types/schema.ts'
import type { Jsonified } from '../types/jsonified.ts'
import type { Callable, Failure, Invalid, PathValue, Success } from '../types/operation.ts'

/** The calls of an API by name: `client.users.get({ params: { id: 1 } })`. */
export type Client<T> = {
  readonly [K in keyof T]: T[K] extends Callable ? Call<InputOf<T[K]>, ResultOf<T[K]>> : Client<T[K]>
}

/** Calls an operation. Without anything that has to be given the input can be left out. */
export type Call<Input, Results> = {} extends Input
  ? (input?: Input, options?: CallOptions) => Promise<Results>
  : (input: Input, options?: CallOptions) => Promise<Results>

/** What can be written in a query: nothing for undefined and null, the name once for each value of an array. */
export type QueryValue = PathValue | null | undefined | readonly (PathValue | null | undefined)[]

/** What can be written in a field of the head. */
export type HeaderValue = string | number | bigint | boolean | undefined

/** How one call is sent; see the client's options of the same names, which these come before. */
export interface CallOptions {
  /** Aborts the call, and the stream it gave: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds from 1 to 2,147,483,647 for the whole call, its hooks, retries and what it reads of the reply; default none. */
  timeout?: number | undefined
  /** Tries after the first that failed; default 0. */
  retry?: number | RetryOptions | undefined
  /** Fields of the head, added to the client's; undefined takes one away. */
  headers?: Readonly<Record<string, HeaderValue>> | undefined
  /** Options of `Request`: `credentials`, `cache`, `keepalive`, …; `redirect` is `manual` without it. */
  init?: RequestInit | undefined
}

/** When a call that failed is tried again. */
export interface RetryOptions {
  /** Tries after the first. */
  count: number
  /** Default GET, HEAD, OPTIONS, PUT, DELETE: those that can be repeated (RFC 9110 §9.2.2). */
  methods?: readonly string[] | undefined
  /** Default 429, 502, 503, 504. No reply at all is tried again, too. */
  statuses?: readonly number[] | undefined
  /** Milliseconds before the first of them, default 200; doubled each time, and up to half of it left off at random. */
  delay?: number | undefined
  /** Milliseconds, default 10,000: no wait is longer. A `Retry-After` that asks for more ends the tries. */
  maxDelay?: number | undefined
}

/** What the call of a route takes. */
export type InputOf<R> = R extends { readonly call?: { input: infer Input } }
  ? Input
  : R extends { readonly method: infer M; readonly path: infer P extends string; readonly types?: infer T }
    ? NonNullable<T> extends { options: infer O; base: infer B }
      ? ParamsInput<ParamNames<P, B>, O> &
          BodyInput<M, O> &
          Part<'query', O, QueryValue> &
          Part<'headers', O, HeaderValue> &
          Part<'cookies', O, PathValue | undefined> extends infer All
        ? // One object without a name, which editors write out; mapped types below have none, either.
          { [K in keyof All]: All[K] }
        : never
      : LooseInput
    : LooseInput

/** Of a route whose types are not known. */
export interface LooseInput {
  /** Parameters of the path. */
  params?: Readonly<Record<string, PathValue | undefined>>
  /** Pairs of the query. */
  query?: Readonly<Record<string, QueryValue>>
  /** Request fields. */
  headers?: Readonly<Record<string, HeaderValue>>
  /** Cookies; a browser sends its own in their place. */
  cookies?: Readonly<Record<string, PathValue | undefined>>
  /** JSON unless it is a form, a blob, bytes or a stream. */
  body?: unknown
}

/** Parameters of the pattern and of the prefixes in front of it. */
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

/** Parameters of prefixes, which the schema of the route does not take. */
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

/** Where a schema takes anything, as those that convert do, only what can be sent fits. */
type Sendable<T, V> = unknown extends T ? V : T

type BodyInput<M, O> = O extends { body: infer Q }
  ? undefined extends SchemaInput<Q>
    ? { body?: SchemaInput<Q> | undefined }
    : { body: SchemaInput<Q> }
  : M extends 'GET' | 'HEAD'
    ? {}
    : { body?: unknown }

/** What the call of a route gives. */
export type ResultOf<R> = R extends { readonly call?: { results: infer Results } }
  ? Results
  : R extends { readonly types?: infer T }
    ? NonNullable<T> extends { options: infer O; returns: infer Returns; behind: infer B }
      ? Replies<O, Returns> | Errors<B> | (O extends Checked ? Invalid : never)
      : LooseResult
    : LooseResult

/** Of a route whose types are not known. */
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

/** Inside of a conditional type, so that editors and messages show the results and not this name with its schemas. */
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

/** A reply is read by its type. */
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

/** What arrives of a value that a handler gives and no schema describes. */
type Content<R> = unknown extends R
  ? unknown
  : R extends string | number | boolean
    ? R
    : R extends null | undefined
      ? undefined
      : // The handler replied by itself, and nothing tells with what.
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
