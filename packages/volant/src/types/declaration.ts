/** The metadata of middleware and the arguments of listeners. */
import type { Context } from './context.ts'
import type { DeclaredErrors } from './parts.ts'
import type { SendHook } from './send-hook.ts'

/** The outcome of a request. */
export interface ResponseInfo {
  /** The status of the reply; 499 when the client disconnected before there was one. */
  readonly status: number
  /** The milliseconds from the call of the first middleware until the end of the reply was handed to the system. */
  readonly duration: number
  /** The error that was thrown, if any, also where it became an error reply as usual. */
  readonly error: unknown
  /** True where the reply was not complete: the client disconnected, its time was over, or its source failed. */
  readonly aborted: boolean
}

/**
 * The framework calls this once for each request, when its handler is done and its reply is complete. An error that it
 * throws, or rejects with, is reported.
 */
export type ResponseListener = (ctx: Context, info: ResponseInfo) => void

/** The security schemes by name, as Security Scheme Objects of OpenAPI 3.1 §4.8.27. */
export type SecuritySchemes = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The metadata of a middleware. */
export interface Declaration {
  /** The errors that it replies with, by code. */
  errors?: DeclaredErrors | undefined
  /**
   * The security schemes that it enforces, by name. A request needs all schemes of an object; with an array it needs
   * those of any one object in it, as `[{ bearer }, { cookie }]`. An empty object in the array accepts requests without
   * any.
   */
  security?: SecuritySchemes | readonly SecuritySchemes[] | undefined
  /**
   * The scopes that a request needs. The API's document names them beside the schemes that know scopes: those of types
   * oauth2 and openIdConnect, and bearer tokens.
   */
  scopes?: readonly string[] | undefined
  /** The framework calls this when the reply of a request that it ran for is complete; see `onResponse` of a scope. */
  onResponse?: ResponseListener | undefined
  /** The framework calls this with every reply of the routes behind it, before it leaves; see `onSend` of a scope. */
  onSend?: SendHook | undefined
}
