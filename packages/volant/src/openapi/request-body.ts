/** The body of an operation: what `ctx.body` makes of a request, by content type. */
import { madeOfNothing } from '../schema/is-void.ts'
import type { Components } from './components.ts'
import type { JSONSchemaObject, OpenAPIMedia, OpenAPIRequestBody } from './types.ts'
import type { Operation } from './operation.ts'
import { isObject } from '../schema/document.ts'
import { kindsOf } from './text-or-json.ts'

export function requestBodyOf(
  operation: Operation,
  hint: string,
  components: Components,
): OpenAPIRequestBody | undefined {
  // What a client sends meets the outermost; those inside see what it made of that.
  const [body] = operation.schemas.body
  if (body === undefined) {
    return operation.streamed ? { required: false, content: { '*/*': {} } } : undefined
  }
  const where = `${operation.name}: body`
  const raw = components.raw(body, 'input', where)
  const media = (): OpenAPIMedia => ({
    schema: components.use(body, 'input', `${hint} body`, where),
    ...(operation.examples.body === undefined ? {} : { examples: operation.examples.body }),
  })
  const types = raw === null ? ['application/json'] : typesOf(raw)
  return {
    required: madeOfNothing(body) === null,
    content: Object.fromEntries(types.map((type) => [type, media()])),
  }
}

/** Forms, where every value is text, and text are read as well as JSON. */
function typesOf(raw: JSONSchemaObject): string[] {
  const types = ['application/json']
  if (isForm(raw)) types.push('application/x-www-form-urlencoded')
  if (kindsOf(raw).text) types.push('text/plain')
  return types
}

function isForm({ type, properties }: JSONSchemaObject): boolean {
  if (type !== 'object' || !isObject(properties)) return false
  const all = Object.values(properties)
  return all.length > 0 && all.every((each) => isObject(each) && each['type'] === 'string')
}
