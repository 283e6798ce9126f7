/** A bus over any wire: what a wire does not promise is made here. */
import { randomBytes } from 'node:crypto'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { printLine } from '../report/print-line.ts'
import { isThenable } from '../types/thenable.ts'
import type { Bus, BusGap, BusReceiver, BusStats } from '../types/bus.ts'
import { channelOf } from './channel.ts'
import { SentCounts } from './counts.ts'
import { idSize, readEnvelope, writeMessage } from './envelope.ts'
import type { BusPlan } from './options.ts'
import { Outbox } from './outbox.ts'
import { Subscriptions, type Topic } from './subscriptions.ts'
import type { BusWire } from './wire.ts'

/** For so many milliseconds `close` waits for what is on its way. */
const closeTimeout = 1_000
/** A server that has failed is well again after so many milliseconds without a failure. */
const rest = 1_000

export class WiredBus implements Bus {
  readonly #wire: BusWire | null
  readonly #plan: BusPlan
  readonly #id = randomBytes(idSize)
  readonly #ownId = this.#id.toString('latin1')
  readonly #channelOf: (topic: string) => string
  readonly #sent: SentCounts
  readonly #outbox: Outbox | null
  readonly #subscriptions: Subscriptions
  /** What was published here and is still to reach the receivers here. */
  #local: (() => void)[] = []
  /** True once the wire was told to connect, with the first topic. */
  #isOpen = false
  #closed: Promise<void> | null = null
  #lastFailure = 0
  /** Runs when a server that answers may be well again. */
  #recovery: NodeJS.Timeout | null = null
  /** What was reported. */
  readonly #told = new Set<'fails' | 'long' | 'refused'>()
  readonly #counters = { published: 0, received: 0, unsent: 0, gaps: 0, lost: 0, refused: 0 }

