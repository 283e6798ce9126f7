/** What a typed client calls and what its calls give: types that the client and the server both have. */

/** What a client is typed by: a route, a contract, or an operation of generated types. */
export interface Callable {
  /** Several have commas between them; the first is called. */
  readonly method: string
  /** The pattern of the path. */
  readonly path: string
}

/** An operation of generated types: what its call takes, and the results it gives. */
export interface Operation<Input, Results> extends Callable {
  /** Types only. */
  readonly call?: { input: Input; results: Results }
}

/** A reply that was declared, of a status below 400. */
export interface Success<S extends number, D> {
  /** Tells it from errors. */
  readonly ok: true
  /** The status of the reply. */
  readonly status: S
  /** Its content: parsed JSON, text, an unread stream for any other type; undefined without content. */
  readonly data: D
  /** The reply itself; its body was read, or is what the stream in `data` reads. */
  readonly response: Response
}

/** A declared error, or a declared reply of a status from 400 on, which has no code. */
export interface Failure<C extends string | undefined, S extends number, D> {
  /** Tells it from success. */
  readonly ok: false
  /** The status of the reply. */
  readonly status: S
  /** The code of the error. */
  readonly code: C
  /** The data of the error. */
  readonly data: D
  /** The error in words. */
  readonly detail: string | undefined
  /** The reply itself; its body was read. */
  readonly response: Response
}

/** The request is not what its schemas ask for. */
export interface Invalid extends Failure<'E_VALIDATION', 400, undefined> {
  /** What is wrong, at most the first 100. */
  readonly issues: readonly ClientIssue[]
}

/** One thing that is wrong with a request. */
export interface ClientIssue {
  /** The part of the request: `params`, `query`, `headers`, `cookies` or `body`. */
  readonly in: string
  /** Where in the part, as a JSON Pointer in a URI fragment (RFC 6901 §6). */
  readonly pointer: string
  /** What the schema says about it. */
  readonly detail: string
}

/** What can be written in a path: text, or a value with one spelling. */
export type PathValue = string | number | bigint | boolean | Date
