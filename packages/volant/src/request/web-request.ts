/** Gives `ctx.request`: the request as the web platform knows it. */
import { BodyKind } from '@volant/engine'
import { checkEncoding } from './body.ts'
import { errorTable, HTTPError, refusal } from '../errors/errors.ts'
import { parseMediaType } from './media-type.ts'
import type { RequestContext, RouteLimits } from '../types/request.ts'

/** Gives the `FormData` of a body. */
export type FormDataOf = (bytes: Buffer, type: string, limits: RouteLimits) => Promise<FormData>

export function webRequest(ctx: RequestContext, formDataOf: FormDataOf): Request {
  const { exchange, method } = ctx
  const raw = exchange.rawHeaders()
  const headers = new Headers()
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] as string, raw[at + 1] as string)
  // What follows reads the body as it was before.
  if (ctx.rare?.decoder) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const init: RequestInit & { duplex?: 'half' } = { headers, signal: ctx.signal }
  if (!forbidden.test(method)) init.method = method
  if (method !== 'GET' && method !== 'HEAD' && exchange.bodyKind !== BodyKind.none) {
    init.body = ctx.bodyStream
    init.duplex = 'half'
  }
  const parse = (bytes: Buffer, type: string) => formDataOf(bytes, type, ctx.route.limits)
  const request = coded(new Request(urlOf(ctx), init), parse)
  return init.method === undefined ? Object.defineProperty(request, 'method', { value: method }) : request
}

type Parse = (bytes: Buffer, type: string) => Promise<FormData>

/**
 * `formData` and `json` fail as `ctx.body` does: whatever a client sent, it is no 500. `formData` is read by the parser
 * of `ctx.form()`, which has limits; the platform's own has none.
 */
function coded(request: Request, parse: Parse): Request {
  return Object.defineProperties(request, {
    formData: { value: () => readForm(request, parse) },
    json: { value: () => readJson(request) },
    clone: { value: () => coded(Request.prototype.clone.call(request), parse) },
  })
}

const forms: readonly (string | undefined)[] = ['multipart/form-data', 'application/x-www-form-urlencoded']

async function readForm(request: Request, parse: Parse): Promise<FormData> {
  const { headers, body, bodyUsed } = request
  // The platform itself refuses a second read.
  if (bodyUsed || body?.locked === true) return Request.prototype.formData.call(request)
  checkEncoding(headers.get('content-encoding') ?? undefined)
  const type = headers.get('content-type') ?? ''
  if (!forms.includes(parseMediaType(type)?.essence)) {
    throw refusal(
      'E_BODY_TYPE',
      `a form is ${forms.join(' or ')}, not ${type === '' ? 'without a type' : type}`,
    )
  }
  return parse(Buffer.from(await Request.prototype.arrayBuffer.call(request)), type)
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
