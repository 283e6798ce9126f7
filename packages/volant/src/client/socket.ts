/** A WebSocket that is connected again when its connection is lost. */
import { Backoff } from './backoff.ts'
import { ClientError } from './error.ts'
import { Heartbeat } from './heartbeat.ts'
import { gaveUp, isFinal, refusal } from './failure.ts'
import { checkClose, type Frame, frameOf, messageOf } from './frame.ts'
import { Listeners } from './listeners.ts'
import { SendQueue } from './send-queue.ts'
import { longest, within } from './send.ts'
import { MessageLoop } from './message-loop.ts'
import type { Dial, Dialled } from './dial.ts'
import type {
  ConnectOptions,
  PlatformSocket,
  SocketClose,
  SocketEvents,
  SocketState,
} from './socket-types.ts'

/** The server has so many milliseconds for its part of the closing handshake. */
const closeTimeout = 5_000

/**
 * What `connect` gives. It outlives its connections: where one is lost, it makes another, with waits that grow. It is
 * an async iterable of the messages that come; the loop ends when the socket is closed, and throws where no connection
 * can be had.
 */
export class ClientSocket<Sent = unknown, Received = unknown> {
  /** Resolves when the socket is closed and will not be connected again. */
  readonly closed: Promise<SocketClose>
  readonly #operation: string
  readonly #dial: Dial
  readonly #options: ConnectOptions<Sent>
  readonly #backoff: Backoff
  readonly #queue: SendQueue<Sent>
  readonly #heartbeat: Heartbeat
  readonly #mostBytes: number
  readonly #connectTimeout: number
  readonly #loops = new Set<MessageLoop<Received>>()
  readonly #listeners = new Listeners<SocketEvents<Sent, Received>>()
  #state: SocketState = 'connecting'
  #hasOpened = false
  #platform: PlatformSocket | undefined
  #dialled: Dialled | undefined
  /** Counts the attempts: what belongs to an earlier one comes too late. */
  #attempt = 0
  /** Ends the wait, the attempt, the closing handshake, or the time until the connection is stable. */
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Why there is no connection, if the platform or a server says so. */
  #cause: Error | undefined
  /** What loops throw: the socket was not closed by a close frame. */
  #failure: unknown
  #resolve: (end: SocketClose) => void = () => {}

