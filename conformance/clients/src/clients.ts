/** The clients of Node.js and undici behind one interface, so that one list of cases tests all of them. */
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, type RequestOptions, request as secureRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher, H2CClient } from 'undici'
import type { Site, Wire } from './site.ts'

export interface Ask {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: Buffer
  /** The trailer fields to send. */
  readonly trailers?: Record<string, string>
  readonly signal?: AbortSignal
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
  /** Gives the trailer fields, once the body was read. */
  trailers(): Readonly<Record<string, string | string[] | undefined>>
}

export interface Client {
  ask(path: string, ask?: Ask): Promise<Reply>
  /** The number of connections that the client has made. */
  readonly connections: number
  close(): Promise<void>
}

export interface ClientKind {
  readonly name: string
  readonly wire: Wire
  /** True for clients that send trailers. All of them read trailers. */
  readonly sendsTrailers: boolean
  make(site: Site): Client
}

export const kinds: readonly ClientKind[] = [
  { name: 'node:https', wire: 'https', sendsTrailers: true, make: (site) => new NodeHttps(site) },
  { name: 'node:http2 over TLS', wire: 'h2', sendsTrailers: true, make: (site) => new NodeHttp2(site) },
  { name: 'node:http2 without TLS', wire: 'h2c', sendsTrailers: true, make: (site) => new NodeHttp2(site) },
  {
    name: 'node:http without TLS beside h2c',
    wire: 'h2c',
    sendsTrailers: true,
    make: (site) => new NodeHttps(site),
  },
  { name: 'undici', wire: 'https', sendsTrailers: false, make: (site) => new Undici(site, false) },
  { name: 'undici with allowH2', wire: 'h2', sendsTrailers: false, make: (site) => new Undici(site, true) },
  {
    name: 'undici without TLS, H2CClient',
    wire: 'h2c',
    sendsTrailers: false,
    make: (site) => new Undici(site, true),
  },
]

class NodeHttps implements Client {
  readonly #site: Site
  readonly #sockets = new Set<Socket>()
  readonly #agent: PlainAgent

  constructor(site: Site) {
    this.#site = site
    const keep = { keepAlive: true, maxSockets: 8 }
    this.#agent =
      site.wire === 'h2c' ? new PlainAgent(keep) : new SecureAgent({ ...keep, ca: site.place.authority.cert })
  }

  async ask(
    path: string,
    { method = 'GET', headers = {}, body, trailers, signal }: Ask = {},
  ): Promise<Reply> {
    const fields =
      trailers === undefined ? headers : { ...headers, trailer: Object.keys(trailers).join(', ') }
    const options: RequestOptions = { method, headers: fields, agent: this.#agent, signal }
    const request = (this.#site.wire === 'h2c' ? plainRequest : secureRequest)(this.#site.url + path, options)
    if (trailers !== undefined) request.addTrailers(trailers)
    request.end(body)
    const [reply] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
    this.#sockets.add(reply.socket)
    return {
      status: reply.statusCode as number,
      headers: reply.headers,
      body: reply,
      trailers: () => reply.trailers,
    }
  }

  get connections(): number {
    return this.#sockets.size
  }

  async close(): Promise<void> {
    this.#agent.destroy()
  }
}

class NodeHttp2 implements Client {
  connections = 0
  readonly #session: ClientHttp2Session

  constructor({ url, place }: Site) {
    this.#session = connectHttp2(url, { ca: place.authority.cert })
    this.#session.on('connect', () => this.connections++)
    // The stream itself reports why it failed.
    this.#session.on('error', () => {})
  }

  async ask(
    path: string,
    { method = 'GET', headers = {}, body, trailers, signal }: Ask = {},
  ): Promise<Reply> {
    const fields = { ':path': path, ':method': method, ...headers }
    const stream: ClientHttp2Stream = this.#session.request(fields, {
      endStream: body === undefined,
      waitForTrailers: trailers !== undefined,
      ...(signal === undefined ? {} : { signal }),
    })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}))
    let received: Record<string, string | string[] | undefined> = {}
    stream.on('trailers', (those) => (received = those))
    if (body !== undefined) stream.end(body)
    const [head] = (await once(stream, 'response')) as [Record<string, string> & { ':status': number }]
    return { status: head[':status'], headers: head, body: stream, trailers: () => received }
  }

  async close(): Promise<void> {
    this.#session.destroy()
  }
}

class Undici implements Client {
  connections = 0
  readonly #origin: string
  readonly #dispatcher: Dispatcher

  constructor({ url, place, wire }: Site, allowH2: boolean) {
    this.#origin = url
    const connect = { ca: place.authority.cert }
    this.#dispatcher =
      wire === 'h2c'
        ? new H2CClient(url, { maxConcurrentStreams: 100, pipelining: 100 })
        : new Agent({ allowH2, connect, connections: allowH2 ? 1 : 8, pipelining: allowH2 ? 100 : 1 })
    this.#dispatcher.on('connect', () => this.connections++)
  }

  async ask(path: string, { method = 'GET', headers = {}, body, signal }: Ask = {}): Promise<Reply> {
    const reply = await this.#dispatcher.request({
      origin: this.#origin,
      path,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: body ?? null,
      signal: signal ?? null,
    })
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: reply.body,
      trailers: () => reply.trailers,
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy()
  }
}
