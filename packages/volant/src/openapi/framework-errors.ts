/** The errors that the framework itself gives for a route, by what the route reads of its requests. */
import { type ErrorCode, errorTable } from '../errors/errors.ts'
import type { RouteOperation } from './operation.ts'
import type { DocumentedError } from './problems.ts'

export interface FrameworkError extends DocumentedError {
  readonly status: number
  /** The part of the request that the error is about, for the name of a reply; empty if the status says it. */
  readonly part: string
}

/** The parts of errors that share a status with others. The errors of a body come together. */
const parts: Partial<Record<ErrorCode, string>> = {
  E_VALIDATION: 'Schema',
  E_BAD_REQUEST: 'Path',
  E_QUERY_TOO_MANY_KEYS: 'Query',
  E_BODY_ENCODING: 'Body',
  E_BODY_MALFORMED: 'Body',
  E_BODY_TOO_MANY_KEYS: 'Body',
  E_FORM_TOO_LARGE: 'Form',
  E_JSON_DEPTH: 'Body',
  E_JSON_PROTO: 'Body',
  E_PARAM_TOO_LONG: 'Param',
  E_WEBSOCKET_HANDSHAKE: 'Handshake',
  E_WEBSOCKET_KEY: 'Handshake',
}

/**
 * Gives the errors that a request may cause by itself. Any route may answer a malformed head, a slow client or too much
 * load (400, 408, 503, …): the document does not repeat that for every operation.
 */
export function frameworkErrorsOf({ schemas, route }: RouteOperation, hasParams: boolean): FrameworkError[] {
  const { query, headers, cookies, body } = schemas
  const codes: ErrorCode[] = []
  if (Object.values(schemas).some(({ length }) => length > 0)) codes.push('E_VALIDATION')
  if (hasParams) codes.push('E_BAD_REQUEST', 'E_PARAM_TOO_LONG')
  if (query.length > 0) codes.push('E_QUERY_TOO_MANY_KEYS')
  if (hasParams || query.length > 0) codes.push('E_TARGET_TOO_LONG')
  if (headers.length > 0 || cookies.length > 0)
    codes.push('E_FIELD_LINE_TOO_LONG', 'E_HEAD_TOO_LARGE', 'E_TOO_MANY_FIELDS')
  if (route.messages !== undefined) {
    codes.push('E_WEBSOCKET_HANDSHAKE', 'E_WEBSOCKET_KEY', 'E_ORIGIN_NOT_ALLOWED')
    codes.push('E_UPGRADE_REQUIRED', 'E_WEBSOCKET_VERSION')
  }
  const { consumes } = route
  if (consumes !== undefined) {
    codes.push('E_BODY_ENCODING', 'E_BODY_MALFORMED', 'E_BODY_TYPE')
    if (consumes.includes('application/x-www-form-urlencoded')) codes.push('E_BODY_TOO_MANY_KEYS')
    if (consumes.includes('multipart/form-data')) codes.push('E_FORM_TOO_LARGE')
  } else if (body.length > 0) {
    codes.push('E_BODY_ENCODING', 'E_BODY_MALFORMED', 'E_BODY_TOO_MANY_KEYS', 'E_JSON_DEPTH', 'E_JSON_PROTO')
    codes.push('E_BODY_TYPE')
  }
  if (
    body.length > 0 ||
    consumes !== undefined ||
    (route.bodyMode === 'stream' && route.messages === undefined)
  )
    codes.push('E_BODY_TOO_LARGE')
  return codes.map((code) => {
    const { status, meaning } = errorTable[code]
    const part = parts[code] ?? ''
    const named = part === 'Body' && consumes !== undefined ? 'Form' : part
    return { code, status, description: meaning, data: undefined, part: named }
  })
}
