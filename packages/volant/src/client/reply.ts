/** From a reply to a result: its content by its type, and whether the operation declares it. */
import { ClientError } from './error.ts'
import type { ClientRoute } from './table.ts'
import type { ClientIssue } from './types.ts'

/** A problem document (RFC 9457 §3.1) as it arrives. */
export interface ClientProblem {
  /** A URI that names the kind of problem. */
  type?: string
  /** The phrase of the status. */
  title?: string
  /** Of the reply. */
  status?: number
  /** The error in words. */
  detail?: string
  /** Its machine-readable name. */
  code?: string
  /** What it carries. */
  data?: unknown
  /** Of E_VALIDATION: what is wrong. */
  errors?: readonly ClientIssue[]
}

const problemType = 'application/problem+json'
const jsonType = /^application\/(?:[^/]+\+)?json$/
const memberTypes = { type: 'string', title: 'string', status: 'number', detail: 'string', code: 'string' }

/** What the call gives. Throws `ClientError` for a reply that is not declared, or not what its type says. */
export async function resultOf(
  response: Response,
  operation: string,
  [method, , declares, mediaType]: ClientRoute,
): Promise<{ data: unknown; [member: string]: unknown }> {
  const { status } = response
  const type = essenceOf(response.headers.get('content-type') ?? '')
  const hasStatuses = declares?.some(Number)
  const isJSON = !mediaType || mediaType === 'application/json'
  const data = await contentOf(response, type, method, operation, hasStatuses && isJSON)
  const problem =
    type === problemType && data && typeof data === 'object' ? problemOf(data as ClientProblem) : undefined
  const { code, detail } = problem ?? {}
  if (status >= 400 && code && (!declares || declares.includes(`${code} ${status}`))) {
    const failure = { ok: false, status, code, data: problem?.data, detail, response }
    return code === 'E_VALIDATION' ? { ...failure, issues: problem?.errors ?? [] } : failure
  }
  const isDeclared = hasStatuses ? declares?.includes(status) : response.ok
  const isTyped =
    data === undefined ||
    (mediaType ? type === essenceOf(mediaType) : !hasStatuses || type === 'text/plain') ||
    (isJSON && type !== problemType && jsonType.test(type))
  if (isDeclared && isTyped) {
    return status < 400
      ? { ok: true, status, data, response }
      : { ok: false, status, code: undefined, data, detail: undefined, response }
  }
  const body = data instanceof ReadableStream ? void data.cancel() : data
  const isRedirect = response.type === 'opaqueredirect' || (status > 300 && status < 400 && status !== 304)
  const words = isRedirect
    ? "it leads elsewhere, and init: { redirect: 'follow' } would go there"
    : (detail ?? problem?.title ?? response.statusText)
  throw new ClientError(
    operation,
    isDeclared && !problem
      ? `the reply ${status} is ${type || 'of no type'}, not ${mediaType ?? 'JSON or plain text'}: did the API send it?`
      : `the reply ${status} is not declared${words && `: ${words}`}`,
    { response, body, problem },
  )
}

/** Without what is not of the type it has to have (RFC 9457 §3.1: such members are ignored). */
function problemOf(given: ClientProblem): ClientProblem {
  const problem = { ...given } as Record<string, unknown>
  for (const [name, type] of Object.entries(memberTypes)) {
    if (typeof problem[name] !== type) delete problem[name]
  }
  const { errors = [] } = problem
  problem.errors = (Array.isArray(errors) ? errors : []).filter((each: Record<string, unknown> | null) =>
    ['in', 'pointer', 'detail'].every((name) => typeof each?.[name] === 'string'),
  )
  return problem
}

function essenceOf(mediaType: string): string {
  return mediaType.split(';')[0]!.trim().toLowerCase()
}

async function contentOf(
  response: Response,
  type: string,
  method: string,
  operation: string,
  isRead: boolean | undefined,
): Promise<unknown> {
  if (method === 'HEAD' || [204, 205, 304].includes(response.status)) return undefined
  try {
    if (jsonType.test(type)) return await response.json()
    if (/^text\/(?!event-stream$)/.test(type)) return await response.text()
    // Not every proxy says that there is nothing.
    if (!type && isRead) return (await response.text()) || undefined
  } catch (cause) {
    throw new ClientError(operation, `the reply ${response.status} cannot be read`, { response, cause })
  }
  // Without a type there is content only where a stream was given none.
  return response.headers.get('content-length') === '0' ? undefined : (response.body ?? undefined)
}
