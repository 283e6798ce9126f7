/** What every case is written with: an app on the adapter under test, served on a free port and closed after. */
import { type Address, type AdapterType, type App, type AppOptions, createApp } from 'volant'
import { type Capability, lackedBy } from './capabilities.ts'
import { Wire, type WireReply } from './wire.ts'

export { deferred, eventually, stderrLines, unchanging, within } from '@volant/test-kit'

export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export class Kit {
  readonly adapter: AdapterType
  /** Errors the apps of this kit reported, newest last. */
  readonly reports: unknown[] = []

  constructor(adapter: AdapterType) {
    this.adapter = adapter
  }

  can(capability: Capability): boolean {
    return lackedBy(this.adapter)[capability] === undefined
  }

  /** Options of a case that is skipped where the adapter lacks what it needs. */
  needs(capability: Capability): { skip: string | false } {
    return { skip: lackedBy(this.adapter)[capability] ?? false }
  }

  app(options: AppOptions = {}): App {
    return createApp({
      adapter: { type: this.adapter },
      signals: false,
      errorDetails: false,
      report: (error) => void this.reports.push(error),
      ...options,
      // Cases close with connections of clients open; `drain` has those that wait for them.
      limits: { drainIdle: 0, ...options.limits },
    })
  }

  /** The replies to `requests`: sent in one segment where the adapter takes them so, else one after the other. */
  async *replies(wire: Wire, requests: readonly Uint8Array[]): AsyncGenerator<WireReply> {
    const together = this.can('pipelining')
    if (together) wire.send(Buffer.concat(requests))
    for (const bytes of requests) {
      if (!together) wire.send(bytes)
      yield await wire.reply()
    }
  }

  /** Serves `app` while `run` runs. */
  async serve(app: App, run: (live: Live) => Promise<void>): Promise<void> {
    const live = new Live(app, await app.listen({ port: 0, host: '127.0.0.1' }))
    try {
      await run(live)
    } finally {
      live.closeAll()
      await app.close()
    }
  }
}

export class Live {
  readonly app: App
  readonly address: Address
  readonly #wires: Wire[] = []

  constructor(app: App, address: Address) {
    this.app = app
    this.address = address
  }

  async connect(): Promise<Wire> {
    const wire = await Wire.open(this.address)
    this.#wires.push(wire)
    return wire
  }

  /** One request on a connection of its own. */
  async ask(path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<WireReply> {
    const wire = await this.connect()
    wire.send(request(method, path, { connection: 'close', ...headers }, body))
    const reply = await wire.reply(method)
    wire.close()
    return reply
  }

  post(
    path: string,
    type: string | null,
    body: string | Uint8Array,
    more: Record<string, string> = {},
  ): Promise<WireReply> {
    return this.ask(path, {
      method: 'POST',
      headers: type === null ? more : { 'content-type': type, ...more },
      body,
    })
  }

  closeAll(): void {
    for (const wire of this.#wires) wire.close()
  }
}

/** The bytes of a request; Content-Length is added for a body unless the headers frame it. */
export function request(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array = '',
): Buffer {
  const fields: Record<string, string> = { host: 'localhost', ...headers }
  const bytes = Buffer.from(body as string)
  if (
    bytes.length > 0 &&
    fields['content-length'] === undefined &&
    fields['transfer-encoding'] === undefined
  ) {
    fields['content-length'] = String(bytes.length)
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes])
}
