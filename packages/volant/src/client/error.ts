/** A call that did not end in a declared reply. */
import type { ClientProblem } from './reply.ts'

/** What a `ClientError` is made of. */
export interface ClientErrorOptions {
  /** The reply, if there is one. */
  response?: Response | undefined
  /** Its content. */
  body?: unknown
  /** Its problem document, if it is one. */
  problem?: ClientProblem | undefined
  /** Why there is no reply, or what is wrong with it. */
  cause?: unknown
}

/** No reply, or one that the operation does not declare: what a caller cannot be expected to handle case by case. */
export class ClientError extends Error {
  /** What was called, `users.get`. */
  readonly operation: string
  /** Of the reply; 0 without one. */
  readonly status: number
  /** The problem document (RFC 9457), if the reply is one. */
  readonly problem: ClientProblem | undefined
  /** The content of the reply: parsed JSON or text; undefined for other types. */
  readonly body: unknown
  /** The reply. */
  readonly response: Response | undefined

  constructor(operation: string, message: string, options: ClientErrorOptions = {}) {
    super(`${operation}: ${message}`, { cause: options.cause })
    this.name = 'ClientError'
    this.operation = operation
    this.status = options.response?.status ?? 0
    this.problem = options.problem
    this.body = options.body
    this.response = options.response
  }
}
