/** Sends the request of a call, with its retries and time limit, and gives the reply. */
import { pathOf, queryOf, textOf } from './address.ts'
import { ClientError } from './error.ts'
import { resultOf } from './reply.ts'
import type { CallOptions, HeaderValue, LooseInput, RetryOptions } from './types.ts'
import type { ClientRoute } from '../types/client-routes.ts'

/**
 * The headers of every request, or a function that gives them. It is called for each call with the name of its
 * operation, and for the table of routes with its path, `/client.json`.
 */
export type ClientHeaders =
  | CallOptions['headers']
  | ((operation: string) => CallOptions['headers'] | Promise<CallOptions['headers']>)

/**
 * The options that decide how calls are sent. For the table of routes the operation that hooks receive is its path,
 * `/client.json`.
 */
export interface SendOptions extends Omit<CallOptions, 'signal' | 'headers'> {
  /** A replacement for the global `fetch`. It is called with one `Request`, as `app.fetch` is. */
  fetch?: ((request: Request) => Promise<Response>) | undefined
  /** The headers of every request, that for the table of routes included, or a function that gives them for each. */
  headers?: ClientHeaders
  /** Receives each request before it is sent, retries included. It may return another request to send. */
  onRequest?: ((request: Request, operation: string) => Request | void | Promise<Request | void>) | undefined
  /**
   * Receives each reply before it is read. It may return another reply, such as that of the request sent again with
   * another token: `fetch(new Request(request, { headers }))`. A request whose body is a stream cannot be sent again.
   */
  onResponse?:
    | ((
        response: Response,
        request: Request,
        operation: string,
      ) => Response | void | Promise<Response | void>)
    | undefined
}

/** Gives the result of a call. Rejects with `ClientError`, or with the reason of its signal. */
export async function call(
  base: string,
  operation: string,
  find: () => ClientRoute | Promise<ClientRoute>,
  { params = {}, query = {}, headers, cookies = {}, body }: LooseInput,
  { signal: given, ...own }: CallOptions,
  client: SendOptions,
): Promise<{ data: unknown }> {
  const settings = { ...client, ...own }
  const { timeout } = settings
  const late = new AbortController()
  const { signal } = late
  // AbortSignal.any would leave something of each call in a signal that lives longer.
  const forward = (): void => late.abort(given?.reason)
  let release = (): void => given?.removeEventListener('abort', forward)
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    if (timeout !== undefined) {
      timer = setTimeout(
        () => late.abort(new DOMException(`no reply within ${timeout} ms`, 'TimeoutError')),
        within('timeout', timeout, 1, longest),
      )
    }
    if (given?.aborted) forward()
    else given?.addEventListener('abort', forward)
    const row = await unless(signal, find)
    const url = base + pathOf(row[1], params) + queryOf(query)
    const fields = new Headers(settings.init?.headers)
    const first = client.headers
    add(fields, typeof first === 'function' ? await unless(signal, () => first(operation)) : first)
    add(fields, headers)
    addCookies(fields, cookies)
    add(fields, own.headers)
    const init: Init = {
      // If redirects were followed, headers such as x-api-key would go to any host (Fetch §4.4 removes only
      // Authorization).
      redirect: 'manual',
      ...settings.init,
      method: row[0],
      headers: fields,
      signal,
    }
    if (body !== undefined) init.body = bodyOf(row[4] ? formOf(body, row[4]) : body, fields)
    if (isStreamed(body)) init.duplex = 'half'
    const response = await attempts(url, init, operation, settings, signal)
    const result = await unless(signal, () => resultOf(response, operation, row))
    const { data } = result
    if (!given || !(data instanceof ReadableStream) || data.locked) return result
    const { readable, writable } = new TransformStream()
    void data.pipeTo(writable, { signal }).then(release, release)
    release = () => {}
    return { ...result, data: readable }
  } catch (error) {
    if (given?.aborted) throw given.reason
    if (signal.aborted)
      throw new ClientError(operation, (signal.reason as Error).message, { cause: signal.reason })
    throw ofTable(error as ClientError, operation, base)
  } finally {
    clearTimeout(timer)
    release()
  }
}

/** If the table of routes failed to load, the error of a call that waited for it names the table's address. */
function ofTable(error: ClientError, operation: string, base: string): ClientError {
  const { operation: path, status, message } = error ?? {}
  if (path === operation || path?.[0] !== '/') return error
  return new ClientError(
    operation,
    status === 404
      ? `${base + path} is 404: does the app call app.expose(api), and is this the API's address?`
      : status
        ? base + message
        : message.slice(path.length + 2),
    error,
  )
}

type Init = RequestInit & { duplex?: 'half' }

/** The longest delay in milliseconds that timers take (HTML §8.6). */
export const longest = 2 ** 31 - 1

/** Gives the number. Throws `TypeError` for one outside of the bounds, and for a value that is not a number. */
export function within(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value
  throw new TypeError(`${name} cannot be ${value}: a number from ${least} to ${most}`)
}

/**
 * Gives the result of `work`. Rejects when the signal is aborted, whatever `work` does; if that has happened already,
 * `work` does not begin.
 */
