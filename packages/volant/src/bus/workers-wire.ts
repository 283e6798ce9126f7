/** The channel between a worker and its supervisor as the wire of buses. */
import type { Supervision } from '../worker/supervision.ts'
import type { BusWire, WireEvents } from './wire.ts'

export class WorkersWire implements BusWire {
  readonly canPublish = true
  readonly #channels: Channels
  #events: WireEvents | null = null

  /** Without a supervisor the wires of this process reach each other. */
  constructor(supervision: Supervision | null) {
    this.#channels = channelsOf(supervision)
  }

  open(events: WireEvents): void {
    this.#events = events
    events.up()
  }

  publish(channel: string, bytes: Buffer): Promise<void> | undefined {
    return this.#channels.publish(channel, bytes, this.#events)
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    await this.#channels.subscribe(channels, this.#events as WireEvents)
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#channels.unsubscribe(channel, this.#events as WireEvents)
  }

  async close(): Promise<void> {
    if (this.#events !== null) await this.#channels.leave(this.#events)
  }
}

/** A channel that buses of this process are subscribed to. */
interface Channel {
  readonly receivers: Set<WireEvents>
  /** Resolves once the supervisor knows of the channel. */
  joined: Promise<void>
}

/** What the buses of this process share: the supervisor has one listener, and knows a channel once. */
class Channels {
  readonly #supervision: Supervision | null
  readonly #byName = new Map<string, Channel>()

  constructor(supervision: Supervision | null) {
    this.#supervision = supervision
    supervision?.onMessage((name, bytes) => {
      for (const each of this.#byName.get(name)?.receivers ?? []) each.message(name, bytes)
    })
  }

  publish(name: string, bytes: Buffer, from: WireEvents | null): Promise<void> | undefined {
    const receivers = this.#byName.get(name)?.receivers
    if (receivers !== undefined && (receivers.size > 1 || from === null || !receivers.has(from))) {
      // The supervisor passes nothing back to the worker that published it.
      queueMicrotask(() => {
        for (const each of receivers) if (each !== from) each.message(name, bytes)
      })
    }
    return this.#supervision?.publish(name, bytes)
  }

  async subscribe(names: readonly string[], events: WireEvents): Promise<void> {
    const added = names.filter((name) => !this.#byName.has(name))
    if (added.length > 0) {
      const joined = this.#supervision?.subscribe(added) ?? Promise.resolve()
      for (const name of added) this.#byName.set(name, { receivers: new Set(), joined })
    }
    const channels = names.map((name) => this.#byName.get(name) as Channel)
    for (const { receivers } of channels) receivers.add(events)
    try {
      await Promise.all(channels.map(({ joined }) => joined))
    } catch (error) {
      // Who asks again is to ask the supervisor again.
      names.forEach((name, at) => {
        const isOwn = added.includes(name) && this.#byName.get(name) === channels[at]
        if (isOwn) this.#byName.delete(name)
      })
      throw error
    }
  }

  async unsubscribe(name: string, events: WireEvents): Promise<void> {
    const channel = this.#byName.get(name)
    if (channel === undefined || !channel.receivers.delete(events) || channel.receivers.size > 0) return
    this.#byName.delete(name)
    await this.#supervision?.unsubscribe(name)
  }

  async leave(events: WireEvents): Promise<void> {
    await Promise.all([...this.#byName.keys()].map((name) => this.unsubscribe(name, events)))
  }
}

const bySupervision = new WeakMap<Supervision, Channels>()
let alone: Channels | null = null

function channelsOf(supervision: Supervision | null): Channels {
  if (supervision === null) return (alone ??= new Channels(null))
  let channels = bySupervision.get(supervision)
  if (channels === undefined) bySupervision.set(supervision, (channels = new Channels(supervision)))
  return channels
}
