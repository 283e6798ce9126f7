/** Documents errors: each is a problem document (RFC 9457), told apart by its `code`. */
import { phrases } from '../errors/phrases.ts'
import type { OpenAPIHeader, OpenAPISchema, OpenAPIResponse } from './types.ts'

/** The components for the problem of any error, and for the problem of a request that its schemas reject. */
export const problemSchemas: Readonly<Record<string, OpenAPISchema>> = {
  Problem: {
    type: 'object',
    description: 'What went wrong (RFC 9457).',
    properties: {
      type: { type: 'string', description: 'A URI; `about:blank` means that the status says it all.' },
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

export interface DocumentedError {
  readonly code: string
  readonly description: string | undefined
  readonly data: OpenAPISchema | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Gives the reply for all errors of one status. */
export function problemResponse(status: number, errors: readonly DocumentedError[]): OpenAPIResponse {
  const isValidation = ({ code }: DocumentedError): boolean => code === 'E_VALIDATION'
  const plain = errors.filter((error) => error.data === undefined && !isValidation(error))
  const choices: OpenAPISchema[] = []
  if (errors.some(isValidation)) choices.push({ $ref: '#/components/schemas/ValidationProblem' })
  for (const { code, data } of errors)
    if (data !== undefined) choices.push(problemWith({ code: { const: code }, data }))
  const [first, ...more] = plain.map(({ code }) => code)
  if (first !== undefined)
    choices.push(problemWith({ code: more.length === 0 ? { const: first } : { enum: [first, ...more] } }))
  const lines = errors.map(({ code, description }) =>
    description === undefined ? `- \`${code}\`` : `- \`${code}\`: ${description}`,
  )
  const [only, ...others] = choices
  const schema = only !== undefined && others.length === 0 ? only : { oneOf: choices }
  const headers = errors.flatMap((error) => Object.entries(error.headers ?? {}))
  return {
    description: `${phraseOf(status)}\n\n${lines.join('\n')}`,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(headerObject)) }),
    content: { 'application/problem+json': { schema } },
  }
}

/** Gives the meaning of a status (RFC 9110 §15). */
export function phraseOf(status: number): string {
  return phrases[status] ?? `Status ${status}`
}

function headerObject([name, description]: readonly [string, string]): [string, OpenAPIHeader] {
  return [name, { description, schema: { type: 'string' } }]
}

function problemWith(properties: Record<string, OpenAPISchema>): OpenAPISchema {
  return {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties,
    required: Object.keys(properties),
  }
}
