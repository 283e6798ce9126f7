/** `app.inject`: a request without a socket, for tests. */
import type { Host } from '@volant/engine'
import type { Routes } from './adapters/head.ts'
import { MemoryExchange } from './adapters/memory.ts'

/** A request for `app.inject`. */
export interface InjectOptions {
  /** Default GET. */
  method?: string
  /** Path and query, for example `/users?page=2`. */
  url: string
  /** By name; several values of one name as an array. Host is `localhost` unless given. */
  headers?: Record<string, string | readonly string[]>
  /** Strings and bytes are sent as they are; anything else as JSON, with its content type unless one is given. */
  body?: unknown
}

/** What `app.inject` resolves to. */
export interface InjectReply {
  /** Of the reply. */
  status: number
  /** By lower-case name; Set-Cookie is an array. */
  headers: Record<string, string> & { 'set-cookie'?: string[] }
  /** The bytes. */
  body: Buffer
  /** The body decoded as UTF-8. */
  text(): string
  /** The body parsed as JSON; throws if it is none. */
  json(): unknown
}

/** Sends `options` through the app's routes; rejects with `E_RESET` where a socket would have been reset. */
export async function inject(
  host: Host,
  routes: Routes,
  options: InjectOptions | string,
): Promise<InjectReply> {
  const { method = 'GET', url, headers = {}, body } = typeof options === 'string' ? { url: options } : options
  const raw: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === 'string' ? [value] : value) raw.push(name, one)
  }
  const has = (name: string) => raw.some((text, at) => at % 2 === 0 && text.toLowerCase() === name)
  if (!has('host')) raw.push('host', 'localhost')
  const bytes = bodyBytes(body)
  if (bytes.length > 0 && !has('content-length') && !has('transfer-encoding')) {
    raw.push('content-length', String(bytes.length))
  }
  if (isJson(body) && !has('content-type')) raw.push('content-type', 'application/json')
  const exchange = new MemoryExchange(method.toUpperCase(), raw, bytes)
  exchange.run(url, host, routes)
  const reply = await exchange.done
  return {
    status: reply.status,
    headers: fields(reply.headers),
    body: reply.body,
    text: () => reply.body.toString('utf8'),
    json: () => JSON.parse(reply.body.toString('utf8')) as unknown,
  }
}

function isJson(body: unknown): boolean {
  return body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
}

function bodyBytes(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(JSON.stringify(body))
}

function fields(list: readonly string[]): InjectReply['headers'] {
  const headers = Object.create(null) as Record<string, string> & { 'set-cookie'?: string[] }
  for (let at = 0; at < list.length; at += 2) {
    const name = (list[at] as string).toLowerCase()
    const value = list[at + 1] as string
    if (name === 'set-cookie') (headers['set-cookie'] ??= []).push(value)
    else headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
