/** The error of a call whose reply is missing or not declared. */
import type { ClientProblem } from './reply.ts'

/** The properties of a new `ClientError`. */
export interface ClientErrorOptions {
  /** The reply, if there is one. */
  response?: Response | undefined
  /** The content of the reply. */
  body?: unknown
  /** The problem document, if the reply is one. */
  problem?: ClientProblem | undefined
  /** The error behind this one: there is no reply, or something is wrong with it. */
  cause?: unknown
}

/** A call rejects with this error if there is no reply, or one that the operation does not declare. */
export class ClientError extends Error {
  /** The name of the operation, such as `users.get`. */
  declare readonly operation: string
  /** The status of the reply; 0 without one. */
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
