/** `app.fetch` answers a web `Request` with a `Response`, for tests and for servers that take such functions. */
import type { Host } from '@volant/engine'
import type { Routes } from '../adapters/head.ts'
import { MemoryExchange, type ReplySink } from '../adapters/memory.ts'
import { VolantError } from '../errors/errors.ts'
import { phrases } from '../errors/phrases.ts'
import { openSource } from '../reply/source.ts'

/**
 * Answers as a socket would. Rejects with the reason of `request.signal` when that is aborted, and with `E_RESET` where
 * a connection would have been reset. The stream of a reply that has begun fails with the same error.
 */
export function fetchFrom(host: Host, routes: Routes, request: Request): Promise<Response> {
  const { url, method, headers, body, signal } = request
  const { host: authority, pathname, search, protocol } = new URL(url)
  if (request.bodyUsed) throw new VolantError('E_BODY_USED', 'the body of the Request was read already')
  const raw = ['host', authority]
  for (const [name, value] of headers) if (name !== 'host') raw.push(name, value)
  return new Promise((resolve, reject) => {
    const sink = new ResponseSink(resolve, reject)
    sink.exchange = new MemoryExchange(
      host,
      {
        method,
        target: pathname + search,
        headers: raw,
        body: body === null ? null : openSource(body),
        httpVersion: '1.1',
        remoteAddress: '',
        encrypted: protocol === 'https:',
        signal: signal ?? null,
      },
      sink,
    )
    sink.exchange.run(routes)
  })
}

/** The most bytes of a reply that wait for its reader. */
const sendBuffer = 65_536

class ResponseSink implements ReplySink {
  exchange: MemoryExchange | null = null
  readonly #resolve: (response: Response) => void
  readonly #reject: (error: unknown) => void
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null

  constructor(resolve: (response: Response) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  /** A `Response` cannot carry interim replies. */
  inform(): void {}

  whole(status: number, headers: string[], body: Buffer | null): void {
    this.#respond(status, headers, status === 205 ? null : body)
  }

  start(status: number, headers: string[], empty: boolean): void {
    if (empty) return this.#respond(status, headers, null)
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.exchange?.drain(),
        cancel: (reason) => {
          this.#controller = null
          this.exchange?.lose(reason)
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: sendBuffer }),
    )
    this.#respond(status, headers, stream)
  }

  chunk(bytes: Buffer): boolean {
    if (bytes.length > 0) this.#controller?.enqueue(bytes)
    return (this.#controller?.desiredSize ?? 1) > 0
  }

  end(): void {
    this.#controller?.close()
  }

  fail(error: unknown): void {
    this.#controller?.error(error)
    this.#reject(error)
  }

  #respond(status: number, list: string[], body: ReadableStream<Uint8Array> | Buffer | null): void {
    const headers = new Headers()
    for (let at = 0; at < list.length; at += 2) headers.append(list[at] as string, list[at + 1] as string)
    this.#resolve(new Response(body, { status, statusText: phrases[status] ?? '', headers }))
  }
}
