/** A connection of a client that stays open, and says when it was lost. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { within } from '@volant/test-kit'
import type { Cluster } from './cluster.ts'

export interface Answer {
  readonly status: number
  readonly closes: boolean
  readonly text: string
}

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void }

export class Connection {
  readonly #socket: Socket
  #received = ''
  #waiting: Waiting | null = null
  /** The server has closed it, or the last reply said that it does. */
  isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      this.#take()
    })
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection was closed before the reply')))
  }

  /** Opens one to a port of this machine, or to a socket file. */
  static async open(target: number | string): Promise<Connection> {
    const socket =
      typeof target === 'number' ? connect({ port: target, host: '127.0.0.1' }) : connect({ path: target })
    await within(once(socket, 'connect'), 'to connect')
    return new Connection(socket)
  }

  /** Sends a request, and gives its reply. Rejects when the connection ends before. */
  ask(path: string, { method = 'GET', body = '', close = false } = {}): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
    if (this.isClosed) this.#fail(new Error('the connection is closed'))
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${close ? 'Connection: close\r\n' : ''}` +
        (method === 'POST'
          ? `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`
          : '\r\n'),
    )
    return within(answer, `the reply to ${method} ${path}`)
  }

  async json<T = { pid: number; worker: number; count: number; version: string }>(path: string): Promise<T> {
    const { status, text } = await this.ask(path)
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    return JSON.parse(text) as T
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(): void {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#received.slice(0, end)
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    if (this.#received.length < end + 4 + length) return
    const text = this.#received.slice(end + 4, end + 4 + length)
    this.#received = this.#received.slice(end + 4 + length)
    const closes = /\r\nconnection: *close/i.test(head)
    if (closes) this.isClosed = true
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), closes, text })
  }

  #fail(error: Error): void {
    this.isClosed = true
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.reject(error)
  }
}

/** Opens connections until one is served by each of the workers. Gives them by slot. */
export async function oneEach(port: number, count: number): Promise<Connection[]> {
  const found: Connection[] = []
  while (found.filter(Boolean).length < count) {
    const connection = await Connection.open(port)
    const { worker } = await connection.json('/')
    if (found[worker] === undefined) found[worker] = connection
    else connection.close()
  }
  return found
}

/**
 * Moves the held clock of a supervisor on by so many seconds. Those workers are heard in each of them whose connections
 * are given, and others only if they beat by themselves.
 */
export async function pulses(
  cluster: Cluster,
  count: number,
  heard: readonly (Connection | undefined)[],
): Promise<void> {
  for (let pulse = 0; pulse < count; pulse++) {
    await cluster.advance(1_000)
    for (const each of heard) await each?.json('/tell')
  }
}

/** Asks once by a connection of its own. */
export async function askOnce(target: number | string, path = '/'): Promise<Answer> {
  const connection = await Connection.open(target)
  try {
    return await connection.ask(path, { close: true })
  } finally {
    connection.close()
  }
}
