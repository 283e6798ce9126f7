/** The replies of an operation: those of its contract, its declared errors, and the framework's own. */
import { phrases } from '../errors/phrases.ts'
import type { Schema } from '../types/parts.ts'
import type { Components } from './components.ts'
import type { JSONSchemaObject, OpenAPIMedia, OpenAPIReference, OpenAPIResponse } from './types.ts'
import { kindsOf } from './text-or-json.ts'
import { baseOfText } from './names.ts'
import type { Operation } from './operation.ts'
import { type Refusal, refusalsOf } from './framework-errors.ts'

/** Problem documents (RFC 9457) as components: of every error, and of a request that its schemas reject. */
export const problemSchemas: Readonly<Record<string, JSONSchemaObject>> = {
  Problem: {
    type: 'object',
    description: 'What went wrong (RFC 9457).',
    properties: {
      type: { type: 'string', description: 'A URI; `about:blank` says that the status tells all.' },
      title: { type: 'string', description: 'The phrase of the status.' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      code: { type: 'string', description: 'Machine-readable name of the error.' },
    },
    required: ['type', 'title', 'status'],
  },
  ValidationProblem: {
    description: 'The request is not what its schemas ask for.',
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: {
      code: { const: 'E_VALIDATION' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            in: { enum: ['params', 'query', 'headers', 'cookies', 'body'] },
            pointer: { type: 'string', description: 'Where in that part: a JSON Pointer as URI fragment.' },
            detail: { type: 'string' },
          },
          required: ['in', 'pointer', 'detail'],
        },
      },
    },
    required: ['code', 'errors'],
  },
}

/** An error as a document tells of it. */
interface Told {
  readonly code: string
  readonly description: string | undefined
  readonly data: JSONSchemaObject | undefined
}

export class Responses {
  readonly #components: Components
  /** The framework's own, by name. */
  readonly #own = new Map<string, OpenAPIResponse>()

  constructor(components: Components) {
    this.#components = components
  }

  of(
    operation: Operation,
    hint: string,
    hasParams: boolean,
  ): Record<string, OpenAPIResponse | OpenAPIReference> {
    const all = new Map<string, OpenAPIResponse | OpenAPIReference>()
    if (operation.responses.length === 0) all.set('2XX', undeclared(operation))
    for (const [status, schema] of operation.responses) {
      all.set(String(status), this.#success(operation, hint, status, schema))
    }
    const errors = this.#errors(operation, hint)
    const own = new Map<number, (Told & Pick<Refusal, 'part'>)[]>()
    for (const { code, status, meaning, part } of refusalsOf(operation, hasParams)) {
      put(own, status, { code, description: meaning, data: undefined, part })
    }
    for (const status of [...new Set([...errors.keys(), ...own.keys()])].toSorted((a, b) => a - b)) {
      const declared = errors.get(status)
      const framework = own.get(status) ?? []
      const replied = all.get(String(status))
      if (replied !== undefined) {
        all.set(String(status), beside(replied, problem(status, [...(declared ?? []), ...framework])))
      } else if (declared === undefined) all.set(String(status), this.#shared(status, framework))
      else all.set(String(status), problem(status, [...declared, ...framework]))
    }
    // Integer keys of an object are ascending in any case, and `2XX` comes last.
    return Object.fromEntries(all)
  }

  /** `components/responses`. */
  finish(): Record<string, OpenAPIResponse> {
    return Object.fromEntries([...this.#own].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  #success(operation: Operation, hint: string, status: number, schema: Schema | null): OpenAPIResponse {
    const description = phrases[status] ?? `Status ${status}`
    if (schema === null) return { description }
    const where = `${operation.name}: response ${status}`
    const raw = this.#components.raw(schema, 'output', where)
    const examples = operation.examples.response?.[status]
    // Not `response`: generators of clients call what they make of the whole reply so.
    const name = status === 200 ? `${hint} output` : `${hint} output ${status}`
    const media = (): OpenAPIMedia => ({
      schema: this.#components.use(schema, 'output', name, where),
      ...(examples === undefined ? {} : { examples }),
    })
    const content: Record<string, OpenAPIMedia> = {}
    if (operation.mediaType !== undefined) return { description, content: { [operation.mediaType]: media() } }
    const { text, json } = raw === null ? { text: false, json: true } : kindsOf(raw)
    if (json) content['application/json'] = media()
    if (text) content['text/plain'] = media()
    // `ctx.json` of a text, and what becomes text in JSON alone, as a Date.
    if (!json) content['application/json'] = media()
    return { description, content }
  }

  #errors(operation: Operation, hint: string): Map<number, Told[]> {
    const byStatus = new Map<number, Told[]>()
    for (const [code, { status, description, data }] of operation.errors) {
      put(byStatus, status, {
        code,
        description,
        data:
          data === undefined
            ? undefined
            : this.#components.use(
                data,
                'output',
                `${hint} ${code.toLowerCase()}`,
                `${operation.name}: errors.${code}.data`,
              ),
      })
    }
    return byStatus
  }

  /** Its name says what it has, so that no other route changes it. */
  #shared(status: number, errors: readonly (Told & Pick<Refusal, 'part'>)[]): OpenAPIReference {
    const parts = new Set(errors.map(({ part }) => part))
    const name = baseOfText(phrases[status] ?? `Status ${status}`) + [...parts].join('')
    if (!this.#own.has(name)) this.#own.set(name, problem(status, errors))
    return { $ref: `#/components/responses/${name}` }
  }
}

/** The route does not say what it replies. */
function undeclared({ mediaType }: Operation): OpenAPIResponse {
  return { description: 'Success.', ...(mediaType === undefined ? {} : { content: { [mediaType]: {} } }) }
}

/** A status that is a reply of the contract as well as that of an error. */
function beside(reply: OpenAPIResponse | OpenAPIReference, error: OpenAPIResponse): OpenAPIResponse {
  return { ...error, content: { ...(reply as OpenAPIResponse).content, ...error.content } }
}

function problem(status: number, errors: readonly Told[]): OpenAPIResponse {
  const plain = errors.filter(({ code, data }) => data === undefined && code !== 'E_VALIDATION')
  const choices: JSONSchemaObject[] = []
  if (errors.some(({ code }) => code === 'E_VALIDATION')) {
    choices.push({ $ref: '#/components/schemas/ValidationProblem' })
  }
  for (const { code, data } of errors) {
    if (data !== undefined) choices.push(extended({ code: { const: code }, data }))
  }
  if (plain.length > 0) choices.push(extended({ code: codes(plain) }))
  const phrase = phrases[status] ?? `Status ${status}`
  const lines = errors.map(({ code, description }) =>
    description === undefined ? `- \`${code}\`` : `- \`${code}\`: ${description}`,
  )
  return {
    description: `${phrase}\n\n${lines.join('\n')}`,
    content: {
      'application/problem+json': {
        schema: choices.length === 1 ? (choices[0] as JSONSchemaObject) : { oneOf: choices },
      },
    },
  }
}

function codes(errors: readonly Told[]): JSONSchemaObject {
  const [first] = errors
  return errors.length === 1 ? { const: first?.code } : { enum: errors.map(({ code }) => code) }
}

function extended(properties: Record<string, JSONSchemaObject>): JSONSchemaObject {
  return {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties,
    required: Object.keys(properties),
  }
}

function put<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
