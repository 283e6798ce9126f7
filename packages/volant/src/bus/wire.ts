/**
 * What carries the messages of a bus between processes. An implementation only passes bytes on: order, gaps, repetitions
 * and limits are the business of `WiredBus`.
 */

/** What a wire calls. */
export interface WireEvents {
  /** Something was published to a channel, perhaps by this process. The bytes are not kept. */
  message(channel: string, bytes: Uint8Array): void
  /**
   * Channels can be subscribed to from now on. After `down` all subscriptions have to be made again: those that the
   * wire has kept by itself, too.
   */
  up(): void
  /** Messages may not arrive from now on. The error is why. */
  down(error: Error): void
}

/** What connects a bus with those of other processes. */
export interface BusWire {
  /** True where `publish` would send at once. */
  readonly canPublish: boolean
  /** Connects what channels are received by. It is called once, and `up` follows. */
  open(events: WireEvents): void
  /**
   * Sends bytes to a channel. Resolves when the server has them, rejects where that is not known; undefined where
   * sending cannot fail. Bytes to one channel arrive in their order, where they arrive.
   */
  publish(channel: string, bytes: Buffer): Promise<unknown> | undefined
  /** Resolves when all that is published to these channels from then on arrives. A channel may be subscribed to already. */
  subscribe(channels: readonly string[]): Promise<unknown>
  /** Resolves when nothing of the channel arrives any more. It may not be subscribed to. */
  unsubscribe(channel: string): Promise<unknown>
  /** Ends what `open` began. */
  close(): Promise<unknown>
}
