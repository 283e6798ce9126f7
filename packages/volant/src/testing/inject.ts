/** `app.inject` sends a request without a socket, for tests. */
import type { Host } from '@volant/engine'
import { parseSetCookie, type SetCookie } from 'cookie'
import type { Routes } from '../adapters/head.ts'
import { MemoryExchange, type ReplySink } from '../adapters/memory.ts'
import { type InjectOptions, requestOf } from './inject-request.ts'
import { namedTrailers } from '../request/trailers.ts'
import { phrases } from '../errors/phrases.ts'

/** The headers by lower-case name. Set-Cookie is an array. */
export type InjectHeaders = Record<string, string> & { 'set-cookie'?: string[] }

/** The reply that `app.inject` resolves to. */
export interface InjectReply {
  /** The status of the reply. */
  status: number
  /** The phrase that belongs to the status. */
  statusText: string
  /** The headers by lower-case name. Set-Cookie is an array. */
  headers: InjectHeaders
  /** The cookies the reply sets, decoded, with their attributes. */
  cookies: (SetCookie & { value: string })[]
  /** The bytes of the body. */
  body: Buffer
  /** The early hints and other interim replies, in order, with headers of the same form. */
  informational: { status: number; headers: InjectHeaders }[]
  /** The trailer fields by lower-case name; see `ctx.trailer`. */
  trailers: Record<string, string>
  /** Gives the body decoded as UTF-8. */
  text(): string
  /** Gives the body parsed as JSON; throws if it is not JSON. */
  json<T = unknown>(): T
}

/**
 * Sends a request through the app's routes. Rejects with `E_BAD_OPTION` for options that make no sense, with `E_RESET`
 * where a socket would have been reset, and with the reason of `signal` when that is aborted.
 */
export async function inject(
  host: Host,
  routes: Routes,
  options: InjectOptions | string,
): Promise<InjectReply> {
  const request = await requestOf(options)
  return new Promise((resolve, reject) => {
    new MemoryExchange(host, request, new Collector(resolve, reject)).run(routes)
  })
}

class Collector implements ReplySink {
  readonly #resolve: (reply: InjectReply) => void
  readonly #reject: (error: unknown) => void
  readonly #informational: InjectReply['informational'] = []
  readonly #chunks: Buffer[] = []
  #status = 0
  #headers: string[] = []

  constructor(resolve: (reply: InjectReply) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  inform(status: number, headers: string[]): void {
    this.#informational.push({ status, headers: fields(headers) })
  }

  whole(status: number, headers: string[], body: Buffer | null): void {
    this.start(status, headers)
    if (body !== null) this.#chunks.push(body)
    this.end([])
  }

  start(status: number, headers: string[]): void {
    this.#status = status
    this.#headers = headers
  }

  chunk(bytes: Buffer): boolean {
    this.#chunks.push(bytes)
    return true
  }

  end(trailers: string[]): void {
    const body = Buffer.concat(this.#chunks)
    const headers = fields(this.#headers)
    this.#resolve({
      status: this.#status,
      statusText: phrases[this.#status] ?? '',
      headers,
      cookies: (headers['set-cookie'] ?? []).map(
        (text) => parseSetCookie(text) as SetCookie & { value: string },
      ),
      body,
      informational: this.#informational,
      trailers: namedTrailers(trailers),
      text: () => body.toString('utf8'),
      json: <T>() => JSON.parse(body.toString('utf8')) as T,
    })
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}

function fields(list: readonly string[]): InjectHeaders {
  const headers = Object.create(null) as InjectHeaders
  for (let at = 0; at < list.length; at += 2) {
    const name = (list[at] as string).toLowerCase()
    const value = list[at + 1] as string
    if (name === 'set-cookie') (headers['set-cookie'] ??= []).push(value)
    else headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
