/** Documents the replies of an operation: those it declares, its declared errors, and the errors of the framework. */
import { madeOnce } from '../schema/made-once.ts'
import { textOrJSON } from '../schema/text-or-json.ts'
import type { Schema } from '../types/parts.ts'
import type { Components } from './components.ts'
import { type FrameworkError, frameworkErrorsOf } from './framework-errors.ts'
import { baseOfText } from './names.ts'
import type { RouteOperation } from './operation.ts'
import { type DocumentedError, phraseOf, problemResponse } from './problems.ts'
import { sortedByName } from './sorted.ts'
import type { OpenAPIMedia, OpenAPIReference, OpenAPIResponse } from './types.ts'

export class ResponseObjects {
  readonly #components: Components
  readonly #shared = new Map<string, OpenAPIResponse>()

  constructor(components: Components) {
    this.#components = components
  }

  /** Gives the replies by status; `hint` names schemas without a name. */
  of(
    operation: RouteOperation,
    hint: string,
    hasParams: boolean,
  ): Record<string, OpenAPIResponse | OpenAPIReference> {
    const all: Record<string, OpenAPIResponse | OpenAPIReference> = {}
    const { mediaType, responses, messages } = operation.route
    const replies = Object.entries(responses ?? {})
    if (messages !== undefined) all[101] = { description: 'The connection is a WebSocket (RFC 6455).' }
    else if (replies.length === 0) {
      const content = mediaType === undefined ? {} : { content: { [mediaType]: {} } }
      all['2XX'] = { description: 'Success.', ...content }
    }
    for (const [status, schema] of replies)
      all[status] = this.#declared(operation, hint, Number(status), schema)
    const declared = this.#declaredErrors(operation, hint)
    const framework = byStatus(frameworkErrorsOf(operation, hasParams))
    for (const status of new Set([...declared.keys(), ...framework.keys()])) {
      const own = declared.get(status) ?? []
      const others = framework.get(status) ?? []
      const reply = all[status] as OpenAPIResponse | undefined
      if (reply === undefined && own.length === 0) all[status] = this.#share(status, others)
      else {
        const problem = problemResponse(status, [...own, ...others])
        all[status] = { ...problem, content: { ...reply?.content, ...problem.content } }
      }
    }
    // Integer keys of an object are ascending, and `2XX` comes after them.
    return all
  }

  /** Gives `components/responses`. */
  finish(): Record<string, OpenAPIResponse> {
    return sortedByName(this.#shared)
  }

  #declared(
    { name, route }: RouteOperation,
    hint: string,
    status: number,
    schema: Schema | null,
  ): OpenAPIResponse {
    const description = phraseOf(status)
    if (schema === null) return { description }
    const where = `${name}: response ${status}`
    const examples = route.examples?.response?.[status]
    // The base is not `response`: generators of clients give that name to the whole reply.
    const base = status === 200 ? `${hint} output` : `${hint} output ${status}`
    const media = (): OpenAPIMedia => ({
      schema: this.#components.use(schema, 'output', base, where),
      ...(examples !== undefined && { examples }),
    })
    if (route.mediaType !== undefined) return { description, content: { [route.mediaType]: media() } }
    const raw = this.#components.raw(schema, 'output', where)
    const { text, json } = raw === null ? { text: false, json: true } : textOrJSON(raw)
    // Text may be sent as JSON, too: by `ctx.json`, or if it is a Date before it is written. What is likelier comes first.
    const types = json
      ? ['application/json', ...(text ? ['text/plain'] : [])]
      : ['text/plain', 'application/json']
    return { description, content: Object.fromEntries(types.map((type) => [type, media()])) }
  }

  #declaredErrors({ name, route }: RouteOperation, hint: string): Map<number, DocumentedError[]> {
    return byStatus(
      Object.entries(route.errors).map(([code, { status, description, data, headers }]) => {
        const base = `${hint} ${code.toLowerCase()}`
        const where = `${name}: errors.${code}.data`
        const schema = data === undefined ? data : this.#components.use(data, 'output', base, where)
        return { status, code, description, data: schema, headers }
      }),
    )
  }

  /** The name says which errors the reply has, so that no other route changes it. */
  #share(status: number, errors: readonly FrameworkError[]): OpenAPIReference {
    const parts = new Set(errors.map(({ part }) => part))
    const name = baseOfText(phraseOf(status)) + [...parts].join('')
    madeOnce(this.#shared, name, () => problemResponse(status, errors))
    return { $ref: `#/components/responses/${name}` }
  }
}

function byStatus<E extends { readonly status: number }>(errors: readonly E[]): Map<number, E[]> {
  const lists = new Map<number, E[]>()
  for (const error of errors) madeOnce(lists, error.status, (): E[] => []).push(error)
  return lists
}
