/** Which channels a process is subscribed to, and which it should be: one follows the other, over lost connections too. */
import type { BusReceiver } from '../types/bus.ts'
import { HeardCounts } from './counts.ts'
import type { BusWire } from './wire.ts'

/** So many ms after it was refused, a subscription is asked for again. */
const retryAfter = 1_000
/** So many channels are subscribed to by one call. */
const atOnce = 256

/** A topic with receivers, or one that is about to have none. */
export interface Topic {
  readonly name: string
  readonly channel: string
  readonly receivers: Set<BusReceiver>
  heard: HeardCounts
  /** What the server knows of it, as far as this process does. `unknown` is what `none` may be after a lost connection. */
  state: 'none' | 'joining' | 'joined' | 'leaving' | 'unknown'
  /** True where messages may have been missed, which is told once it is joined. */
  hasMissed: boolean
  waiters: (() => void)[]
}

export interface SubscriptionOptions {
  /** Null where there are no other processes. */
  readonly wire: BusWire | null
  /** Is called where messages of a topic may have been missed, once they arrive again. */
  readonly missed: (topic: Topic) => void
  /** Is called where a subscription was refused. */
  readonly refused: (error: Error) => void
  /** Is called where the server has done what it was asked for. */
  readonly answered: () => void
}

export class Subscriptions {
  readonly byName = new Map<string, Topic>()
  readonly byChannel = new Map<string, Topic>()
  isUp = false
  readonly #options: SubscriptionOptions
  /** True where the connection was lost, or could not be made, since it was there last. */
  #wasLost = false
  /** Counts lost connections: what was asked before is not answered after. */
  #era = 0
  #retry: NodeJS.Timeout | null = null

  constructor(options: SubscriptionOptions) {
    this.#options = options
  }

  add(name: string, channelOf: (name: string) => string, receiver: BusReceiver): Topic {
    let topic = this.byName.get(name)
    if (topic === undefined) {
      const channel = channelOf(name)
      topic = {
        name,
        channel,
        receivers: new Set(),
        heard: new HeardCounts(),
        state: this.#options.wire === null ? 'joined' : 'none',
        hasMissed: false,
        waiters: [],
      }
      this.byName.set(name, topic)
      this.byChannel.set(channel, topic)
    }
    if (topic.receivers.size === 0) {
      // What was published while nobody listened is missed by nobody.
      topic.heard = new HeardCounts()
      topic.hasMissed = this.#wasLost
    }
    topic.receivers.add(receiver)
    this.#follow(topic)
    return topic
  }

  remove(topic: Topic, receiver: BusReceiver): void {
    if (!topic.receivers.delete(receiver) || topic.receivers.size > 0) return
    this.#wake(topic)
    this.#follow(topic)
  }

  /** The topics that have a receiver. */
  get wanted(): number {
    let sum = 0
    for (const { receivers } of this.byName.values()) if (receivers.size > 0) sum++
    return sum
  }

  /** Resolves once the topic is joined, has no receiver, or is going to have a gap, since the server is away. */
  joined(name: string): Promise<void> {
    const topic = this.byName.get(name)
    if (topic === undefined || topic.receivers.size === 0) return Promise.resolve()
    if (topic.state === 'joined' || topic.hasMissed) return Promise.resolve()
    return new Promise((resolve) => topic.waiters.push(resolve))
  }

  up(): void {
    this.isUp = true
    this.#wasLost = false
    this.#followAll()
  }

  down(): void {
    this.isUp = false
    this.#wasLost = true
    this.#era++
    for (const topic of this.byName.values()) {
      if (topic.state !== 'none') topic.state = 'unknown'
      if (topic.receivers.size > 0) topic.hasMissed = true
      this.#wake(topic)
    }
  }

  /** Forgets all topics; what waits for them goes on. */
  clear(): void {
    this.isUp = false
    this.#era++
    if (this.#retry !== null) clearTimeout(this.#retry)
    for (const topic of this.byName.values()) this.#wake(topic)
    this.byName.clear()
    this.byChannel.clear()
  }

  #followAll(): void {
    const wanted: Topic[] = []
    for (const topic of this.byName.values()) {
      if (topic.receivers.size === 0) this.#follow(topic)
      else if (topic.state === 'none' || topic.state === 'unknown') wanted.push(topic)
    }
    for (let at = 0; at < wanted.length; at += atOnce) this.#join(wanted.slice(at, at + atOnce))
  }

  /** Does the next thing that brings a topic's state to what its receivers want. */
  #follow(topic: Topic): void {
    const { state } = topic
    const isWanted = topic.receivers.size > 0
    if (!isWanted && (state === 'none' || this.#options.wire === null)) this.#forget(topic)
    else if (!this.isUp || state === 'joining' || state === 'leaving') return
    else if (isWanted && state !== 'joined') this.#join([topic])
    else if (!isWanted) this.#leave(topic)
  }

  #join(topics: Topic[]): void {
    for (const topic of topics) topic.state = 'joining'
    const channels = topics.map(({ channel }) => channel)
    this.#ask(
      topics,
      (wire) => wire.subscribe(channels),
      (topic) => {
        topic.state = 'joined'
        this.#wake(topic)
        if (!topic.hasMissed || topic.receivers.size === 0) return
        topic.hasMissed = false
        this.#options.missed(topic)
      },
    )
  }

  #leave(topic: Topic): void {
    topic.state = 'leaving'
    this.#ask(
      [topic],
      (wire) => wire.unsubscribe(topic.channel),
      () => (topic.state = 'none'),
    )
  }

  #ask(
    topics: Topic[],
    question: (wire: BusWire) => Promise<unknown>,
    answered: (topic: Topic) => void,
  ): void {
    const era = this.#era
    question(this.#options.wire as BusWire).then(
      () => {
        if (era !== this.#era) return
        this.#options.answered()
        for (const topic of topics) {
          answered(topic)
          this.#follow(topic)
        }
      },
      (error: Error) => {
        if (era !== this.#era) return
        this.#options.refused(error)
        for (const topic of topics) {
          topic.state = 'unknown'
          topic.hasMissed = topic.receivers.size > 0
          this.#wake(topic)
        }
        this.#retry ??= setTimeout(() => {
          this.#retry = null
          if (this.isUp) this.#followAll()
        }, retryAfter).unref()
      },
    )
  }

  #wake(topic: Topic): void {
    for (const wake of topic.waiters.splice(0)) wake()
  }

  #forget(topic: Topic): void {
    this.byName.delete(topic.name)
    this.byChannel.delete(topic.channel)
  }
}
