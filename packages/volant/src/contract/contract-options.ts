/** Checks the part of a route's options that its callers see: replies, errors, and descriptions of them. */
import { type ErrorCode, errorTable, VolantError } from '../errors/errors.ts'
import type { FormType } from '../types/form.ts'
import { bad } from '../options/bad-option.ts'
import { parseMediaType } from '../request/media-type.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkHeaderName } from '../reply/header.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { copy } from './lazy-responses.ts'
import { checkExamples } from './route-examples.ts'
import { isObject } from '../schema/document.ts'
import { refuseCodecsEarly } from '../schema/refuse-parts.ts'
import { checkSchema } from '../schema/standard.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Contract, DeclaredError, DeclaredErrors, Responses, Schema, Schemas } from '../types/parts.ts'

/** The descriptions of a contract, beside its schemas. */
export type Description = Omit<Contract, keyof Schemas | 'response' | 'errors' | 'consumes'> & {
  /** The content types of its form. */
  readonly consumes?: readonly FormType[] | undefined
}

/** A checked contract. It has copies, since it is used long after, when a request comes. */
export interface CheckedContract {
  /** The responses by status; null where none are declared. */
  readonly responses: Responses | null
  /** The route's own errors. Those of its middleware are in the middleware's metadata. */
  readonly errors: DeclaredErrors
  readonly description: Description
}

/** The names of the options that this file checks. */
export const contractOptions = [
  'consumes',
  'response',
  'mediaType',
  'errors',
  'operationId',
  'summary',
  'description',
  'tags',
  'deprecated',
  'hidden',
  'security',
  'examples',
] as const

/** The statuses whose replies never have content (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
const withoutContent = new Set([204, 205, 304])

/** Checks a contract. Throws `E_BAD_OPTION`, `E_BAD_SCHEMA` or `E_BAD_STATUS`, which name the route. */
export function checkContract(where: string, options: Contract): CheckedContract {
  const { response, errors = {} } = options
  return {
    responses: response === undefined ? null : checkResponses(where, response),
    errors: checkErrors(where, errors),
    description: checkDescription(where, options),
  }
}

function checkResponses(where: string, given: Schema | Responses): Responses {
  if (!isResponses(given)) {
    checkSent(given, `${where}: response`)
    return { 200: given }
  }
  for (const [key, schema] of Object.entries(given)) {
    if (!/^[2-5]\d\d$/.test(key)) {
      throw new VolantError('E_BAD_STATUS', `${where}: response takes statuses from 200 to 599, not ${key}`)
    }
    if (schema === null) continue
    const status = Number(key)
    if (withoutContent.has(status)) {
      throw new VolantError(
        'E_BAD_OPTION',
        `${where}: a reply of status ${status} has no content: write ${status}: null`,
      )
    }
    checkSent(schema, `${where}: response ${status}`)
  }
  return copy(given)
}

function checkSent(schema: Schema, where: string): void {
  checkSchema(schema, where)
  refuseCodecsEarly(schema, where)
}

/**
 * True for an object of schemas by status, or with `default`, that is not a schema itself. The statuses are checked
 * later.
 */
function isResponses(given: Schema | Responses): given is Responses {
  if (typeof given !== 'object' || given === null || '~standard' in given) return false
  const keys = Object.keys(given)
  return keys.some((key) => /^\d/.test(key)) || keys.join() === 'default'
}

/** Copies declared errors. Throws `E_BAD_OPTION`, `E_BAD_STATUS` or `E_BAD_SCHEMA` for a malformed map of them. */
export function checkErrors(where: string, errors: DeclaredErrors): DeclaredErrors {
  if (!isObject(errors)) {
    throw bad(`${where}: errors`, errors, 'an object of { CODE: { status } }')
  }
  const copies = Object.entries(errors).map(([code, error]) => {
    checkError(where, code, error)
    return [code, { ...error }] as const
  })
  return Object.fromEntries(copies)
}

