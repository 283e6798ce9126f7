/** Checks the options of `app.inject` and makes a request of them. */
import { isIP } from 'node:net'
import { stringifyCookie } from 'cookie'
import type { MemoryRequest } from '../adapters/memory.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkText } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { isTrailer } from '../request/trailers.ts'
import { isIterator, openSource } from '../reply/source.ts'
import type { Source } from '../types/reply-options.ts'

type QueryValue = string | number | boolean | readonly (string | number | boolean)[] | undefined

/** A request for `app.inject`. */
export interface InjectOptions {
  /** The method. Default: GET. */
  method?: string | undefined
  /** The path and query, for example `/users?page=2`. */
  url: string
  /** The pairs that are added to the query of `url`. Arrays repeat their name, undefined is left out. */
  query?: Readonly<Record<string, QueryValue>> | URLSearchParams | undefined
  /** The headers; arrays repeat theirs. Host is `localhost` and Content-Length that of the body unless given. */
  headers?: Readonly<Record<string, string | readonly string[]>> | Headers | undefined
  /** The cookies by name. They are sent as Cookie, percent-encoded. */
  cookies?: Readonly<Record<string, string>> | undefined
  /**
   * The body. Strings and bytes are sent as they are, streams and iterators in chunks. `URLSearchParams`, `FormData`
   * and `Blob` bring their content type. Any other value is sent as JSON with its content type. A content type in
   * `headers` takes precedence.
   */
  body?: unknown
  /**
   * The trailer fields, which are sent behind a chunked body. The values of an array are sent as separate fields. A
   * route with `bodyMode: 'stream'` has them in `ctx.trailers`.
   */
  trailers?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** The address of the client. Default: 127.0.0.1. It is '' for a Unix socket. */
  remoteAddress?: string | undefined
  /** The HTTP version. Default: 1.1. */
  httpVersion?: '1.0' | '1.1' | undefined
  /** Disconnects the client when it is aborted. */
  signal?: AbortSignal | undefined
}

const optionNames = [
  'method',
  'url',
  'query',
  'headers',
  'cookies',
  'body',
  'trailers',
  'remoteAddress',
  'httpVersion',
  'signal',
] as const

/** A target is a path, a whole URL, or the `*` of OPTIONS (RFC 9112 §3.2). */
const targets = /^(?:\/|https?:\/\/|\*$)/i

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Makes the request. Throws `E_BAD_OPTION`, which names the option. */
export async function requestOf(given: InjectOptions | string): Promise<MemoryRequest> {
  const options = typeof given === 'string' ? { url: given } : given
  if (typeof options !== 'object' || options === null)
    throw bad('inject', options, 'a URL or an object of options')
  checkOptionNames('inject', options, optionNames, foreignNames.inject)
  const { method = 'GET', remoteAddress = '127.0.0.1', httpVersion = '1.1', signal = null } = options
  checkText('inject: method', method, token, 'the name of a method')
  if (typeof remoteAddress !== 'string' || (remoteAddress !== '' && isIP(remoteAddress) === 0)) {
    throw bad('inject: remoteAddress', remoteAddress, 'an IP address')
  }
  if (httpVersion !== '1.0' && httpVersion !== '1.1')
    throw bad('inject: httpVersion', httpVersion, "'1.0' or '1.1'")
  if (signal !== null && !(signal instanceof AbortSignal))
    throw bad('inject: signal', signal, 'an AbortSignal')
  const headers = rawHeaders(options.headers, options.cookies)
  const target = targetOf(options.url, options.query)
  const trailers = options.trailers === undefined ? undefined : rawTrailers(options.trailers)
  const isEmpty = options.body === undefined && trailers !== undefined
  const { body, type } = await bodyOf(isEmpty ? '' : options.body)
  if (!has(headers, 'host')) headers.push('host', 'localhost')
  if (type !== null && !has(headers, 'content-type')) headers.push('content-type', type)
  if (body !== null && !has(headers, 'content-length') && !has(headers, 'transfer-encoding')) {
    if (!Buffer.isBuffer(body) || trailers !== undefined) headers.push('transfer-encoding', 'chunked')
    else if (body.length > 0) headers.push('content-length', String(body.length))
  }
  return {
    method: method.toUpperCase(),
    target,
    headers,
    body,
    trailers,
    httpVersion,
    remoteAddress,
    encrypted: false,
    signal,
  }
}

