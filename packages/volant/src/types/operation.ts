/** The types of a client's calls and results that client and server share. */

/** The types that a client is made from: a route, a contract, or an operation of generated types. */
export interface Callable {
  /** The method; several have commas between them, and the first is called. */
  readonly method: string
  /** The pattern of the path. */
  readonly path: string
}

/** An operation of generated types: the input of its call, and the results of it. */
export interface Operation<Input, Results> extends Callable {
  /** This property carries types alone and does not exist at run time. */
  readonly call?: { input: Input; results: Results }
}

/** A WebSocket of generated types: the input of its connection, the messages that the server takes, and those it sends. */
export interface Socket<Input, Sent, Received> {
  /** The mark of WebSockets, which are no method of HTTP. */
  readonly method: 'WS'
  /** The pattern of the path. */
  readonly path: string
  /** This property carries types alone and does not exist at run time. */
  readonly socket?: { input: Input; sent: Sent; received: Received }
}

/** A declared reply of a status below 400. */
export interface Success<S extends number, D> {
  /** The discriminator between success and failure. */
  readonly ok: true
  /** The status of the reply. */
  readonly status: S
  /** The content: parsed JSON, text, or an unread stream for any other type; undefined without content. */
  readonly data: D
  /** The reply itself. Its body was read, or it is what the stream in `data` reads. */
  readonly response: Response
}

/** A declared error, or a declared reply of a status from 400 on, which has no code. */
export interface Failure<C extends string | undefined, S extends number, D> {
  /** The discriminator between success and failure. */
  readonly ok: false
  /** The status of the reply. */
  readonly status: S
  /** The code of the error. */
  readonly code: C
  /** The data of the error. */
  readonly data: D
  /** The error in words. */
  readonly detail: string | undefined
  /** The reply itself. Its body was read. */
  readonly response: Response
}

/** The error of a request that does not pass its schemas. */
export interface Invalid extends Failure<'E_VALIDATION', 400, undefined> {
  /** The issues that schemas found, at most the first 100. */
  readonly issues: readonly ClientIssue[]
}

/** A mistake in a request. */
export interface ClientIssue {
  /** The part of the request: `params`, `query`, `headers`, `cookies` or `body`. */
  readonly in: string
  /** The position in the part, as a JSON Pointer in a URI fragment (RFC 6901 §6). */
  readonly pointer: string
  /** The message of the schema. */
  readonly detail: string
}

/** A parameter of a path: text, or a value that can be written in one way only. */
export type PathValue = string | number | bigint | boolean | Date
