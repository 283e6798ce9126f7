/** A client of a site: over sockets, or in memory through `app.inject`. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { Wire, type WireReply } from '@volant/adapter-cases/wire'
import type { Address, App } from 'volant'

export interface Ask {
  method?: string
  headers?: Record<string, string | string[]>
  body?: string | Uint8Array
}

/** A reply as scenarios compare it. */
export interface Seen {
  status: number
  /** True for a reply to HEAD. */
  head?: true
  /** Without those that belong to the connection and the day. */
  headers: Record<string, string>
  cookies: string[]
  body: Buffer
  text: string
}

/** Fields that every server writes its own way. */
const ofTheServer = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

export class Client {
  readonly #address: Address | null
  readonly #app: App | null
  readonly #wires = new Set<Wire>()

  constructor(address: Address | null, app: App | null) {
    this.#address = address
    this.#app = app
  }

  /** A connection, for scenarios that need to hold one. */
  async connect(): Promise<Wire> {
    if (this.#address === null) throw new Error('this scenario needs a socket: set memory: false')
    const wire = await Wire.open(this.#address)
    this.#wires.add(wire)
    return wire
  }

  /** One request on a connection of its own. */
  async ask(path: string, asked: Ask = {}): Promise<Seen> {
    const reply = await this.#ask(path, asked)
    // Expiry is of the day.
    reply.cookies = reply.cookies.map((one) =>
      one.replace(/Expires=(?!Thu, 01 Jan 1970)[^;]+/, 'Expires=then'),
    )
    if (asked.method === 'HEAD') return { ...reply, head: true }
    // How a body is framed is the server's; the reader of the connection has seen that it is right.
    delete reply.headers['content-length']
    return reply
  }

  async #ask(path: string, { method = 'GET', headers = {}, body }: Ask): Promise<Seen> {
    if (this.#app !== null)
      return this.#inject(path, { method, headers, ...(body === undefined ? {} : { body }) })
    const wire = await this.connect()
    wire.send(requestBytes(method, path, { connection: 'close', ...headers }, body))
    const reply = await wire.reply(method)
    wire.close()
    this.#wires.delete(wire)
    return seen(reply)
  }

  /** The same for megabytes, which the strict reader of a connection takes its time for. */
  async large(
    path: string,
    { method = 'GET', headers = {}, body, slow = false }: Ask & { slow?: boolean } = {},
  ): Promise<Seen> {
    const { port } = this.#address as { port: number }
    const asked = request({
      port,
      host: '127.0.0.1',
      path,
      method,
      headers: { host: 'localhost', ...headers },
      agent: false,
    })
    const [reply] = (await once(asked.end(body), 'response')) as [IncomingMessage]
    const parts: Buffer[] = []
    for await (const part of reply) {
      parts.push(part as Buffer)
      if (slow) for (let turns = 0; turns < 3; turns++) await turn()
    }
    const bytes = Buffer.concat(parts)
    const kept = Object.entries(reply.headers).filter(
      ([name]) => !ofTheServer.has(name) && name !== 'set-cookie',
    )
    return {
      status: reply.statusCode as number,
      headers: Object.fromEntries(kept) as Record<string, string>,
      cookies: reply.headers['set-cookie'] ?? [],
      body: bytes,
      text: bytes.length > 65_536 ? '' : bytes.toString(),
    }
  }

  get(path: string, headers: Ask['headers'] = {}): Promise<Seen> {
    return this.ask(path, { headers })
  }

  post(path: string, type: string, body: string | Uint8Array, headers: Ask['headers'] = {}): Promise<Seen> {
    return this.ask(path, { method: 'POST', headers: { 'content-type': type, ...headers }, body })
  }

  close(): void {
    for (const wire of this.#wires) wire.close()
    this.#wires.clear()
  }

  async #inject(path: string, { method, headers, body }: Ask): Promise<Seen> {
    const reply = await (this.#app as App).inject({ method, url: path, headers: headers ?? {}, body })
    const bytes = reply.body
    const fields = Object.entries(reply.headers as Record<string, string | string[]>)
    const kept = fields
      .filter(([name]) => !ofTheServer.has(name) && name !== 'set-cookie')
      .map(([name, value]): [string, string] => [name, String(value)])
    const cookies = fields.flatMap(([name, value]) => (name === 'set-cookie' ? [value].flat() : []))
    return {
      status: reply.status,
      headers: Object.fromEntries(kept),
      cookies,
      body: bytes,
      text: bytes.toString(),
    }
  }
}

export function seen(reply: WireReply): Seen {
  const kept = Object.entries(reply.headers).filter(
    ([name]) => !ofTheServer.has(name) && name !== 'set-cookie',
  )
  const cookies = reply.raw.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value)
  return {
    status: reply.status,
    headers: Object.fromEntries(kept),
    cookies,
    body: reply.body,
    text: reply.text,
  }
}

/** The parts of replies that stand for the whole: large bodies by their digest. */
export function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array)
    return value.length < 2048
      ? Buffer.from(value).toString('latin1')
      : `${value.length} bytes ${createHash('sha1').update(value).digest('hex')}`
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  const { text: _, ...rest } = value as Seen
  const entries = Object.entries('body' in value && 'cookies' in value ? rest : value)
  return Object.fromEntries(
    entries
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, each]) => [key, comparable(each)]),
  )
}

/** The status of a reply that the framework made of an error, and the fields that are the middleware's. */
export function brief({ status, headers }: Seen, ...names: string[]): unknown {
  return [status, ...names.map((name) => headers[name] ?? null)]
}

/** The bytes of a request; Content-Length is added for a body unless the headers frame it. */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  body: string | Uint8Array = '',
): Buffer {
  const fields: Record<string, string | string[]> = { host: 'localhost', ...headers }
  const bytes = Buffer.from(body as string)
  const framed = fields['content-length'] !== undefined || fields['transfer-encoding'] !== undefined
  if (bytes.length > 0 && !framed) fields['content-length'] = String(bytes.length)
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  )
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes])
}
