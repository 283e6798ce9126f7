/** A WebSocket class without a network: a test says what happens to each connection. */
import { mock } from 'node:test'
import {
  type ClientSocket,
  connect,
  type ConnectOptions,
  createClient,
  type PlatformSocket,
  type Socket,
  type SocketClose,
} from '../../../src/client/index.ts'

export class FakeSocket implements PlatformSocket {
  /** All that were made, newest last. */
  static made: FakeSocket[] = []

  static get last(): FakeSocket {
    return FakeSocket.made.at(-1) as FakeSocket
  }

  binaryType = 'blob'
  bufferedAmount = 0
  protocol = ''
  readyState = 0
  onopen: PlatformSocket['onopen'] = null
  onmessage: PlatformSocket['onmessage'] = null
  onerror: PlatformSocket['onerror'] = null
  onclose: PlatformSocket['onclose'] = null
  readonly url: string
  readonly init: unknown
  readonly sent: unknown[] = []
  readonly closed: unknown[][] = []

  constructor(url: string, init?: unknown) {
    this.url = url
    this.init = init
    FakeSocket.made.push(this)
  }

  send(data: unknown): void {
    this.sent.push(data)
  }

  close(...args: unknown[]): void {
    this.closed.push(args)
    this.readyState = 2
  }

  open(protocol = ''): this {
    this.readyState = 1
    this.protocol = protocol
    this.onopen?.({})
    return this
  }

  receive(data: string | ArrayBuffer): void {
    this.onmessage?.({ data })
  }

  end(code = 1006, reason = '', message?: string): void {
    this.readyState = 3
    if (code === 1006) this.onerror?.({ message })
    this.onclose?.({ code, reason })
  }
}

/** A class with ping frames, as `ws` has them. */
export class PingingFakeSocket extends FakeSocket {
  pings = 0
  readonly #listeners = new Map<string, () => void>()

  ping(): void {
    this.pings++
  }

  on(name: string, listener: () => void): void {
    this.#listeners.set(name, listener)
  }

  pong(): void {
    this.#listeners.get('pong')?.()
  }
}

/**
 * Runs `run` with a clock that stands still: `pass` moves it. Waits have their full length, until `part` makes them a
 * part of it.
 */
export async function withClock(
  run: (pass: (ms: number) => Promise<void>, part: (part: number) => void) => Promise<void>,
): Promise<void> {
  FakeSocket.made = []
  mock.timers.enable({ apis: ['setTimeout'] })
  let part = 1
  const random = mock.method(Math, 'random', () => part)
  const pass = async (ms: number): Promise<void> => {
    mock.timers.tick(ms)
    await settled()
  }
  try {
    await run(pass, (given) => void (part = given))
  } finally {
    random.mock.restore()
    mock.timers.reset()
  }
}

/** Waits until what has begun without a clock has ended. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve))
}

/** A message of the route `chat`. */
export interface Message {
  text: string
}

/** What the fake server has. */
export interface Api {
  chat: Socket<{ params: { room: string } }, Message, Message>
  raw: Socket<
    { query?: { token?: string } },
    string | Uint8Array<ArrayBuffer>,
    string | Uint8Array<ArrayBuffer>
  >
}

export const routes = { chat: ['WS', '/chat/:room', ['in', 'out']], raw: ['WS', '/raw'] } as const
export const client = createClient<Api>('https://api.test/v1/', { routes })

/** A socket, and all of its events by name. */
export async function open(options: ConnectOptions<Message> = {}) {
  const socket = connect(client.chat, { params: { room: 'a' } }, { WebSocket: FakeSocket, ...options })
  const seen = watch(socket)
  await settled()
  return { socket, ...seen }
}

export function watch<S, R>(socket: ClientSocket<S, R>) {
  const opens: boolean[] = []
  const messages: R[] = []
  const closes: SocketClose[] = []
  const dropped: S[] = []
  const errors: Error[] = []
  socket.on('open', ({ reconnected }) => void opens.push(reconnected))
  socket.on('message', (message) => void messages.push(message))
  socket.on('close', (end) => void closes.push(end))
  socket.on('dropped', (each) => void dropped.push(...each))
  socket.on('error', (error) => void errors.push(error))
  return { opens, messages, closes, dropped, errors }
}
