/** The body of an operation: what `ctx.body` makes of a request, by content type. */
import { isFile, isObject } from '../schema/document.ts'
import { madeOfNothing } from '../schema/result.ts'
import { textOrJSON } from '../schema/text-or-json.ts'
import type { Components } from './components.ts'
import type { RouteOperation } from './operation.ts'
import type { OpenAPISchema, OpenAPIMedia, OpenAPIRequestBody } from './types.ts'

export function requestBodyOf(
  { schemas, name, route }: RouteOperation,
  hint: string,
  components: Components,
): OpenAPIRequestBody | undefined {
  // The outermost schema meets what a client sends; the schemas inside see its output.
  const [body] = schemas.body
  const { consumes } = route
  if (body === undefined && consumes !== undefined)
    return { required: true, content: Object.fromEntries(consumes.map((type) => [type, {}])) }
  if (body === undefined)
    return route.bodyMode === 'stream' ? { required: false, content: { '*/*': {} } } : undefined
  const where = `${name}: body`
  const raw = components.raw(body, 'input', where)
  const examples = route.examples?.body
  const media = (): OpenAPIMedia => ({
    schema: components.use(body, 'input', `${hint} body`, where),
    ...(examples !== undefined && { examples }),
  })
  const types = consumes ?? (raw === null ? ['application/json'] : contentTypesOf(raw))
  return {
    required: madeOfNothing(body) === null,
    content: Object.fromEntries(
      types.map((type) => [type, { ...media(), ...(type === 'multipart/form-data' && encodingOf(raw)) }]),
    ),
  }
}

/**
 * The media types that the schemas of files ask for. Of several the schema alone speaks: clients that are made from
 * documents, such as the page of this one, send a list as if it were one type.
 */
function encodingOf(raw: OpenAPISchema | null): Pick<OpenAPIMedia, 'encoding'> {
  const properties = isObject(raw?.['properties']) ? raw['properties'] : {}
  const encoding = Object.entries(properties).flatMap(([name, each]) => {
    const file = isObject(each) && each['type'] === 'array' ? each['items'] : each
    const [contentType, another] = isObject(file) && isFile(file) ? mediaTypesOf(file) : []
    return contentType === undefined || another !== undefined ? [] : [[name, { contentType }] as const]
  })
  return encoding.length === 0 ? {} : { encoding: Object.fromEntries(encoding) }
}

function mediaTypesOf({ contentMediaType, anyOf }: OpenAPISchema): string[] {
  if (typeof contentMediaType === 'string') return [contentMediaType]
  return Array.isArray(anyOf) ? anyOf.filter(isObject).flatMap(mediaTypesOf) : []
}

/** Besides JSON a server reads forms, in which every value is text, and text. */
function contentTypesOf(raw: OpenAPISchema): string[] {
  const types = ['application/json']
  if (isForm(raw)) types.push('application/x-www-form-urlencoded')
  if (textOrJSON(raw).text) types.push('text/plain')
  return types
}

function isForm({ type, properties }: OpenAPISchema): boolean {
  if (type !== 'object' || !isObject(properties)) return false
  const all = Object.values(properties)
  return all.length > 0 && all.every((each) => isObject(each) && each['type'] === 'string')
}
