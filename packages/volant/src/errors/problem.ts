import { HTTPError, type Issue, ValidationError } from './errors.ts'
import { phrases } from './phrases.ts'

/** The body of an error reply (RFC 9457 §3.1); `code`, `data` and `errors` are extension members. */
export interface Problem {
  /** A URI that names the kind of problem; `about:blank` says that the status does. */
  type: string
  /** The phrase of the status. */
  title: string
  /** Of the reply. */
  status: number
  /** The message of the error. */
  detail?: string
  /** Its machine-readable name. */
  code?: string
  /** What it carries. */
  data?: unknown
  /** Of E_VALIDATION: what is wrong, at most the first 100. */
  errors?: readonly Issue[]
}

/** What a client is told about `error`. Anything that is not an exposed `HTTPError` is told by its status alone. */
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

/** The body as JSON text; `data` that JSON cannot carry is left out. `detail` is for an error that has none to tell. */
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
