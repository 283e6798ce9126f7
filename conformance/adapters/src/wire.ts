/** A client that sends exactly what it is told to and reads replies strictly: anything left over is an error. */
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { Patience, turns } from '@volant/test-kit'
import type { Address } from 'volant'

/** Cases hold the clock of their server; a client keeps to that of the machine. */
const { setTimeout, clearTimeout, performance } = globalThis
const now = performance.now.bind(performance)
/** For how long something may come that is not what is waited for, in ms. */
const longest = 300_000

export interface WireReply {
  version: string
  status: number
  /** The phrase after the status. */
  reason: string
  /** By lower-case name; a repeated name is joined with ', '. */
  headers: Record<string, string>
  /** Name and value in the order received. */
  raw: [string, string][]
  body: Buffer
  /** Name and value of each trailer field, in the order received. */
  trailers: [string, string][]
  text: string
  json(): unknown
}

export class Wire {
  readonly socket: Socket
  /** Resolves to how the server ended the connection. */
  readonly closed: Promise<'end' | 'reset'>
  /** The TCP socket below `socket`, or `socket` itself. A TLSSocket cannot send a RST. */
  readonly #tcp: Socket
  /** Holds what was received, from `#start` to `#end`, and room behind it: each part would else copy those before it. */
  #store: Buffer = Buffer.alloc(0)
  #start = 0
  #end = 0
  #ended = false
  #wake: (() => void) | null = null

  private constructor(socket: Socket, tcp: Socket = socket) {
    this.socket = socket
    this.#tcp = tcp
    this.closed = new Promise((resolve) => {
      socket.on('error', () => resolve('reset'))
      socket.on('close', () => resolve('end'))
      socket.on('end', () => resolve('end'))
    })
    void this.closed.then(() => {
      this.#ended = true
      this.#wake?.()
    })
    socket.on('data', (bytes: Buffer) => {
      this.#append(bytes)
      this.#wake?.()
    })
  }

  /** What came and was not taken yet. */
  get received(): Buffer {
    return this.#store.subarray(this.#start, this.#end)
  }

  set received(rest: Buffer) {
    const isEnd =
      rest.buffer === this.#store.buffer &&
      rest.byteOffset + rest.length === this.#store.byteOffset + this.#end
    if (!isEnd) {
      this.#store = rest
      this.#end = rest.length
    }
    this.#start = this.#end - rest.length
  }