  /** Begins to connect. Throws `TypeError` for an option that is out of its bounds. */
  constructor(operation: string, dial: Dial, options: ConnectOptions<Sent>) {
    const { connectTimeout = 10_000, maxQueuedMessages = 1_000, maxQueuedBytes = 1_048_576 } = options
    this.#operation = operation
    this.#dial = dial
    this.#options = options
    this.#backoff = new Backoff(options.reconnect)
    this.#connectTimeout = within('connectTimeout', connectTimeout, 1, longest)
    this.#mostBytes = within('maxQueuedBytes', maxQueuedBytes, 0, Infinity)
    this.#queue = new SendQueue(within('maxQueuedMessages', maxQueuedMessages, 0, Infinity), maxQueuedBytes)
    this.#heartbeat = new Heartbeat(options.heartbeat, {
      ask: (message) => this.send(message as Sent),
      dead: (error) => this.#lose(error),
    })
    this.closed = new Promise((resolve) => (this.#resolve = resolve))
    const { signal } = options
    if (signal?.aborted) {
      // Whoever called has to be able to listen first.
      void Promise.resolve().then(this.#abort)
      return
    }
    signal?.addEventListener('abort', this.#abort)
    ;(globalThis as Partial<EventTarget>).addEventListener?.('online', this.#online)
    void this.#connect()
  }

  /** Says in which phase the socket is. */
  get state(): SocketState {
    return this.#state
  }

  /** The subprotocol that the open connection has; it is empty where it has none. */
  get protocol(): string {
    return this.#platform?.protocol ?? ''
  }

  /** The bytes that wait for a connection, or to be sent by it. */
  get bufferedAmount(): number {
    return this.#queue.bytes + (this.#platform?.bufferedAmount ?? 0)
  }

  /** Calls `listener` with each event of that name, until the function that it gives is called. */
  on<K extends keyof SocketEvents<Sent, Received>>(
    name: K,
    listener: (event: SocketEvents<Sent, Received>[K]) => void,
  ): () => void {
    return this.#listeners.on(name, listener)
  }

  /**
   * Sends a message, as JSON if the route declares `in`. Without an open connection it waits for one. Each message is
   * sent once at most. Gives false where it is not sent: the socket is closed, or what waits is at one of its bounds.
   * Throws `TypeError` for a value that has no JSON.
   */
  send(message: Sent): boolean {
    const frame = frameOf(message)
    if (this.#state === 'closing' || this.#state === 'closed') return false
    const platform = this.#platform
    // A connection whose other side has begun to close discards what it is given.
    if (this.#state !== 'open' || platform?.readyState !== 1) return this.#queue.add(message, frame)
    if (platform.bufferedAmount > this.#mostBytes) return false
    this.#transmit(message, frame)
    return true
  }

  /**
   * Closes the socket for good. What an open connection was given to send is sent first, what waits for a connection is
   * dropped. `code` is 1000 or one from 3000 to 4999; `reason` has 123 bytes at most. Throws `TypeError` for others.
   */
  close(code = 1000, reason = ''): void {
    checkClose(code, reason)
    if (this.#state === 'closing' || this.#state === 'closed') return
    if (this.#state !== 'open') return this.#finish({ code, reason, opened: false, final: true })
    this.#state = 'closing'
    this.#heartbeat.stop()
    this.#after(closeTimeout, () => this.#lose(undefined))
    this.#platform!.close(code, reason)
  }

  /** Gives the messages that come from now on. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Received, undefined> {
    const loop = new MessageLoop<Received>(() => void this.#loops.delete(loop))
    if (this.#state === 'closed') loop.end(this.#failure)
    else this.#loops.add(loop)
    return loop
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt
    this.#state = 'connecting'
    this.#cause = undefined
    this.#after(this.#connectTimeout, () =>
      this.#lose(this.#error(`no connection within ${this.#connectTimeout} ms`)),
    )
    try {
      const dialled = await this.#dial()
      if (attempt !== this.#attempt) return
      this.#dialled = dialled
      this.#attach(dialled.open())
    } catch (error) {
      if (attempt === this.#attempt) this.#lose(error as Error)
    }
  }

  #attach(platform: PlatformSocket): void {
    this.#platform = platform
    platform.binaryType = 'arraybuffer'
    platform.onopen = () => this.#opened(platform)
    platform.onmessage = ({ data }: { data: string | ArrayBuffer }) => this.#receive(data)
    platform.onerror = ({ message = '' }: { message?: string }) => {
      if (message) this.#cause = refusal(this.#operation, message, this.#dialled!.url)
      // Node.js 22 has no close event for a connection that never was open.
      if (this.#state === 'connecting') this.#after(0, () => this.#lose(this.#cause))
    }
    platform.onclose = ({ code, reason }: { code: number; reason: string }) => this.#ended(code, reason)
  }

  #opened(platform: PlatformSocket): void {
    const reconnected = this.#hasOpened
    this.#hasOpened = true
    this.#state = 'open'
    this.#after(this.#backoff.stableAfter, () => this.#backoff.reset())
    this.#heartbeat.start(platform)
    this.#listeners.emit('open', { reconnected, protocol: platform.protocol })
    // A listener may have closed it.
    if (this.state !== 'open' || platform !== this.#platform) return
    for (const [message, frame] of this.#queue.take()) this.#transmit(message, frame)
  }

  #transmit(message: Sent, frame: Frame): void {
    const isText = typeof message === 'string' && !this.#dialled!.sendsJSON
    this.#platform!.send(isText ? message : frame)
  }

  #receive(data: string | ArrayBuffer): void {
    this.#heartbeat.heard()
    if (this.#state !== 'open') return
    let message: Received
    try {
      message = messageOf(data, this.#dialled!.receivesJSON) as Received
    } catch (cause) {
      const words = 'a message of the server is not JSON text: it was left out'
      return this.#report(this.#error(words, { body: messageOf(data, false), cause }))
    }
    this.#listeners.emit('message', message)
    for (const loop of this.#loops) loop.push(message)
  }

  /** Gives up the connection or the attempt without waiting for the platform, which may take long. */
  #lose(error: Error | undefined): void {
    this.#cause = error
    this.#detach()
    this.#ended(1006, '')
  }

  #ended(code: number, reason: string): void {
    const opened = this.#state === 'open' || this.#state === 'closing'
    const error = this.#cause
    const end = { code, reason, opened, ...(error && { error }) }
    this.#detach()
    const isLost =
      this.#state !== 'closing' && (opened ? this.#backoff.isLost({ code, reason }) : !isFinal(error))
    const retryIn = isLost ? this.#backoff.next(this.#hasOpened) : undefined
    if (retryIn === undefined) {
      if (!opened || (code === 1006 && this.#state !== 'closing'))
        this.#failure = gaveUp(this.#operation, error, opened, this.#hasOpened, this.#dialled?.url)
      return this.#finish({ ...end, final: true })
    }
    this.#state = 'waiting'
    this.#after(retryIn, () => void this.#connect())
    this.#listeners.emit('close', { ...end, final: false, retryIn })
  }

  #finish(end: SocketClose): void {
    this.#detach()
    this.#state = 'closed'
    this.#options.signal?.removeEventListener('abort', this.#abort)
    ;(globalThis as Partial<EventTarget>).removeEventListener?.('online', this.#online)
    const dropped = this.#queue.take()
    if (dropped.length)
      this.#listeners.emit(
        'dropped',
        dropped.map(([message]) => message),
      )
    const failure = this.#failure
    if (failure instanceof Error && failure !== this.#options.signal?.reason)
      this.#report(failure, this.#loops.size > 0)
    this.#listeners.emit('close', end)
    for (const loop of this.#loops) loop.end(failure)
    this.#loops.clear()
    this.#resolve(end)
  }

  /** Has nothing more come from the connection, or from the attempt to get one. */
  #detach(): void {
    this.#attempt++
    clearTimeout(this.#timer)
    this.#heartbeat.stop()
    const platform = this.#platform
    if (!platform) return
    this.#platform = undefined
    platform.onopen = platform.onmessage = platform.onclose = null
    // In Node.js an error without a listener is thrown.
    platform.onerror = () => {}
    platform.close()
  }

  readonly #abort = (): void => {
    this.#failure = this.#options.signal!.reason
    this.#finish({ code: 1000, reason: '', opened: this.#state === 'open', final: true })
  }

  readonly #online = (): void => {
    if (this.#state === 'open') this.#heartbeat.ask()
    if (this.#state !== 'waiting') return
    clearTimeout(this.#timer)
    void this.#connect()
  }

  #after(delay: number, then: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(then, delay)
  }

  #report(error: Error, isThrown = false): void {
    // oxlint-disable-next-line no-console -- an error that nobody listens to would be silent
    if (!this.#listeners.emit('error', error) && !isThrown) console.error(error)
  }

  #error(message: string, properties?: ConstructorParameters<typeof ClientError>[2]): ClientError {
    return new ClientError(this.#operation, message, properties)
  }
}
