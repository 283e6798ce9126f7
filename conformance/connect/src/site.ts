/** A site is what a scenario is written against: an Express app, or a Volant app with the same layers through `fromConnect`. */
import type { Address } from 'volant'
import type { Client } from './client.ts'
import type { Handle, Layer, Req } from './layers.ts'

/** What a handler of the framework itself replies; it has no Connect objects. */
export interface Answer {
  status?: number
  headers?: Record<string, string>
  /** Text, bytes, chunks, or null for none. */
  body: string | Uint8Array | AsyncIterable<string | Uint8Array> | null
}

/** An answer of JSON. */
export const json = (value: unknown): Answer => ({
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

/** A body of two chunks. */
export async function* chunks(): AsyncGenerator<string> {
  yield 'one '
  yield 'two'
}

export interface Site {
  readonly name: 'express' | 'native' | 'node-http' | 'uwebsockets' | 'memory'
  /** Errors that the framework reported, since no client could see them or because they were unexpected. */
  readonly reports: unknown[]
  use(...layers: Layer[]): void
  /** Runs `layers` for the paths under `prefix`, with bodies of requests. */
  mount(prefix: string, ...layers: Layer[]): void
  /** A route whose last layer replies; Volant collects the body before the first runs. */
  handle(method: string, path: string, ...layers: Handle[]): void
  /** The same with a body of up to 64 MiB that Volant streams. */
  streamed(method: string, path: string, ...layers: Handle[]): void
  /** A route that the framework itself answers, behind `layers`: Express with its `res`, Volant with its `ctx`. */
  reply(
    method: string,
    path: string,
    answer: (req: Req) => Answer | Promise<Answer>,
    ...layers: Handle[]
  ): void
}

/** A site that runs. */
export interface Live {
  readonly site: Site
  /** Null where there is no socket. */
  readonly address: Address | null
  readonly client: Client
  close(): Promise<void>
}

/** Each framework has its own type for a body without one. */
export function headersOf(headers: Answer['headers'], body: Answer['body']): Record<string, string> {
  return body === null ? { ...headers } : { 'content-type': 'text/plain', ...headers }
}