/** The errors of middleware and of functions that handlers call. */
const ofMiddleware: ReadonlySet<string> = new Set([
  'E_CREDENTIALS_MALFORMED',
  'E_CSRF',
  'E_FORBIDDEN',
  'E_HOST_NOT_ALLOWED',
  'E_HTTPS_REQUIRED',
  'E_IP_DENIED',
  'E_KEY_SET',
  'E_PASSWORD_QUEUE',
  'E_RATE_LIMITED',
  'E_RATE_LIMIT_STORE',
  'E_SESSION_ENDED',
  'E_SESSION_STORE',
  'E_TOO_BUSY',
  'E_UNAUTHORIZED',
] satisfies ErrorCode[])

/** Contracts are written without the middleware in front of them, and say by this what it replies with. */
function isOfMiddleware(code: string, error: DeclaredError | undefined): boolean {
  return ofMiddleware.has(code) && error?.status === errorTable[code as ErrorCode].status
}

function checkError(where: string, code: string, error: DeclaredError): void {
  if (!/^[A-Za-z_][\w.-]*$/.test(code)) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: an error's code is a name such as USER_NOT_FOUND, not ${JSON.stringify(code.slice(0, 50))}`,
    )
  }
  if (Object.hasOwn(errorTable, code) && !isOfMiddleware(code, error)) {
    throw new VolantError('E_BAD_OPTION', `${where}: ${code} is an error of the framework: take another code`)
  }
  if (typeof error !== 'object' || error === null) {
    throw bad(`${where}: the error ${code}`, error, '{ status }')
  }
  checkOptionNames(
    `${where}: the error ${code}`,
    error,
    ['status', 'description', 'data', 'headers'],
    foreignNames.declaredError,
  )
  const { status, description, data, headers } = error
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new VolantError(
      'E_BAD_STATUS',
      `${where}: the declared error ${code} takes a status from 400 to 599, not ${briefValue(status)}`,
    )
  }
  if (description !== undefined && typeof description !== 'string')
    throw bad(`${where}: errors.${code}.description`, description, 'a text')
  if (data !== undefined) checkSent(data, `${where}: errors.${code}.data`)
  if (headers !== undefined) checkHeaders(`${where}: errors.${code}.headers`, headers)
}

function checkHeaders(where: string, headers: Readonly<Record<string, string>>): void {
  const wanted = "what header fields say, by name: { 'Retry-After': 'The seconds to wait.' }"
  if (!isObject(headers)) throw bad(where, headers, wanted)
  for (const [name, text] of Object.entries(headers)) {
    checkHeaderName(name)
    if (typeof text !== 'string') throw bad(`${where}.${name}`, text, wanted)
  }
}

function checkDescription(where: string, options: Contract): Description {
  const { tags, security, examples, consumes } = options
  const description: Record<string, unknown> = {}
  if (consumes !== undefined) description['consumes'] = checkForms(`${where}: consumes`, consumes)
  const take = (name: keyof Description, fits: boolean, takes: string): void => {
    const value = options[name]
    if (value === undefined) return
    if (!fits) throw bad(`${where}: ${name}`, value, takes)
    description[name] = value
  }
  for (const name of ['operationId', 'summary', 'description'] as const)
    take(name, typeof options[name] === 'string' && options[name] !== '', 'a text')
  for (const name of ['deprecated', 'hidden'] as const)
    take(name, typeof options[name] === 'boolean', 'true or false')
  const { mediaType } = options
  take(
    'mediaType',
    typeof mediaType === 'string' && parseMediaType(mediaType) !== null,
    'a media type such as image/svg+xml',
  )
  take('tags', Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'), 'an array of strings')
  take(
    'security',
    Array.isArray(security) && security.every(isRequirement),
    'an array of { scheme: [scopes] }, empty for none',
  )
  if (examples !== undefined) {
    checkExamples(where, examples)
    description['examples'] = examples
  }
  return description
}

const formTypes: readonly unknown[] = ['multipart/form-data', 'application/x-www-form-urlencoded']

function checkForms(option: string, given: FormType | readonly FormType[]): readonly FormType[] {
  const list = [given].flat()
  if (list.length === 0 || !list.every((type) => formTypes.includes(type))) {
    throw bad(option, given, `${formTypes.join(', ')}, or an array of them`)
  }
  return list
}

function isRequirement(each: unknown): boolean {
  return (
    typeof each === 'object' && each !== null && Object.values(each).every((scopes) => Array.isArray(scopes))
  )
}
