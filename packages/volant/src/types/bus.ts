/** What a bus is: it passes messages between processes that serve the same topics. */

/**
 * Passes messages from one process to the others, by topic: `createApp({ bus })`, or used by itself.
 *
 * A message arrives at most once. Those of one publisher and topic arrive in the order in which they were published;
 * there is no order between publishers, or between topics. What gets lost is reported as a gap to whom it would have
 * reached, as far as a bus can know. Buses with the same name space and server hear each other.
 */
export interface Bus {
  /**
   * Sends a message to all receivers of `topic`, here and in other processes, except `except`. A text arrives as a text,
   * bytes arrive as bytes. It neither waits nor throws where the other processes cannot be reached: what cannot be sent
   * in time is dropped, counted, and a gap for those who missed it. Throws a `TypeError` for other values.
   */
  publish(topic: string, data: string | Uint8Array, except?: BusReceiver): void
  /**
   * Has `receiver` get what is published to `topic`, an exact name of any length. Gives a function that ends it. The
   * process is subscribed at the server of the bus as long as a topic has a receiver.
   */
  subscribe(topic: string, receiver: BusReceiver): () => void
  /**
   * Resolves once this process gets what others publish to `topic`, which it has a receiver for: a state that is read
   * then, and what arrives from then on, miss nothing between them. While the server is away it resolves too, and a gap
   * follows once messages arrive again; so it does when the topic has no receiver, and when the bus closes.
   */
  ready(topic: string): Promise<void>
  /** Gives the counters since the bus was made. */
  stats(): BusStats
  /**
   * Sends what waits, for a second at most, and ends all subscriptions and the connections that the bus has opened; those
   * that it was given stay open. What is published afterwards reaches nobody. An app closes its bus once its server is closed.
   */
  close(): Promise<void>
}

/** Gets what is published to the topics that it is subscribed to. What its functions throw is reported. */
export interface BusReceiver {
  /** A message. The bytes belong to the receiver. */
  message(topic: string, data: string | Buffer): void
  /** Messages of the topic were lost. What is read now from where the state is kept has all of them. */
  gap?(gap: BusGap): void
}

/** Messages that did not arrive. */
export interface BusGap {
  /** The topic that they were published to. */
  readonly topic: string
  /** The id of the bus that published them, which is new with each start of its process; null where it is not known. */
  readonly publisher: string | null
  /** How many they are; null where nobody knows, and there may have been none. */
  readonly lost: number | null
  /**
   * How it came out: `missing`, the number of a message was not the next one of its publisher; or `reconnected`, this
   * process was cut off from the server of the bus for a time, and is subscribed again.
   */
  readonly reason: 'missing' | 'reconnected'
}

/** Counters of a bus, since it was made. */
export interface BusStats {
  /** True where messages can be sent to other processes, and arrive from them, or there are no others. */
  readonly connected: boolean
  /** The topics with a receiver here. */
  readonly topics: number
  /** The messages that were published here. */
  readonly published: number
  /** The messages that came from other processes for a receiver here. */
  readonly received: number
  /** The messages published here of which it is not known that they were sent: dropped, or without an answer. */
  readonly unsent: number
  /** The gaps that were reported. */
  readonly gaps: number
  /** The messages in these gaps, where their number is known. */
  readonly lost: number
  /** What arrived and was no message of a bus, too long, or the repetition of a message. It is dropped. */
  readonly refused: number
  /** The bytes that wait to be sent, or for the answer of the server. */
  readonly waiting: number
}
