/** A request whose body is written while its reply is read, over either version of HTTP. */
import { once } from 'node:events'
import { type IncomingMessage, request as startHttp1 } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Stream } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { Address } from 'volant'
import { eventually, type Kit } from './kit.ts'

export type HttpVersion = '1.1' | '2'

/** The versions that the adapter speaks. */
export function versionsOf(kit: Kit): readonly HttpVersion[] {
  return kit.can('http2') ? ['1.1', '2'] : ['1.1']
}

/** The cases do not check who issued a certificate. */
const trusting = { rejectUnauthorized: false }

export type Trailers = Record<string, string>

export class Call {
  readonly #request: Writable
  readonly #reset: () => void
  readonly #head: Promise<{ status: number; headers: Record<string, unknown>; body: Readable }>
  readonly #trailers: () => Trailers
  #text = ''
  #ended = false
  #failure: Error | null = null

  private constructor(parts: {
    request: Writable
    reset(): void
    head: Promise<{ status: number; headers: Record<string, unknown>; body: Readable }>
    trailers(): Trailers
  }) {
    this.#request = parts.request
    this.#reset = () => parts.reset()
    this.#head = parts.head
    this.#trailers = () => parts.trailers()
    // A reset is reported by the method that waits at that time.
    parts.request.on('error', (error: Error) => (this.#failure ??= error))
    parts.head.catch((error: Error) => (this.#failure ??= error))
  }

  /** Sends a head. `trailers` is called when the body ends. */
  static open(
    address: Address,
    version: HttpVersion,
    path: string,
    { method = 'POST', headers = {}, trailers }: CallOptions = {},
  ): Call {
    return version === '2'
      ? Call.#openHttp2(address, method, path, headers, trailers)
      : Call.#openHttp1(address, method, path, headers, trailers)
  }

  static #openHttp1(
    { port, url }: Address,
    method: string,
    path: string,
    headers: Record<string, string>,
    trailers: Trailers | undefined,
  ): Call {
    const tcp = connectTcp({ port: port as number, host: '127.0.0.1', noDelay: true })
    const socket = url.startsWith('https:') ? connectTls({ ...trusting, socket: tcp }) : tcp
    const fields = method === 'POST' ? { 'transfer-encoding': 'chunked', ...headers } : headers
    const request = startHttp1({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: fields,
      createConnection: () => socket,
    })
    if (trailers !== undefined) request.addTrailers(trailers)
    request.flushHeaders()
    let response: IncomingMessage | null = null
    const head = new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve)
      request.on('error', reject)
      request.on('close', () => reject(new Error('no reply')))
    }).then((reply) => {
      response = reply
      return { status: reply.statusCode ?? 0, headers: reply.headers, body: reply }
    })
    return new Call({
      request,
      reset: () => void tcp.resetAndDestroy(),
      head,
      trailers: () => ({ ...response?.trailers }) as Trailers,
    })
  }

  static #openHttp2(
    { port, url }: Address,
    method: string,
    path: string,
    headers: Record<string, string>,
    trailers: Trailers | undefined,
  ): Call {
    const session = connectHttp2(`${url.slice(0, url.indexOf(':'))}://127.0.0.1:${port}`, trusting)
    session.on('error', () => {})
    const stream: ClientHttp2Stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { waitForTrailers: trailers !== undefined, endStream: method !== 'POST' },
    )
    if (trailers !== undefined) stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    let received: Trailers = {}
    stream.on('trailers', (fields) => {
      received = Object.fromEntries(Object.entries(fields)) as Trailers
    })
    stream.on('close', () => session.close())
    const head = new Promise<{ status: number; headers: Record<string, unknown>; body: Readable }>(
      (resolve, reject) => {
        stream.on('response', (fields) =>
          resolve({ status: Number(fields[':status']), headers: fields, body: stream }),
        )
        stream.on('error', reject)
        stream.on('close', () => reject(new Error('no reply')))
      },
    )
    const reset = (): void => {
      stream.close(8)
      // What the server has reset would be left open with what is still to be written.
      if (stream.aborted) stream.destroy()
    }
    return new Call({ request: stream, reset, head, trailers: () => received })
  }

  /** Writes a part of the body. Returns false when the connection takes no more for now. */
  write(part: string | Uint8Array): boolean {
    return this.#request.write(part)
  }

  end(): this {
    this.#request.end()
    return this
  }

  get drained(): Promise<unknown> {
    return once(this.#request, 'drain')
  }

  /** Resets the request, as a client does that no longer needs it. */
  reset(): void {
    this.#reset()
  }

  /** Gives the head of the reply. The body is not read until it is asked for. */
  async head(): Promise<{ status: number; headers: Record<string, unknown> }> {
    const { status, headers } = await this.#head
    return { status, headers }
  }

  /** Reads the body until it has `text`. */
  async has(text: string): Promise<void> {
    await this.#read()
    await eventually(
      () => {
        if (this.#failure !== null) throw this.#failure
        return this.#text.includes(text)
      },
      `the reply has ${text}, and not only ${this.#text.slice(0, 200)}`,
    )
  }

  /** Reads the body to its end. Rejects if the reply breaks off. */
  async whole(): Promise<{
    status: number
    headers: Record<string, unknown>
    text: string
    trailers: Trailers
  }> {
    const { status, headers } = await this.#head
    await this.#read()
    await eventually(() => {
      if (this.#failure !== null) throw this.#failure
      return this.#ended
    }, 'the end of the reply')
    return { status, headers, text: this.#text, trailers: this.#trailers() }
  }

  #reading = false

  async #read(): Promise<void> {
    const { body } = await this.#head
    if (this.#reading) return
    this.#reading = true
    // It may have broken off before anybody read it.
    if (body.destroyed) this.#failure ??= new Error('the reply broke off')
    body.on('data', (bytes: Buffer) => (this.#text += bytes.toString('latin1')))
    body.on('end', () => {
      // A stream of HTTP/2 also emits `end` when it is reset.
      if (!(body as Partial<ClientHttp2Stream>).rstCode) this.#ended = true
    })
    body.on('error', (error: Error) => (this.#failure ??= error))
    body.on('close', () => {
      if (!this.#ended) this.#failure ??= new Error('the reply broke off')
    })
  }
}

export interface CallOptions {
  method?: string
  headers?: Record<string, string>
  trailers?: Trailers
}
