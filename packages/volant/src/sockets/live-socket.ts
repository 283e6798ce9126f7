/**
 * An open WebSocket, as hooks see it, and the events that an adapter has for it. There are two objects for each and no
 * closures, and neither knows the request: ten thousand idle ones are held at a time.
 */
import type { ServerSocket, SocketEvents } from '@volant/engine'
import { nextId } from '../context/id.ts'
import { VolantError } from '../errors/errors.ts'
import type { ServerWebSocket } from '../types/web-socket.ts'
import { countAddress } from './addresses.ts'
import { checkClose } from './close-code.ts'
import type { SocketKind } from './kind.ts'
import { checkTopic } from './topics.ts'

const none: readonly string[] = []

export class LiveSocket implements ServerWebSocket<unknown, unknown> {
  data: unknown
  readonly ip: string
  readonly protocol: string
  readonly #kind: SocketKind
  #socket: ServerSocket | null = null
  #topics: Set<string> | null = null
  #id: string | undefined

  constructor(kind: SocketKind, ip: string, protocol: string, data: unknown, id: string | undefined) {
    this.#kind = kind
    this.ip = ip
    this.protocol = protocol
    this.data = data
    this.#id = id
  }

  /** Begins its life with what the adapter gave for it. */
  begin(socket: ServerSocket): void {
    this.#socket = socket
    countAddress(this.#kind.app, this.ip, 1)
    this.#kind.run(this, 'open')
  }

  /** Ends its life: nothing of the connection is kept, whoever keeps this object. */
  end(): void {
    this.#socket = null
    for (const topic of this.#topics ?? none) this.#kind.app.topics.leave(topic)
    this.#topics = null
    countAddress(this.#kind.app, this.ip, -1)
  }

  get id(): string {
    return (this.#id ??= nextId())
  }

  get readyState(): 1 | 2 | 3 {
    if (this.#socket === null) return 3
    return this.#socket.closing ? 2 : 1
  }

  get bufferedAmount(): number {
    return this.#socket?.bufferedAmount ?? 0
  }

  get topics(): readonly string[] {
    return this.#topics === null ? none : [...this.#topics]
  }

  send(message: unknown): boolean {
    const data = this.#kind.writer.write(message)
    const socket = this.#socket
    return socket !== null && !socket.closing && socket.send(data)
  }

  json(value: unknown): boolean {
    const text = this.#kind.writer.json(value)
    const socket = this.#socket
    return socket !== null && !socket.closing && socket.send(text)
  }

  close(code = 1000, reason = ''): void {
    checkClose(code, reason)
    if (this.#socket?.closing === false) this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket?.terminate()
  }

  subscribe(topic: string): void {
    checkTopic(topic)
    const socket = this.#socket
    if (socket === null || socket.closing) return
    const topics = (this.#topics ??= new Set())
    if (topics.has(topic)) return
    const { maxTopics } = this.#kind.app.limits
    if (topics.size >= maxTopics) {
      throw new VolantError(
        'E_SOCKET_TOPIC',
        `a WebSocket of ${this.#kind.route.pattern} has ${maxTopics} topics, the limit maxTopics: unsubscribe from some first`,
      )
    }
    topics.add(topic)
    socket.subscribe(topic)
    this.#kind.app.topics.join(topic)
  }

  unsubscribe(topic: string): void {
    if (this.#topics?.delete(topic) !== true) return
    this.#socket?.unsubscribe(topic)
    this.#kind.app.topics.leave(topic)
  }

  isSubscribed(topic: string): boolean {
    return this.#topics?.has(topic) ?? false
  }

  publish(topic: string, message: unknown, options?: { readonly self?: boolean | undefined }): void {
    checkTopic(topic)
    const { writer, app } = this.#kind
    const data = writer.write(message)
    // A WebSocket that is closed has no subscription any more, so it gets nothing either way.
    if (this.#socket === null || options?.self === true) return app.serving.publish(topic, data)
    this.#socket.publish(topic, data)
    app.sharedTopics?.publish(topic, data)
  }

  /** Refuses, since its connection cannot be written as JSON. */
  toJSON(): never {
    throw new VolantError('E_NOT_SERIALISABLE', 'a WebSocket cannot be sent as JSON')
  }
}

/** What the adapter calls for a WebSocket. */
export class LiveEvents implements SocketEvents {
  readonly #kind: SocketKind
  readonly #socket: LiveSocket

  constructor(kind: SocketKind, socket: LiveSocket) {
    this.#kind = kind
    this.#socket = socket
  }

  message(data: string | Buffer): void {
    const kind = this.#kind
    const socket = this.#socket
    if (kind.reader === null) return kind.message(socket, data)
    let read: ReturnType<typeof kind.reader.read>
    try {
      read = kind.reader.read(data)
    } catch (error) {
      return kind.fail(socket, error, 'message')
    }
    if ('value' in read) return kind.message(socket, read.value)
    const { problem } = read
    if (kind.hooks.invalid !== undefined) return kind.run(socket, 'invalid', problem)
    socket.close(problem.code, problem.reason)
  }

  drain(): void {
    this.#kind.run(this.#socket, 'drain')
  }

  dropped(messages: number): void {
    this.#kind.run(this.#socket, 'dropped', messages)
  }

  close(code: number, reason: string): void {
    const socket = this.#socket
    socket.end()
    this.#kind.run(socket, 'close', code, reason)
  }
}
