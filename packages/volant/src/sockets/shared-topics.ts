/** The topics of an app's WebSockets, which other processes publish to as well, over the bus of the app. */
import { inspect } from 'node:util'
import type { Bus, BusGap, BusReceiver } from '../types/bus.ts'
import { printLine } from '../report/print-line.ts'

/** The apps that have a bus and are not closed. The last of them closes it. */
const users = new WeakMap<Bus, number>()

export class SharedTopics implements BusReceiver {
  readonly bus: Bus
  readonly #here: (topic: string, data: string | Uint8Array) => void
  readonly #gap: (gap: BusGap) => void
  /** The topics with WebSockets here, and what ends the subscription of each. */
  readonly #ends = new Map<string, () => void>()

  /** `here` gets what other processes publish, `gap` what was lost of it. */
  constructor(
    bus: Bus,
    here: (topic: string, data: string | Uint8Array) => void,
    gap: (gap: BusGap) => void,
  ) {
    this.bus = bus
    this.#here = here
    this.#gap = gap
    users.set(bus, (users.get(bus) ?? 0) + 1)
  }

  /** The first WebSocket has subscribed to the topic. */
  join(topic: string): void {
    this.#ends.set(topic, guarded(() => this.bus.subscribe(topic, this)) ?? nothing)
  }

  /** The last WebSocket has left the topic. */
  leave(topic: string): void {
    const end = this.#ends.get(topic)
    if (end === undefined) return
    this.#ends.delete(topic)
    guarded(end)
  }

  /** Passes on what was published here. Never throws: a bus of somebody's own may. */
  publish(topic: string, data: string | Uint8Array): void {
    guarded(() => this.bus.publish(topic, data, this))
  }

  message(topic: string, data: string | Buffer): void {
    this.#here(topic, data)
  }

  gap(gap: BusGap): void {
    this.#gap(gap)
  }

  /** Leaves the bus, and closes it if no other app has it. */
  async close(): Promise<void> {
    for (const end of this.#ends.values()) guarded(end)
    this.#ends.clear()
    const left = (users.get(this.bus) ?? 1) - 1
    users.set(this.bus, left)
    if (left === 0) await this.bus.close()
  }
}

function nothing(): void {}

function guarded<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    printLine(`volant: the bus threw ${inspect(error)}`)
    return null
  }
}
