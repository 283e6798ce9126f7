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

/** A call rejects with it if there is no reply, or one that the operation does not declare. */
export class ClientError extends Error {
  /** What was called, `users.get`. */
  declare readonly operation: string
  /** Of the reply; 0 without one. */
  declare readonly status: number
  /** The problem document (RFC 9457), if the reply is one. */
  declare readonly problem: ClientProblem | undefined
  /** The content of the reply: parsed JSON or text; undefined for other types. */
  declare readonly body: unknown
  /** The reply. */
  declare readonly response: Response | undefined

  constructor(
    operation: string,
    message: string,
    { response, body, problem, cause }: ClientErrorOptions = {},
  ) {
    super(`${operation}: ${message}`, { cause })
    const name = 'ClientError'
    Object.assign(this, { name, operation, status: response?.status ?? 0, problem, body, response })
  }
}
