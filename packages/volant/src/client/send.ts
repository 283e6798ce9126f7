/** From what a call was given to its reply: the request, its tries, and the time they have. */
import { pathOf, queryOf, textOf } from './address.ts'
import { ClientError } from './error.ts'
import { resultOf } from './reply.ts'
import type { ClientRoute } from './table.ts'
import type { CallOptions, HeaderValue, LooseInput, RetryOptions } from './types.ts'

/** Fields of the head for every call, or what gives them: called for each, with the name of the operation. */
export type ClientHeaders =
  | CallOptions['headers']
  | ((operation: string) => CallOptions['headers'] | Promise<CallOptions['headers']>)

/** How calls are sent. */
export interface SendOptions extends Omit<CallOptions, 'signal' | 'headers'> {
  /** In place of the global `fetch`: called with one `Request`, as `app.fetch` is. */
  fetch?: ((request: Request) => Promise<Response>) | undefined
  /** Fields of every request's head, or a function that gives them for each call. */
  headers?: ClientHeaders
  /** Sees each request, retries too, before it is sent; may give another in its place. */
  onRequest?: ((request: Request, operation: string) => Request | void | Promise<Request | void>) | undefined
  /** Sees each reply before it is read; may give another in its place. */
  onResponse?:
    | ((
        response: Response,
        request: Request,
        operation: string,
      ) => Response | void | Promise<Response | void>)
    | undefined
}

/** The result of a call. Rejects with `ClientError`, or with the reason of its signal. */
export async function call(
  base: string,
  operation: string,
  find: () => ClientRoute | Promise<ClientRoute>,
  { params = {}, query = {}, headers, cookies = {}, body }: LooseInput,
  { signal: given, ...own }: CallOptions,
  client: SendOptions,
): Promise<unknown> {
  const settings = { ...client, ...own }
  const late = new AbortController()
  const signal = given ? AbortSignal.any([given, late.signal]) : late.signal
  const { timeout } = settings
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(
          () => late.abort(new DOMException(`no reply within ${timeout} ms`, 'TimeoutError')),
          timeout,
        )
  try {
    const row = await unless(signal, Promise.resolve().then(find))
    const url = base + pathOf(row[1], params) + queryOf(query)
    const fields = new Headers(settings.init?.headers)
    const first = client.headers
    add(fields, typeof first === 'function' ? await unless(signal, Promise.resolve(first(operation))) : first)
    add(fields, headers)
    addCookies(fields, cookies)
    add(fields, own.headers)
    const init: RequestInit & { duplex?: 'half' } = {
      ...settings.init,
      method: row[0],
      headers: fields,
      signal,
    }
    if (body !== undefined) init.body = bodyOf(body, fields)
    const isStream =
      typeof (body as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator] === 'function' ||
      body instanceof ReadableStream
    if (isStream) init.duplex = 'half'
    const response = await attempts(url, init, operation, settings, signal, !isStream)
    return await resultOf(response, operation, row)
  } catch (error) {
    if (given?.aborted) throw given.reason
    if (late.signal.aborted)
      throw new ClientError(operation, (late.signal.reason as Error).message, { cause: late.signal.reason })
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Rejects when the signal is aborted, whatever `promise` does. */
function unless<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    promise.then(resolve, reject)
  })
}

function add(fields: Headers, values: Readonly<Record<string, HeaderValue>> | undefined): void {
  for (const [name, value] of Object.entries(values ?? {})) {
    if (value === undefined) fields.delete(name)
    else fields.set(name, textOf(value, name))
  }
}

function addCookies(fields: Headers, cookies: NonNullable<LooseInput['cookies']>): void {
  const pairs = Object.entries(cookies).flatMap(([name, value]) => {
    if (/[^\w!#$%&'*+.^`|~-]/.test(name))
      throw new TypeError(`${JSON.stringify(name)} cannot be the name of a cookie`)
    return value == null ? [] : [`${name}=${encodeURIComponent(textOf(value, name))}`]
  })
  if (pairs.length) fields.set('cookie', pairs.join('; '))
}

type Content = NonNullable<RequestInit['body']>

/** Forms, blobs, bytes and streams as they are, and text that was given a type; all else as JSON. */
function bodyOf(body: unknown, fields: Headers): Content {
  const typed = fields.has('content-type')
  if (
    (typeof body === 'string' && typed) ||
    [FormData, URLSearchParams, Blob, ReadableStream, ArrayBuffer].some((kind) => body instanceof kind) ||
    ArrayBuffer.isView(body) ||
    typeof (body as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === 'function'
  ) {
    return body as Content
  }
  if (!typed) fields.set('content-type', 'application/json')
  return JSON.stringify(body)
}

async function attempts(
  url: string,
  init: RequestInit,
  operation: string,
  { fetch: send = fetch, onRequest, onResponse, retry = 0 }: SendOptions,
  signal: AbortSignal,
  isReplayable: boolean,
): Promise<Response> {
  const {
    count,
    methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'],
    statuses = [429, 502, 503, 504],
    delay = 200,
    maxDelay = 10_000,
  }: RetryOptions = typeof retry === 'number' ? { count: retry } : retry
  const tries = isReplayable && methods.includes(init.method as string) ? count : 0
  for (let tried = 0; ; tried++) {
    const made = new Request(url, init)
    const request = (await onRequest?.(made, operation)) ?? made
    const outcome = await unless(signal, send(request)).catch((error: unknown) => ({ error }))
    let wait = Math.min(maxDelay, delay * 2 ** tried) * (1 - Math.random() / 2)
    if ('error' in outcome) {
      if (signal.aborted || tried >= tries) {
        const { error } = outcome
        throw new ClientError(
          operation,
          `no reply: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        )
      }
    } else {
      const response = (await onResponse?.(outcome, request, operation)) ?? outcome
      const asked = retryAfter(response)
      if (tried >= tries || !statuses.includes(response.status) || asked > maxDelay) return response
      wait = Math.max(wait, asked)
      void response.body?.cancel()
    }
    await unless(signal, new Promise((resolve) => setTimeout(resolve, wait)))
  }
}

/** Milliseconds, from seconds or a date (RFC 9110 §10.2.3); 0 for none. */
function retryAfter({ headers }: Response): number {
  const text = headers.get('retry-after') ?? ''
  return Math.max(0, /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now() || 0)
}
