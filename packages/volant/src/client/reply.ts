/** Turns a reply into a result: reads its content by its type, and checks that the operation declares it. */
import { ClientError } from './error.ts'
import { areText } from './table.ts'
import type { ClientIssue } from '../types/operation.ts'
import type { ClientRoute } from '../types/client-routes.ts'

/** A problem document (RFC 9457 §3.1) as it arrives. */
export interface ClientProblem {
  /** A URI that names the kind of problem. */
  type?: string
  /** The phrase of the status. */
  title?: string
  /** The status of the reply. */
  status?: number
  /** The error in words. */
  detail?: string
  /** Its machine-readable name. */
  code?: string
  /** The data of the error. */
  data?: unknown
  /** The issues of an E_VALIDATION error. */
  errors?: readonly ClientIssue[]
}

const problemType = 'application/problem+json'
const jsonType = /^application\/(.+\+)?json$/

/**
 * Gives the result of a call. Throws `ClientError` for a reply that is not declared, or does not match its content
 * type.
 */
export async function resultOf(
  response: Response,
  operation: string,
  [method, , declares, mediaType]: ClientRoute,
): Promise<{ data: unknown; [member: string]: unknown }> {
  const { status } = response
  const type = essenceOf(response.headers.get('content-type') ?? '')
  const isJSONType = jsonType.test(type)
  const hasStatuses = declares?.some(Number)
  const isJSON = !mediaType || mediaType === 'application/json'
  let data: unknown
  if (method !== 'HEAD' && ![204, 205, 304].includes(status)) {
    try {
      if (isJSONType) data = await response.json()
      // Some proxies leave out the Content-Length of an empty reply.
      else if (/^text\/(?!event-stream$)/.test(type) || (!type && hasStatuses && isJSON))
        data = (await response.text()) || (type ? '' : undefined)
      // A reply without a content type has content only where the handler's stream was given none.
      else if (response.headers.get('content-length') !== '0') data = response.body ?? undefined
    } catch (cause) {
      throw new ClientError(operation, `the reply ${status} cannot be read`, { response, cause })
    }
  }
  const problem =
    type === problemType && data && typeof data === 'object' ? problemOf(data as ClientProblem) : undefined
  const { code, detail } = problem ?? {}
  if (status >= 400 && code && (!declares || declares.includes(`${code} ${status}`))) {
    const failure = { ok: false, status, data: problem!.data, response, code, detail }
    return code === 'E_VALIDATION' ? { ...failure, issues: problem!.errors } : failure
  }
  const isDeclared = hasStatuses ? declares!.includes(status) : response.ok
  const isTyped =
    data === undefined ||
    (mediaType ? type === essenceOf(mediaType) : !hasStatuses || type === 'text/plain') ||
    (isJSON && isJSONType && type !== problemType)
  if (isDeclared && isTyped) {
    return { ok: status < 400, status, data, response }
  }
  const body = data instanceof ReadableStream ? void data.cancel() : data
  // RegExp.test converts a number to text (ECMA-262 §22.2.6.16), in fewer bytes than String().
  const isRedirect = response.type === 'opaqueredirect' || /^30[^04]/.test(status as never)
  const words = isRedirect
    ? "it leads elsewhere: init.redirect 'follow' goes there"
    : (detail ?? problem?.title ?? response.statusText)
  throw new ClientError(
    operation,
    isDeclared && !problem
      ? `the reply ${status} is ${type || 'of no type'}, not ${mediaType ?? 'JSON or plain text'}: did the API send it?`
      : `the reply ${status} is not declared${words && `: ${words}`}`,
    { response, body, problem },
  )
}

/** Removes members that do not have their type (RFC 9457 §3.1: such members are ignored). */
function problemOf(given: ClientProblem): ClientProblem {
  const problem = { ...given } as Record<string, unknown>
  for (const name of ['type', 'title', 'status', 'detail', 'code']) {
    if (typeof problem[name] !== (name === 'status' ? 'number' : 'string')) delete problem[name]
  }
  const { errors = [] } = problem
  problem.errors = (Array.isArray(errors) ? errors : []).filter((each: ClientIssue | null) =>
    areText(each?.in, each?.pointer, each?.detail),
  )
  return problem
}

function essenceOf(mediaType: string): string {
  return mediaType.split(';')[0]!.trim().toLowerCase()
}
