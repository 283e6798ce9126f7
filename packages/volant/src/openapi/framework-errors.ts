/** The errors the framework itself gives for a route, by what the route asks of its requests. */
import { type ErrorCode, errorTable } from '../errors/errors.ts'
import type { Operation } from './operation.ts'

export interface Refusal {
  readonly code: ErrorCode
  readonly status: number
  readonly meaning: string
  /** The part of a request it is about, for names of components; '' where the status says enough. */
  readonly part: string
}

/** Where one status may have several of them. Those of a body come together. */
const parts: Partial<Record<ErrorCode, string>> = {
  E_VALIDATION: 'Schema',
  E_BAD_REQUEST: 'Path',
  E_QUERY_TOO_MANY_KEYS: 'Query',
  E_BODY_ENCODING: 'Body',
  E_BODY_MALFORMED: 'Body',
  E_BODY_TOO_MANY_KEYS: 'Body',
  E_JSON_DEPTH: 'Body',
  E_JSON_PROTO: 'Body',
  E_PARAM_TOO_LONG: 'Param',
}

/**
 * Those that depend on the request and on nothing else. What any server says of a malformed head, of a client that is
 * too slow or of too much load (400, 408, 503, …) is the same for every route, and not repeated here.
 */
export function refusalsOf({ schemas, streamed }: Operation, hasParams: boolean): Refusal[] {
  const { params, query, headers, cookies, body } = schemas
  const checked = [params, query, headers, cookies, body].some(({ length }) => length > 0)
  const codes: ErrorCode[] = []
  if (checked) codes.push('E_VALIDATION')
  if (hasParams) codes.push('E_BAD_REQUEST', 'E_PARAM_TOO_LONG')
  if (query.length > 0) codes.push('E_QUERY_TOO_MANY_KEYS')
  if (hasParams || query.length > 0) codes.push('E_TARGET_TOO_LONG')
  if (headers.length > 0 || cookies.length > 0) {
    codes.push('E_FIELD_LINE_TOO_LONG', 'E_HEAD_TOO_LARGE', 'E_TOO_MANY_FIELDS')
  }
  if (body.length > 0) {
    codes.push('E_BODY_ENCODING', 'E_BODY_MALFORMED', 'E_BODY_TOO_MANY_KEYS', 'E_JSON_DEPTH', 'E_JSON_PROTO')
    codes.push('E_BODY_TYPE')
  }
  if (body.length > 0 || streamed) codes.push('E_BODY_TOO_LARGE')
  return codes.map((code) => {
    const { status, meaning } = errorTable[code]
    return { code, status, meaning, part: parts[code] ?? '' }
  })
}