function targetOf(url: unknown, query: InjectOptions['query']): string {
  const target = checkText(
    'inject: url',
    url,
    targets,
    "a path that starts with '/', for example /users?page=2",
  )
  if (query === undefined) return target
  if (!(query instanceof URLSearchParams)) checkRecord('query', query)
  const pairs = query instanceof URLSearchParams ? query : new URLSearchParams(pairsOf(query))
  const text = pairs.toString()
  return text === '' ? target : `${target}${target.includes('?') ? '&' : '?'}${text}`
}

function pairsOf(query: Readonly<Record<string, QueryValue>>): [string, string][] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return []
    return [value].flat().map((one): [string, string] => {
      if (typeof one !== 'string' && typeof one !== 'number' && typeof one !== 'boolean') {
        throw bad(`inject: query.${name}`, one, 'a string, a number, true, false, or an array of those')
      }
      return [name, String(one)]
    })
  })
}

function rawHeaders(given: unknown, cookies: unknown): string[] {
  if (given !== undefined && !(given instanceof Headers)) checkRecord('headers', given)
  const raw = fieldsOf('headers', given instanceof Headers ? [...given] : Object.entries(given ?? {}))
  if (cookies === undefined) return raw
  checkRecord('cookies', cookies)
  for (const [name, value] of Object.entries(cookies)) {
    if (typeof value !== 'string') throw bad(`inject: cookies.${name}`, value, 'a string')
  }
  try {
    const text = stringifyCookie(cookies as Record<string, string>)
    if (text !== '') raw.push('cookie', text)
  } catch (error) {
    throw new VolantError('E_BAD_OPTION', `inject: cookies: ${(error as Error).message}`, { cause: error })
  }
  return raw
}

function rawTrailers(given: object): string[] {
  checkRecord('trailers', given)
  const raw = fieldsOf('trailers', Object.entries(given))
  for (const name of raw.filter((_, at) => at % 2 === 0)) {
    if (!isTrailer(name.toLowerCase()))
      throw bad('inject: trailers', name, 'fields that may stand behind a body')
  }
  return raw
}

function fieldsOf(option: string, pairs: Iterable<[name: string, value: unknown]>): string[] {
  const raw: string[] = []
  for (const [name, value] of pairs) {
    if (!token.test(name))
      throw bad(`inject: ${option}.${JSON.stringify(name)}`, value, 'the name of a header')
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof one !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(one)) {
        throw bad(`inject: ${option}.${name}`, one, 'text a header may have, or an array of it')
      }
      raw.push(name, one.trim())
    }
  }
  return raw
}

/** Refuses arrays and maps, whose properties are not names. */
function checkRecord(option: string, given: unknown): asserts given is object {
  if (typeof given === 'object' && given !== null && !(Symbol.iterator in given)) return
  throw bad(`inject: ${option}`, given, 'an object of values by name')
}

function has(raw: readonly string[], name: string): boolean {
  return raw.some((text, at) => at % 2 === 0 && text.toLowerCase() === name)
}

interface Body {
  body: MemoryRequest['body']
  /** The content type that belongs to this kind of body. */
  type: string | null
}

async function bodyOf(given: unknown): Promise<Body> {
  if (given === undefined) return { body: null, type: null }
  if (typeof given === 'string') return { body: Buffer.from(given), type: null }
  if (given instanceof ArrayBuffer) return { body: Buffer.from(given.slice(0)), type: null }
  if (ArrayBuffer.isView(given)) {
    return { body: Buffer.from(Buffer.from(given.buffer, given.byteOffset, given.byteLength)), type: null }
  }
  if (given instanceof URLSearchParams || given instanceof FormData || given instanceof Blob) {
    const whole = new Response(given)
    return { body: Buffer.from(await whole.arrayBuffer()), type: whole.headers.get('content-type') }
  }
  if (typeof given === 'object' && given !== null && isIterator(given)) {
    return { body: openSource(given as Source), type: null }
  }
  let text: string | undefined
  try {
    text = JSON.stringify(given)
  } catch (error) {
    throw new VolantError(
      'E_BAD_OPTION',
      `inject: body cannot be written as JSON: ${(error as Error).message}`,
      {
        cause: error,
      },
    )
  }
  if (text === undefined) throw bad('inject: body', typeof given, 'what can be written as JSON')
  return { body: Buffer.from(text), type: 'application/json' }
}