  #append(bytes: Buffer): void {
    if (this.#end + bytes.length > this.#store.length) {
      const { received } = this
      // What was taken keeps its bytes: they stay in the store that it is a part of.
      this.#store = Buffer.alloc(2 * (received.length + bytes.length))
      received.copy(this.#store)
      this.#start = 0
      this.#end = received.length
    }
    bytes.copy(this.#store, this.#end)
    this.#end += bytes.length
  }

  /** The client keeps its sending side open after the server's end, unless told to close. */
  static open(address: Address, from?: string): Promise<Wire> {
    const target =
      address.path === null
        ? { port: address.port as number, host: '127.0.0.1', localAddress: from }
        : { path: address.path }
    return new Promise((resolve, reject) => {
      const options = { ...target, allowHalfOpen: true, noDelay: true } as NetConnectOpts
      const isSecure = address.url.startsWith('https:')
      const tcp = connect(options)
      // The cases do not check who issued a certificate.
      const socket = isSecure ? connectTls({ socket: tcp, rejectUnauthorized: false }) : tcp
      socket.once('error', reject)
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        socket.off('error', reject)
        resolve(new Wire(socket, tcp))
      })
    })
  }

  /** Uses a stream as a connection. It can send and close, but it has no reset. */
  static over(stream: Duplex): Wire {
    return new Wire(stream as Socket)
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    return this
  }

  /** Waits until `test` holds, or says what was received. */
  async until<T>(test: () => T | undefined, what: string): Promise<T> {
    const last = now() + longest
    const patience = new Patience()
    let isOver = false
    let had = this.received.length
    for (;;) {
      const result = test()
      if (result !== undefined) return result
      const isMore = this.received.length !== had
      had = this.received.length
      // A slow machine takes its time for megabytes.
      if (isMore) patience.renew()
      if (isOver && (!isMore || now() > last))
        throw new Error(
          `waited for ${what} in vain${this.#ended ? ', and the connection has ended' : ''}; received: ${this.received.toString('latin1').slice(0, 500)}`,
        )
      const left = Math.min(patience.left(), last - now())
      isOver = left <= 0
      if (isOver) {
        // A process that stood still runs its timers before it reads what came.
        await turns()
        continue
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          this.#wake = null
          resolve()
        }
      })
    }
  }

  /** The next final reply. `method` is the request's, since a reply to HEAD has no body. */
  async reply(method = 'GET'): Promise<WireReply> {
    for (;;) {
      const reply = await this.until(() => this.#take(method), 'a reply')
      if (reply.status >= 200) return reply
    }
  }

  /** The next reply, interim ones too. */
  interim(): Promise<WireReply> {
    return this.until(() => this.#take('GET'), 'a reply')
  }

  /** Waits for the server to end the connection; fails if there are bytes no reply accounts for. */
  async ended(): Promise<'end' | 'reset'> {
    await this.until(() => (this.#ended ? true : undefined), 'the end of the connection')
    if (this.received.length > 0)
      throw new Error(`bytes after the last reply: ${this.received.toString('latin1').slice(0, 200)}`)
    return this.closed
  }

  get isEnded(): boolean {
    return this.#ended
  }

  /** Ends the connection with a RST. */
  reset(): void {
    this.#tcp.resetAndDestroy()
  }

  close(): void {
    this.socket.destroy()
  }

  #take(method: string): WireReply | undefined {
    const end = this.received.indexOf('\r\n\r\n')
    if (end === -1) return this.#incomplete()
    const head = this.received.toString('latin1', 0, end)
    const [first = '', ...lines] = head.split('\r\n')
    const status = /^(HTTP\/1\.[01]) (\d{3}) ([\t\x20-\x7e]*)$/.exec(first)
    if (status === null) throw new Error(`not a status line: ${JSON.stringify(first)}`)
    const headers: Record<string, string> = Object.create(null) as Record<string, string>
    const raw: [string, string][] = []
    for (const line of lines) {
      const [name, value] = fieldOf(line)
      raw.push([name, value])
      const key = name.toLowerCase()
      headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
    }
    const code = Number(status[2])
    const body = this.#body(end + 4, code, headers, method)
    if (body === undefined) return this.#incomplete()
    let text: string | undefined
    // Large bodies that no case reads as text are not decoded.
    const decoded = (): string => (text ??= body.bytes.toString('utf8'))
    this.received = this.received.subarray(body.next)
    return {
      version: status[1] as string,
      status: code,
      reason: status[3] as string,
      headers,
      raw,
      body: body.bytes,
      trailers: body.trailers ?? [],
      get text() {
        return decoded()
      },
      json: () => JSON.parse(decoded()) as unknown,
    }
  }

  #incomplete(): undefined {
    if (this.#ended)
      throw new Error(
        `the connection ended in a reply: ${JSON.stringify(this.received.toString('latin1').slice(0, 200))}`,
      )
    return undefined
  }

  #body(start: number, status: number, headers: Record<string, string>, method: string): Body | undefined {
    const none = { bytes: Buffer.alloc(0), next: start }
    if (status < 200 || status === 204 || status === 304 || method === 'HEAD') return none
    const length = headers['content-length']
    if (headers['transfer-encoding'] !== undefined) {
      if (length !== undefined) throw new Error('both Content-Length and Transfer-Encoding')
      return this.#chunks(start)
    }
    if (length !== undefined) {
      if (!/^\d+$/.test(length)) throw new Error(`Content-Length: ${length}`)
      const next = start + Number(length)
      return this.received.length < next ? undefined : { bytes: this.received.subarray(start, next), next }
    }
    return this.#ended ? { bytes: this.received.subarray(start), next: this.received.length } : undefined
  }

  #chunks(start: number): Body | undefined {
    const parts: Buffer[] = []
    for (let at = start; ;) {
      const line = this.received.indexOf('\r\n', at)
      if (line === -1) return undefined
      const size = this.received.toString('latin1', at, line)
      if (!/^[0-9a-fA-F]+$/.test(size)) throw new Error(`not a chunk size: ${size}`)
      const length = Number.parseInt(size, 16)
      if (length === 0) return this.#trailers(parts, line + 2)
      const next = line + 2 + length + 2
      if (this.received.length < next) return undefined
      if (this.received.toString('latin1', next - 2, next) !== '\r\n')
        throw new Error('no CRLF after a chunk')
      parts.push(this.received.subarray(line + 2, line + 2 + length))
      at = next
    }
  }

  #trailers(parts: Buffer[], start: number): Body | undefined {
    const trailers: [string, string][] = []
    for (let at = start; ;) {
      const end = this.received.indexOf('\r\n', at)
      if (end === -1) return undefined
      if (end === at) return { bytes: Buffer.concat(parts), next: end + 2, trailers }
      trailers.push(fieldOf(this.received.toString('latin1', at, end)))
      at = end + 2
    }
  }
}

interface Body {
  bytes: Buffer
  next: number
  trailers?: [string, string][]
}

function fieldOf(line: string): [name: string, value: string] {
  const field = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([\t\x20-\x7e\x80-\xff]*)$/.exec(line)
  if (field === null) throw new Error(`not a header line: ${JSON.stringify(line)}`)
  return [field[1] as string, field[2] as string]
}
