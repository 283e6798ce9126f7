/** Channels of Redis as the wire of a bus. */
import type { BusWire, WireEvents } from '../bus/wire.ts'
import type { Listener, Talks } from './bus-client.ts'

/** After a connection that was given up, in ms: one that was there may come back at once. */
const reopenAfter = { wasUp: 50, wasDown: 1_000 } as const

export class RedisWire implements BusWire {
  readonly #talks: Talks
  readonly #isSharded: boolean
  readonly #pingInterval: number
  #events: WireEvents | null = null
  #listener: Listener | null = null
  #timer: NodeJS.Timeout | null = null
  #isUp = false
  #isClosed = false

  constructor(talks: Talks, isSharded: boolean, pingInterval: number) {
    this.#talks = talks
    this.#isSharded = isSharded
    this.#pingInterval = pingInterval
  }

  get canPublish(): boolean {
    return this.#talks.isReady()
  }

  publish(channel: string, bytes: Buffer): Promise<unknown> {
    return this.#talks.publish(channel, bytes, this.#isSharded)
  }

  open(events: WireEvents): void {
    this.#events = events
    this.#connect()
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    await this.#connected().subscribe(channels)
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#connected().unsubscribe(channel)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#forget()
  }

  #connected(): Listener {
    if (this.#listener === null) throw new Error('the connection that receives is closed')
    return this.#listener
  }

  #connect(): void {
    try {
      this.#listener = this.#listen()
      this.#listener.connect()
    } catch (error) {
      this.#reopen(error as Error)
    }
  }

  #listen(): Listener {
    // What a client still says that was given up is nothing to the one that followed it.
    const isCurrent = (): boolean => listener === this.#listener
    const listener = this.#talks.listen({
      isSharded: this.#isSharded,
      message: (channel, bytes) => {
        if (isCurrent()) this.#events?.message(channel, bytes)
      },
      up: () => {
        if (!isCurrent() || this.#isUp) return
        this.#isUp = true
        this.#ping(listener)
        this.#events?.up()
      },
      down: (error) => {
        if (isCurrent()) this.#down(error)
      },
      ended: (error) => {
        if (isCurrent()) this.#reopen(error)
      },
    })
    return listener
  }

  #down(error: Error): void {
    this.#isUp = false
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#events?.down(error)
  }

  /** Nobody tells of a connection whose other end has gone without a word. */
  #ping(listener: Listener): void {
    let isAnswered = false
    listener.ping().then(
      () => (isAnswered = true),
      () => {},
    )
    this.#timer = setTimeout(() => {
      if (listener !== this.#listener) return
      if (isAnswered) this.#ping(listener)
      else this.#reopen(new Error(`no answer to a ping within ${this.#pingInterval} ms`))
    }, this.#pingInterval)
    this.#timer.unref()
  }

  #reopen(error: Error): void {
    const after = this.#isUp ? reopenAfter.wasUp : reopenAfter.wasDown
    this.#forget()
    this.#down(error)
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (!this.#isClosed) this.#connect()
    }, after)
    this.#timer.unref()
  }

  #forget(): void {
    const listener = this.#listener
    this.#listener = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    listener?.end()
  }
}
