/** Gives `ctx.request`: the request as the web platform knows it. */
import { BodyKind } from '@volant/engine'
import { checkEncoding } from './body.ts'
import { errorTable, HTTPError, refusal } from '../errors/errors.ts'
import { parseMediaType } from './media-type.ts'
import type { RequestContext } from '../types/request.ts'

export function webRequest(ctx: RequestContext): Request {
  const { exchange, method } = ctx
  const raw = exchange.rawHeaders()
  const headers = new Headers()
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] as string, raw[at + 1] as string)
  const init: RequestInit & { duplex?: 'half' } = { headers, signal: ctx.signal }
  if (!forbidden.test(method)) init.method = method
  if (method !== 'GET' && method !== 'HEAD' && exchange.bodyKind !== BodyKind.none) {
    init.body = ctx.bodyStream
    init.duplex = 'half'
  }
  const request = coded(new Request(urlOf(ctx), init))
  return init.method === undefined ? Object.defineProperty(request, 'method', { value: method }) : request
}

/** `formData` and `json` fail as `ctx.body` does: whatever a client sent, it is no 500. */
function coded(request: Request): Request {
  return Object.defineProperties(request, {
    formData: { value: () => readForm(request) },
    json: { value: () => readJson(request) },
    clone: { value: () => coded(Request.prototype.clone.call(request)) },
  })
}

const forms: readonly (string | undefined)[] = ['multipart/form-data', 'application/x-www-form-urlencoded']

async function readForm(request: Request): Promise<FormData> {
  const { headers, body, bodyUsed } = request
  const read = () => Request.prototype.formData.call(request)
  // The platform itself refuses a second read.
  if (bodyUsed || body?.locked === true) return read()
  checkEncoding(headers.get('content-encoding') ?? undefined)
  const type = headers.get('content-type') ?? ''
  if (!forms.includes(parseMediaType(type)?.essence)) {
    throw refusal(
      'E_BODY_TYPE',
      `a form is ${forms.join(' or ')}, not ${type === '' ? 'without a type' : type}`,
    )
  }
  try {
    return await read()
  } catch (error) {
    throw error instanceof TypeError ? malformed('the body is not a valid form', error) : error
  }
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await Request.prototype.json.call(request)
  } catch (error) {
    throw error instanceof SyntaxError ? malformed('the body is not valid JSON', error) : error
  }
}

function malformed(detail: string, cause: Error): HTTPError {
  return new HTTPError(errorTable.E_BODY_MALFORMED.status, detail, { code: 'E_BODY_MALFORMED', cause })
}

/** Matches methods that the constructor of `Request` refuses (Fetch §2.2.1). */
const forbidden = /^(?:CONNECT|TRACE|TRACK)$/

/** A host that HTTP allows may be none to a URL (`a%zz`, `1.2.3.4.5`): clients choose it, so it is no error here. */
function urlOf({ protocol, host, path, url }: RequestContext): string {
  const target = path === '*' ? '/' : url
  const whole = `${protocol}://${host}${target}`
  return host !== '' && URL.canParse(whole) ? whole : `${protocol}://localhost${target}`
}
