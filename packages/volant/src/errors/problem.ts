import { HTTPError, type Issue, ValidationError } from './errors.ts'
import { phrases } from './phrases.ts'

/** The body of an error reply (RFC 9457 §3.1); `code`, `data` and `errors` are extension members. */
export interface Problem {
  /** A URI that names the kind of problem. With `about:blank` the status says it all. */
  type: string
  /** The phrase of the status. */
  title: string
  /** The status of the reply. */
  status: number
  /** The message of the error. */
  detail?: string
  /** Its machine-readable name. */
  code?: string
  /** The data of the error. */
  data?: unknown
  /** The issues of an E_VALIDATION error, at most the first 100. */
  errors?: readonly Issue[]
}

/** Gives what a client may know about `error`. An error that is not an exposed `HTTPError` shows its status alone. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof HTTPError)) return { type: 'about:blank', title: phrases[500] ?? '', status: 500 }
  const problem: Problem = {
    type: 'about:blank',
    title: phrases[error.status] ?? 'Error',
    status: error.status,
  }
  if (!error.expose) return problem
  if (error.message !== problem.title) problem.detail = error.message
  if (error.code !== undefined) problem.code = error.code
  if (error.data !== undefined) problem.data = error.data
  if (error instanceof ValidationError) problem.errors = error.issues
  return problem
}

/**
 * Gives the body as JSON text, without `data` that JSON cannot carry. `detail` is added where the error itself shows
 * none.
 */
export function problemText(error: unknown, detail: string | null = null): string {
  const problem = problemOf(error)
  if (detail !== null) problem.detail = detail
  try {
    return JSON.stringify(problem)
  } catch {
    delete problem.data
    return JSON.stringify(problem)
  }
}