function unless<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop)
    const settle = async (): Promise<T> => work()
    void settle()
      .then(resolve, reject)
      .then(() => signal.removeEventListener('abort', stop))
  })
}

/** Sets fields; undefined removes one. */
export function add(fields: Headers, values: Readonly<Record<string, HeaderValue>> | undefined): void {
  for (const [name, value] of Object.entries(values ?? {})) {
    if (value === undefined) fields.delete(name)
    else fields.set(name, textOf(value, name))
  }
}

export function addCookies(fields: Headers, cookies: NonNullable<LooseInput['cookies']>): void {
  const pairs = Object.entries(cookies).flatMap(([name, value]) => {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new TypeError(`${JSON.stringify(name)} cannot be the name of a cookie`)
    return value == null ? [] : [`${name}=${encodeURIComponent(textOf(value, name))}`]
  })
  if (pairs.length) fields.set('cookie', pairs.join('; '))
}

type Content = NonNullable<RequestInit['body']>

/**
 * Forms, blobs, bytes and streams are sent as they are, and so is text with a content type. Any other value is sent as
 * JSON.
 */
function bodyOf(body: unknown, fields: Headers): Content {
  const typed = fields.has('content-type')
  if (
    (typeof body === 'string' && typed) ||
    [FormData, URLSearchParams, Blob, ArrayBuffer].some((kind) => body instanceof kind) ||
    ArrayBuffer.isView(body) ||
    isStreamed(body)
  ) {
    return body as Content
  }
  if (!typed) fields.set('content-type', 'application/json')
  const text = JSON.stringify(body) as string | undefined
  if (text === undefined) throw new TypeError(`the body has no JSON: it is of type ${typeof body}`)
  return text
}

/** Makes a form of an object. Undefined and null are left out; what is no plain object is sent as it is. */
function formOf(body: unknown, type: string): unknown {
  if (Object.prototype.toString.call(body) !== '[object Object]') return body
  const hasFiles = type[0] === 'm'
  const form = hasFiles ? new FormData() : new URLSearchParams()
  for (const [name, value] of Object.entries(body as object)) {
    for (const each of [value].flat()) {
      if (each != null)
        form.append(name, hasFiles && each instanceof Blob ? (each as never) : textOf(each, name))
    }
  }
  return form
}

/** Some browsers cannot iterate a stream, so the check does not rely on that. */
function isStreamed(body: unknown): boolean {
  return (
    typeof (body as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === 'function' ||
    body instanceof ReadableStream
  )
}

async function attempts(
  url: string,
  init: Init,
  operation: string,
  { fetch: send = fetch, onRequest, onResponse, retry = 0 }: SendOptions,
  signal: AbortSignal,
): Promise<Response> {
  const {
    count,
    methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'],
    statuses = [429, 502, 503, 504],
    delay = 200,
    maxDelay = 10_000,
  }: RetryOptions = typeof retry === 'number' ? { count: retry } : retry
  within('retry', count, 0, Infinity)
  within('delay', delay, 0, longest)
  within('maxDelay', maxDelay, 0, longest)
  const tries = !init.duplex && methods.includes(init.method as string) ? count : 0
  for (let tried = 0; ; tried++) {
    const made = new Request(url, init)
    const request = (await unless(signal, () => onRequest?.(made, operation))) ?? made
    // The hook may send the request again, and the body of a sent request is used up.
    const sent = onResponse && !init.duplex ? request.clone() : request
    const reply = await unless(signal, () => send(sent)).then(
      (given) => replyOf(given, 'fetch'),
      (cause: any) => {
        if (!signal.aborted && tried < tries) return
        // The message is `fetch failed`. Some of the errors behind it have only a code.
        const why = cause?.cause ?? cause
        throw new ClientError(
          operation,
          `no reply from ${url.split('?')[0]}: ${why?.message || why?.code || why}`,
          { cause },
        )
      },
    )
    let wait = Math.min(maxDelay, delay * 2 ** tried) * (1 - Math.random() / 2)
    if (reply) {
      const seen = (await unless(signal, () => onResponse?.(reply, request, operation))) ?? reply
      const response = replyOf(seen, 'onResponse')
      const asked = retryAfter(response)
      if (tried >= tries || !statuses.includes(response.status) || asked > maxDelay) return response
      wait = Math.max(wait, asked)
      // A hook may have read the body already.
      response.body?.cancel().catch(() => {})
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    await unless(signal, () => new Promise((resolve) => (timer = setTimeout(resolve, wait)))).finally(() =>
      clearTimeout(timer),
    )
  }
}

/** A `Response` of any class is taken, since there are others than the global one. */
function replyOf(reply: Response, from: string): Response {
  if (typeof reply?.headers?.get === 'function') return reply
  throw new TypeError(`${from} gave ${String(reply)}, which is no Response`)
}

/** Gives the milliseconds of Retry-After, which has seconds or a date (RFC 9110 §10.2.3); 0 without it. */
function retryAfter({ headers }: Response): number {
  const text = headers.get('retry-after') ?? ''
  return Math.max(0, /^\d+$/.test(text) ? +text * 1000 : Date.parse(text) - Date.now() || 0)
}
