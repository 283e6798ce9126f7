/**
 * One connection of an attacker: sends the given bytes, counts the bytes that return, and notes how the server ends it.
 */
import { type Socket, connect } from 'node:net'
import { type TLSSocket, connect as connectTls } from 'node:tls'
import { FrameReader, errorNames, flag, frame, preface, settings, type } from '@volant/test-kit/http2-frames'

export interface Target {
  readonly host: string
  readonly port: number
  /** True if the server speaks TLS at this port. */
  readonly encrypted: boolean
}

/** How a server ended a connection; `open` if it did not. */
export type Ending = 'closed' | 'reset' | 'open'

export interface ConnectionOptions {
  /** Pairs `[identifier, value]`, sent behind the preface. */
  readonly settings?: readonly (readonly [number, number])[]
  /** True reads nothing that the server sends until `read()`. */
  readonly deaf?: boolean
  /** True sends no preface, and does not read the received bytes as frames. */
  readonly bare?: boolean
}

/**
 * Errors that say that the attacker's own system has no more files, ports or memory. They say nothing about the server.
 */
const ownFaults = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'EADDRINUSE', 'EAGAIN', 'ENOBUFS', 'ENOMEM'])

/** Gives the code of the error by which the server refused a connection. Throws if the attacker's own system failed. */
export function refusalOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== undefined && ownFaults.has(code))
    throw new Error(`the attacker itself could open no more connections: ${message}`)
  return code ?? message
}

/** The longest time for one write, in ms. A server that takes nothing for so long has stopped reading. */
const patience = 3_000

export class Connection {
  readonly #socket: Socket | TLSSocket
  readonly #reader = new FrameReader()
  readonly #ended: Promise<void>
  readonly #changes = new Set<() => void>()
  /** False if the received bytes are not HTTP/2, or are not parsed. */
  readonly #speaks: boolean
  /** Bytes that were handed to the socket, and bytes that were read from it; over TLS both are plaintext. */
  sent = 0
  received = 0
  ending: Ending = 'open'
  /** The time from its beginning to its end, in ms; null while it is open. */
  lasted: number | null = null
  /** The code of the last GOAWAY; null without one. */
  goaway: number | null = null
  /** The number of replies that began, and of streams that the server ended, by a reset or with END_STREAM. */
  replies = 0
  finished = 0
  /** True if the server took no byte for 3 s. */
  isStalled = false
  /** The connection window of the server: the bytes that may still be sent. */
  window = 65_535
  /** The initial window of each stream, from the SETTINGS of the server. */
  streamWindow = 65_535

  /** True once the server's SETTINGS have arrived. */
  #isGreeted = false

  private constructor(
    socket: Socket | TLSSocket,
    began: number,
    { deaf = false, bare = false }: ConnectionOptions,
  ) {
    this.#socket = socket
    this.#speaks = !bare
    this.#ended = new Promise((resolve) => {
      const end = (how: Ending): void => {
        if (this.ending === 'open') {
          this.ending = how
          this.lasted = performance.now() - began
        }
        resolve()
        this.#changed()
      }
      socket.on('error', () => end('reset'))
      socket.on('end', () => end('closed')).on('close', () => end('closed'))
    })
    if (deaf) socket.pause()
    else this.read()
  }

  /**
   * Connects, sends the preface and acknowledges the SETTINGS of the server. Throws if nobody listens, or TLS fails.
   */
  static async open(target: Target, options: ConnectionOptions = {}): Promise<Connection> {
    const { host, port, encrypted } = target
    const began = performance.now()
    const socket = await new Promise<Socket | TLSSocket>((resolve, reject) => {
      const made: Socket | TLSSocket = encrypted
        ? connectTls({ host, port, ALPNProtocols: ['h2'], rejectUnauthorized: false }, () => done())
        : connect({ host, port }, () => done())
      const done = (): void => {
        made.off('error', reject)
        resolve(made)
      }
      made.once('error', reject)
    })
    socket.setNoDelay(true)
    const connection = new Connection(socket, began, options)
    if (options.bare !== true)
      await connection.send(Buffer.concat([preface, settings(options.settings ?? [])]))
    // The acknowledgement is sent first: between the frames of a header block it would be an error of the attacker.
    if (options.bare !== true && options.deaf !== true)
      await connection.until(() => connection.#isGreeted, patience)
    return connection
  }

  /** Reads what the server sends from now on. */
  read(): void {
    if (this.#socket.listenerCount('data') === 0)
      this.#socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    this.#socket.resume()
  }

  /** Resolves when the system has taken the bytes, or at once if the connection has ended. */
  async send(bytes: Uint8Array): Promise<void> {
    if (this.ending !== 'open' || this.isStalled) return
    this.sent += bytes.length
    if (this.#socket.write(bytes)) return
    const drained = new Promise<void>((resolve) => this.#socket.once('drain', () => resolve()))
    await Promise.race([drained, this.#ended, pause(patience).then(() => (this.isStalled = true))])
    // A stall that ended together with the connection, or with the last byte, does not count.
    if (this.#socket.writableLength === 0) this.isStalled = false
  }

  /**
   * Waits until `condition` holds, the connection has ended, or the time is over. Gives whether the condition holds.
   */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (!condition() && this.ending === 'open' && performance.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - performance.now())
        const wake = (): void => {
          clearTimeout(timer)
          this.#changes.delete(wake)
          resolve()
        }
        this.#changes.add(wake)
      })
    }
    return condition()
  }

  /** Waits for the server to end the connection. */
  async ended(ms: number): Promise<boolean> {
    return this.until(() => this.ending !== 'open', ms)
  }

  /** Closes the socket. `ending` keeps how the server ended the connection. */
  destroy(): void {
    this.#socket.on('error', () => undefined)
    this.#socket.destroy()
  }

  /** Describes the end, for example `GOAWAY ENHANCE_YOUR_CALM, closed`. */
  describe(): string {
    const code = this.goaway
    const how = this.ending === 'open' && this.isStalled ? 'stalled' : this.ending
    return code === null ? how : `GOAWAY ${errorNames[code] ?? code}, ${how}`
  }

  #receive(bytes: Buffer): void {
    this.received += bytes.length
    for (const { kind, flags, stream, payload } of this.#speaks ? this.#reader.feed(bytes) : []) {
      if ((kind === type.headers || kind === type.data) && (flags & flag.endStream) !== 0) this.finished += 1
      if (kind === type.goaway && payload.length >= 8) this.goaway = payload.readUInt32BE(4)
      else if (kind === type.reset) this.finished += 1
      else if (kind === type.headers) this.replies += 1
      else if (kind === type.windowUpdate && stream === 0) this.window += payload.readUInt32BE(0)
      else if (kind === type.settings && (flags & flag.ack) === 0) this.#adopt(payload)
    }
    this.#changed()
  }

  #adopt(values: Buffer): void {
    this.#isGreeted = true
    for (let at = 0; at + 6 <= values.length; at += 6)
      if (values.readUInt16BE(at) === 4) this.streamWindow = values.readUInt32BE(at + 2)
    if (this.ending === 'open') void this.send(frame(type.settings, flag.ack, 0))
  }

  #changed(): void {
    this.#changes.forEach((wake) => wake())
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