  /** Without a wire all receivers are in this process. */
  constructor(wire: BusWire | null, plan: BusPlan) {
    this.#wire = wire
    this.#plan = plan
    this.#channelOf = (topic) => channelOf(plan.nameSpace, topic)
    this.#sent = new SentCounts(plan.maxTopics)
    this.#subscriptions = new Subscriptions({
      wire,
      missed: (topic) => this.#gap(topic, { publisher: null, lost: null, reason: 'reconnected' }),
      refused: (error) => this.#fails(error),
      answered: () => this.#answers(),
    })
    this.#outbox =
      wire &&
      new Outbox({
        wire,
        id: this.#id,
        maxWaiting: plan.maxWaiting,
        maxWait: plan.maxWait,
        maxTopics: plan.maxTopics,
        unsent: (messages, error) => {
          this.#counters.unsent += messages
          this.#fails(error)
        },
        sent: () => this.#answers(),
      })
  }

  publish(topic: string, data: string | Uint8Array, except?: BusReceiver): void {
    checkTopic('publish', topic)
    if (typeof data !== 'string' && !(data instanceof Uint8Array)) {
      throw new TypeError('publish() takes a string or a Uint8Array, such as JSON.stringify(value)')
    }
    if (this.#closed !== null) return
    this.#counters.published++
    const known = this.#subscriptions.byName.get(topic)
    if (known !== undefined) this.#publishHere(known, data, except)
    if (this.#outbox === null) return
    const channel = known?.channel ?? this.#channelOf(topic)
    const count = this.#sent.next(topic)
    const { number } = count
    const size = typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength
    const { maxMessageSize } = this.#plan
    if (size <= maxMessageSize) {
      return this.#outbox.add({ channel, bytes: writeMessage(this.#id, count, data), count, number })
    }
    this.#counters.unsent++
    this.#outbox.skip({ channel, count, number })
    this.#tell(
      'long',
      `a message of ${size} bytes was not sent to other processes, since maxMessageSize of the bus is ${maxMessageSize}: raise it in all of them, or send less`,
    )
  }

  subscribe(topic: string, receiver: BusReceiver): () => void {
    checkTopic('subscribe', topic)
    if (typeof receiver?.message !== 'function') {
      throw bad('subscribe', receiver, 'a receiver, { message(topic, data) {}, gap(gap) {} }')
    }
    if (this.#closed !== null) return () => {}
    const known = this.#subscriptions.add(topic, this.#channelOf, receiver)
    if (!this.#isOpen && this.#wire !== null) {
      this.#isOpen = true
      this.#wire.open({
        message: (channel, bytes) => this.#arrived(channel, bytes),
        up: () => {
          this.#subscriptions.up()
          this.#answers()
        },
        down: (error) => {
          this.#subscriptions.down()
          this.#fails(error)
        },
      })
    }
    let isOver = false
    return () => {
      // The receiver may be subscribed again by now.
      if (!isOver) this.#subscriptions.remove(known, receiver)
      isOver = true
    }
  }

  ready(topic: string): Promise<void> {
    return this.#subscriptions.joined(topic)
  }

  stats(): BusStats {
    return {
      connected:
        this.#wire === null || (this.#wire.canPublish && (this.#subscriptions.isUp || !this.#isOpen)),
      topics: this.#subscriptions.wanted,
      ...this.#counters,
      waiting: this.#outbox?.waiting ?? 0,
    }
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#forgetRecovery()
    await this.#outbox?.close(closeTimeout)
    this.#subscriptions.clear()
    // A server that is away cannot be taken leave of.
    await this.#wire?.close().catch(() => {})
  }

  /** Passes a message on to receivers in this process: later, so that one that publishes in turn changes no order. */
  #publishHere({ name, receivers }: Topic, data: string | Uint8Array, except: BusReceiver | undefined): void {
    if (receivers.size === 0 || (receivers.size === 1 && except !== undefined && receivers.has(except)))
      return
    const kept = typeof data === 'string' ? data : Buffer.from(data)
    if (this.#local.length === 0) queueMicrotask(() => this.#deliverHere())
    this.#local.push(() => {
      for (const each of receivers) if (each !== except) this.#deliver(each, name, kept)
    })
  }

  #deliverHere(): void {
    // What is published meanwhile is appended.
    for (const each of this.#local) each()
    this.#local = []
  }

  #arrived(channel: string, bytes: Uint8Array): void {
    const topic = this.#subscriptions.byChannel.get(channel)
    if (topic === undefined || topic.receivers.size === 0) return
    const envelope = readEnvelope(bytes, this.#plan.maxMessageSize)
    if (envelope === null) {
      this.#counters.refused++
      return this.#tell(
        'refused',
        `something arrived for the topic ${JSON.stringify(topic.name.slice(0, 100))} that is no message of a bus with this version and this maxMessageSize, and was dropped: give buses that do not belong together a nameSpace each`,
      )
    }
    const { publisher, kind, data } = envelope
    if (publisher === this.#ownId) return
    const missing = topic.heard.take(envelope)
    if (missing === -1) {
      if (kind !== 'mark') this.#counters.refused++
      return
    }
    if (missing !== 0) {
      this.#gap(topic, {
        publisher: Buffer.from(publisher, 'latin1').toString('hex'),
        lost: missing,
        reason: 'missing',
      })
    }
    if (kind === 'mark') return
    this.#counters.received++
    const given = kind === 'text' ? data.toString() : data
    for (const each of topic.receivers) this.#deliver(each, topic.name, given)
  }

  /** Every receiver has bytes of its own. */
  #deliver(receiver: BusReceiver, topic: string, data: string | Buffer): void {
    this.#call(() => receiver.message(topic, typeof data === 'string' ? data : Buffer.from(data)))
  }

  #gap({ name, receivers }: Topic, gap: Omit<BusGap, 'topic'>): void {
    this.#counters.gaps++
    this.#counters.lost += gap.lost ?? 0
    for (const each of receivers) this.#call(() => each.gap?.({ topic: name, ...gap }))
  }

  #call(work: () => unknown): void {
    try {
      const result = work()
      if (isThenable(result)) result.then(undefined, (error: unknown) => this.#plan.report(error))
    } catch (error) {
      this.#plan.report(error)
    }
  }

  #fails(error: Error): void {
    if (this.#closed !== null) return
    this.#lastFailure = performance.now()
    this.#forgetRecovery()
    this.#tell(
      'fails',
      `the server of the bus fails (${error.message}): until it answers, messages may not reach other processes, or not come from them. This is said once`,
      error,
    )
  }

  #answers(): void {
    if (!this.#told.has('fails') || this.#closed !== null) return
    const wait = this.#lastFailure + rest - performance.now()
    // The next answer may be long in coming where this process only receives.
    if (wait > 0) {
      this.#recovery ??= setTimeout(() => {
        this.#recovery = null
        this.#answers()
      }, wait).unref()
      return
    }
    this.#told.delete('fails')
    if (this.#plan.reportsToStderr) printLine('volant: the server of the bus answers again')
  }

  #forgetRecovery(): void {
    if (this.#recovery !== null) clearTimeout(this.#recovery)
    this.#recovery = null
  }

  #tell(what: 'fails' | 'long' | 'refused', message: string, cause?: Error): void {
    if (this.#told.has(what)) return
    this.#told.add(what)
    this.#plan.report(new VolantError('E_BUS', message, cause && { cause }))
  }
}

function checkTopic(where: string, topic: unknown): void {
  if (typeof topic !== 'string')
    throw new TypeError(`${where}() takes a topic, a string, not ${typeof topic}`)
}
