/** What every case is written with: an app on the adapter under test, served on a free port and closed after. */
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { eventually, idleLimits, turns } from '@volant/test-kit'
import {
  type Address,
  type AdapterType,
  type App,
  type AppOptions,
  createApp,
  type ListenOptions,
  type TlsOptions,
  type VolantError,
} from 'volant'
import { type Capability, lackedBy } from './capabilities.ts'
import { type AdapterClock, adapterClock } from './clock.ts'
import { askByHttp2, fitsHttp2 } from './http2-ask.ts'
import { Wire, type WireReply } from './wire.ts'

export { deferred, eventually, stderrLines, turns, unchanging, within } from '@volant/test-kit'

/** Says whether an error has this code and a message that matches. */
export const coded =
  (code: string, what = /^/) =>
  (error: VolantError) =>
    (error.code as string) === code && what.test(error.message)

export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export class Kit {
  readonly adapter: AdapterType
  /** Errors the apps of this kit reported, newest last. */
  readonly reports: unknown[] = []

  /** The options of TLS with which the apps listen; undefined without TLS. */
  readonly #tls: TlsOptions | undefined

  /** The version of HTTP that `Live.ask` asks with. */
  readonly version: '1.1' | '2'

  constructor(adapter: AdapterType, tls?: TlsOptions, version: '1.1' | '2' = '1.1') {
    this.adapter = adapter
    this.#tls = tls
    this.version = version
  }

  /** The scheme of the addresses that the apps listen on. */
  get scheme(): 'http' | 'https' {
    return this.#tls === undefined ? 'http' : 'https'
  }

  can(capability: Capability): boolean {
    return lackedBy(this.adapter)[capability] === undefined
  }

  /** Options of a case that is skipped where the adapter lacks what it needs. */
  needs(capability: Capability): { skip: string | false } {
    return { skip: lackedBy(this.adapter)[capability] ?? false }
  }

  /** Holds the clock of time limits until `t` ends, where the adapter's can be held. */
  clock(t: TestContext): AdapterClock {
    return adapterClock(t, this.adapter)
  }

  app(options: AppOptions = {}): App {
    const app = createApp({
      adapter: { type: this.adapter },
      signals: false,
      errorDetails: false,
      report: (error) => void this.reports.push(error),
      ...options,
      // Cases close with connections of clients open; `drain` has those that wait for them.
      limits: { drainIdle: 0, ...options.limits, ...idleLimits(this.adapter, options.limits) },
    })
    if (this.#tls !== undefined) encrypt(app, this.#tls)
    return app
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

  /** Serves `app` while `run` runs. A `clock` that is held goes on while the app closes, which takes timers. */
  async serve(
    app: App,
    run: (live: Live) => Promise<void>,
    { clock, ...options }: { http2?: boolean; clock?: Pick<AdapterClock, 'advance'> } = {},
  ): Promise<void> {
    const http2 = this.version === '2' || undefined
    const address = await app.listen({ port: 0, host: '127.0.0.1', http2, ...options })
    const live = new Live(app, address, options.http2 === false ? '1.1' : this.version)
    try {
      await run(live)
    } finally {
      live.closeAll()
      const closing = app.close()
      if (clock !== undefined) await passing(clock, closing)
      await closing
    }
  }
}

export class Live {
  readonly app: App
  readonly address: Address
  readonly #wires: Wire[] = []
  readonly #version: '1.1' | '2'

  constructor(app: App, address: Address, version: '1.1' | '2' = '1.1') {
    this.app = app
    this.address = address
    this.#version = version
  }

  /** Opens a connection. `from` is the address of the client, if the machine has several. */
  async connect(from?: string): Promise<Wire> {
    const wire = await Wire.open(this.address, from)
    this.#wires.push(wire)
    return wire
  }

  /** Sends one request on a connection of its own, with the version of HTTP of the suite. */
  async ask(path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<WireReply> {
    if (this.#version === '2' && fitsHttp2(method, path, headers)) {
      return askByHttp2(this.address, method, path, headers, Buffer.from((body ?? '') as string))
    }
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

/** Waits for ever; `signal` ends that with the error that Node.js has for it. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  await once(new EventEmitter(), 'never', { signal })
}

/**
 * Reads at least `bytes` from a socket, 64 KiB at a time; after each read `clock` goes on by `pause` ms, if there is one.
 * Gives false if the socket ends before.
 */
export async function readSlowly(
  socket: Socket,
  bytes: number,
  pause = 10,
  clock?: AdapterClock,
): Promise<boolean> {
  socket.removeAllListeners('data')
  socket.pause()
  for (let received = 0; received < bytes;) {
    let chunk: Buffer | null = null
    const isOver = (): boolean => socket.destroyed || socket.readableEnded
    await eventually(() => {
      // Reading makes the stream ask its socket for more.
      chunk = (socket.read(65_536) ?? socket.read()) as Buffer | null
      return chunk !== null || isOver()
    }, 'more bytes')
    if (chunk === null) return false
    received += (chunk as Buffer).length
    await (clock === undefined ? turns(1) : clock.advance(pause))
  }
  return true
}

/** Reads at least `bytes` from a socket, with a wait after each 2 MB. Gives false if the socket ends before. */
export async function readInSteps(
  socket: Socket,
  bytes: number,
  wait: () => Promise<void>,
): Promise<boolean> {
  const step = 2_000_000
  socket.removeAllListeners('data')
  socket.pause()
  for (let received = 0, next = step; received < bytes; await turns(1)) {
    if (socket.destroyed || socket.readableEnded) return false
    const chunk = (socket.read(65_536) ?? socket.read()) as Buffer | null
    received += chunk?.length ?? 0
    if (received < next) continue
    next += step
    await turns()
    await wait()
  }
  return true
}

/** Moves time on, a little at a time, until `promise` is settled. */
async function passing(clock: Pick<AdapterClock, 'advance'>, promise: Promise<unknown>): Promise<void> {
  let isSettled = false
  const settle = () => (isSettled = true)
  promise.then(settle, settle)
  await eventually(async () => {
    if (!isSettled) await clock.advance(1)
    return isSettled
  }, 'the close of the app')
}

/** Makes an app listen with TLS at each call of `listen` in a case. */
function encrypt(app: App, tls: TlsOptions): void {
  const listen = app.listen.bind(app)
  app.listen = (target, host, callback) => {
    const options: ListenOptions = typeof target === 'object' ? target : { port: target }
    return listen({ tls, ...options }, host, callback)
  }
}
