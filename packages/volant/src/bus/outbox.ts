/** The messages that are on their way to the server of a bus: bounded, in their order, and none of them twice. */
import type { SentCount } from './counts.ts'
import { writeMark } from './envelope.ts'
import type { BusWire } from './wire.ts'

/** What a message costs beside its bytes: its promise, its place in a queue, what the client keeps. */
const overhead = 100
/** A server that is away is looked for this often, in ms: less often while it answers with errors. */
const looks = { first: 50, last: 1_000 } as const

/** A message that knows its number in the count of its topic. */
export interface OutgoingMessage {
  readonly channel: string
  readonly bytes: Buffer
  readonly count: SentCount
  readonly number: number
}

/** Up to which number messages of a count were not sent, or perhaps not. */
interface Hole {
  readonly channel: string
  readonly number: number
}

export interface OutboxOptions {
  readonly wire: BusWire
  /** The publisher is known to others by this id. */
  readonly id: Uint8Array
  /** The most bytes that wait. */
  readonly maxWaiting: number
  /** Milliseconds after which what still waits is dropped. */
  readonly maxWait: number
  /** The most topics whose holes are remembered. */
  readonly maxTopics: number
  /** Is called with the number of messages that were dropped, or may have been lost, and why. */
  readonly unsent: (messages: number, error: Error) => void
  /** Is called with each answer of the server. */
  readonly sent: () => void
}

export class Outbox {
  /** What waits in the queue and for answers, in bytes. */
  waiting = 0
  readonly #options: OutboxOptions
  #queue: (OutgoingMessage & { readonly since: number })[] = []
  readonly #holes = new Map<SentCount, Hole>()
  #failures = 0
  #timer: NodeJS.Timeout | null = null
  #isFlushing = false
  #isClosed = false
  /** Is called when nothing waits. */
  #onIdle: (() => void) | null = null

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** Sends a message, now or later, or drops it. */
  add(message: OutgoingMessage): void {
    const { wire, maxWaiting } = this.#options
    const cost = message.bytes.length + overhead
    if (this.waiting + cost > maxWaiting || this.#isClosed) {
      this.skip(message)
      const why = `${this.waiting} bytes wait for it already, and maxWaiting is ${maxWaiting}`
      return this.#options.unsent(1, new Error(why))
    }
    this.waiting += cost
    if (this.#queue.length === 0 && wire.canPublish) return this.#send(message)
    this.#queue.push({ ...message, since: performance.now() })
    this.#look()
  }

  /** Does not send a message. Those who miss it are told once messages go out again. */
  skip(message: Omit<OutgoingMessage, 'bytes'>): void {
    this.#remember(message)
    this.#look()
  }

  /** Waits until all is sent, for `ms` at most. Nothing can be added from then on. */
  async close(ms: number): Promise<void> {
    if (this.waiting > 0) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
        timer = setTimeout(resolve, ms)
      })
      clearTimeout(timer)
    }
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#drop(this.#queue.splice(0), 'the bus was closed')
  }

  #send({ channel, bytes, count, number }: OutgoingMessage): void {
    const hole = this.#holes.get(count)
    if (hole !== undefined && hole.number < number) {
      // Who has heard nothing of this publisher would take the message for its first one.
      this.#holes.delete(count)
      this.#mark(count, { channel, number: number - 1 })
    }
    this.#pass(channel, bytes, (error) => {
      if (error === null) return this.#options.sent()
      this.#remember({ channel, count, number })
      this.#options.unsent(1, error)
    })
  }

  #mark(count: SentCount, { channel, number }: Hole): void {
    const bytes = writeMark(this.#options.id, { start: count.start, number })
    this.waiting += bytes.length + overhead
    this.#pass(channel, bytes, (error) => {
      if (error !== null) this.#remember({ channel, count, number })
    })
  }

  /** Gives bytes to the wire. Their cost is taken back once they are settled. */
  #pass(channel: string, bytes: Buffer, done: (error: Error | null) => void): void {
    const settle = (error: Error | null): void => {
      this.waiting -= bytes.length + overhead
      this.#failures = error === null ? 0 : this.#failures + 1
      done(error)
      if (error === null) this.#flush()
      else this.#look()
      if (this.waiting === 0) this.#onIdle?.()
    }
    try {
      const answer = this.#options.wire.publish(channel, bytes)
      if (answer === undefined) settle(null)
      else answer.then(() => settle(null), settle)
    } catch (error) {
      settle(error as Error)
    }
  }

  /** Sends what has waited. Holes are told of when nothing is ahead of them. */
  #flush(): void {
    if (this.#isFlushing || this.#isClosed) return
    this.#isFlushing = true
    this.#dropLate()
    const { wire } = this.#options
    while (this.#queue.length > 0 && wire.canPublish) {
      const queue = this.#queue
      this.#queue = []
      for (const message of queue) this.#send(message)
    }
    if (wire.canPublish) {
      // A server that answers with errors gets one mark, to see whether it still does.
      const holes = [...this.#holes].slice(0, this.#failures > 0 ? 1 : this.#holes.size)
      for (const [count, hole] of holes) {
        this.#holes.delete(count)
        this.#mark(count, hole)
      }
    }
    this.#isFlushing = false
    this.#look()
  }

  #dropLate(): void {
    const { maxWait } = this.#options
    const now = performance.now()
    const inTime = this.#queue.findIndex(({ since }) => now - since <= maxWait)
    const late = this.#queue.splice(0, inTime < 0 ? this.#queue.length : inTime)
    this.#drop(late, `it was away for more than ${maxWait} ms`)
  }

  #drop(messages: OutgoingMessage[], why: string): void {
    if (messages.length === 0) return
    for (const message of messages) {
      this.waiting -= message.bytes.length + overhead
      this.#remember(message)
    }
    if (this.waiting === 0) this.#onIdle?.()
    this.#options.unsent(messages.length, new Error(why))
  }

  #remember({ channel, count, number }: Omit<OutgoingMessage, 'bytes'>): void {
    const known = this.#holes.get(count)
    if (known !== undefined && known.number >= number) return
    if (known === undefined && this.#holes.size >= this.#options.maxTopics) {
      const [first] = this.#holes.keys()
      this.#holes.delete(first as SentCount)
    }
    this.#holes.set(count, { channel, number })
  }

  #look(): void {
    if (this.#timer !== null || this.#isClosed) return
    if (this.#queue.length === 0 && this.#holes.size === 0) return
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.#flush()
      },
      Math.min(looks.first * 2 ** Math.min(this.#failures, 10), looks.last),
    )
    this.#timer.unref()
  }
}
