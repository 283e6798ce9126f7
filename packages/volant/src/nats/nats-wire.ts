/** Passes what a bus sends over subjects of NATS. */
import type { BusWire, WireEvents } from '../bus/wire.ts'

/** What a bus needs of a connection of `@nats-io/transport-node`. */
export interface NatsBusConnection {
  /** Sends a message to a subject. */
  publish(subject: string, data: Uint8Array): void
  /** Subscribes to a subject. */
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: { readonly data: Uint8Array }) => void },
  ): { unsubscribe(): void }
  /** Resolves when the server has what was sent before. */
  flush(): Promise<void>
  /** Tells what happens to the connection. */
  status(): AsyncIterable<{ readonly type: string; readonly error?: Error }>
  /** True once it will not connect again. */
  isClosed(): boolean
}

export class NatsWire implements BusWire {
  readonly #connection: NatsBusConnection
  readonly #subscriptions = new Map<string, { unsubscribe(): void }>()
  #events: WireEvents | null = null
  #isConnected = true
  #isClosed = false
  /** Resolves when the server has what is published now. */
  #answer: Promise<void> | null = null

  constructor(connection: NatsBusConnection) {
    this.#connection = connection
    void this.#watch()
  }

  get canPublish(): boolean {
    return this.#isConnected && !this.#connection.isClosed()
  }

  open(events: WireEvents): void {
    this.#events = events
    if (this.canPublish) events.up()
  }

  /** One ping asks for all that is published in a turn. */
  publish(channel: string, bytes: Buffer): Promise<void> {
    this.#connection.publish(subjectOf(channel), bytes)
    return (this.#answer ??= Promise.resolve().then(() => {
      this.#answer = null
      return this.#connection.flush()
    }))
  }

  subscribe(channels: readonly string[]): Promise<void> {
    for (const channel of channels) {
      if (this.#subscriptions.has(channel)) continue
      const callback = (error: Error | null, message: { readonly data: Uint8Array }): void => {
        if (error === null) this.#events?.message(channel, message.data)
      }
      this.#subscriptions.set(channel, this.#connection.subscribe(subjectOf(channel), { callback }))
    }
    return this.#connection.flush()
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#subscriptions.get(channel)?.unsubscribe()
    this.#subscriptions.delete(channel)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const each of this.#subscriptions.values()) each.unsubscribe()
    this.#subscriptions.clear()
  }

  async #watch(): Promise<void> {
    let error = new Error('the connection was lost')
    for await (const status of this.#connection.status()) {
      if (this.#isClosed) return
      if (status.error instanceof Error) error = status.error
      if (status.type === 'reconnect') {
        this.#isConnected = true
        this.#events?.up()
      } else if (status.type === 'disconnect' || status.type === 'close') {
        this.#isConnected = false
        this.#events?.down(error)
      }
    }
  }
}

/** A subject has no spaces and no control characters, and `.`, `*` and `>` mean something in it. */
function subjectOf(channel: string): string {
  const [, nameSpace = '', kind = '', topic = ''] = /^([^:]*):([^:]*):(.*)$/s.exec(channel) ?? []
  return `${nameSpace}.${kind}.${encodeURIComponent(topic).replace(/[.*]/g, (each) => (each === '.' ? '%2E' : '%2A'))}`
}
