/** Reads `?connectionParams=…`, which a browser's EventSource sends because it cannot set headers. */
import { HTTPError } from '../errors/errors.ts'
import { parseJson } from '../request/json.ts'
import type { RequestContext } from '../types/request.ts'

/** Gives null without any. Throws 400 for anything but a JSON object of strings. */
export function parseConnectionParams(ctx: RequestContext): Readonly<Record<string, string>> | null {
  const [text] = ctx.queryAll('connectionParams')
  if (text === undefined) return null
  let value: unknown
  try {
    value = parseJson(text, 1)
  } catch {
    throw malformedParams()
  }
  if (value === null) return null
  if (typeof value !== 'object' || Array.isArray(value)) throw malformedParams()
  if (Object.values(value).some((each) => typeof each !== 'string')) throw malformedParams()
  return value as Record<string, string>
}

function malformedParams(): HTTPError {
  return new HTTPError(400, 'connectionParams is not a JSON object of strings', { code: 'PARSE_ERROR' })
}
