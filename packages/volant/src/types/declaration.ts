/** What middleware and listeners declare: security schemes, errors, and who is told of the end of a request. */
import type { Context } from './context.ts'
import type { DeclaredErrors } from './parts.ts'

/** How a request ended. */
export interface ResponseInfo {
  /** Of the reply; 499 when the client left before there was one. */
  readonly status: number
  /** Milliseconds from the call of the first middleware to the end of the reply, as it was handed to the system. */
  readonly duration: number
  /** What was thrown, if anything: also where it became an orderly error reply. */
  readonly error: unknown
  /** The reply was not complete: the client left, its time was over, or its source failed. */
  readonly aborted: boolean
}

/** Told once a request, after its handler is done and its reply is complete. What it throws, or rejects with, is reported. */
export type ResponseListener = (ctx: Context, info: ResponseInfo) => void

/** Security schemes by name: Security Scheme Objects of OpenAPI 3.1 §4.8.27. */
export type SecuritySchemes = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What a middleware brings besides its function. */
export interface Declaration {
  /** Errors it replies with, by code. */
  errors?: DeclaredErrors | undefined
  /**
   * Security schemes it enforces, by name: all of an object, or any one object of an array. `[{ bearer }, { cookie }]`
   * takes either; an empty object in the array takes requests without any.
   */
  security?: SecuritySchemes | readonly SecuritySchemes[] | undefined
  /** Told when the reply of a request it ran for is complete; see `onResponse` of a scope. */
  onResponse?: ResponseListener | undefined
}
