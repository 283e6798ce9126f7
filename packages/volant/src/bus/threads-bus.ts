/** Makes a bus that reaches the threads of one process. */
import { BroadcastChannel } from 'node:worker_threads'
import { checkNames } from '../options/checks.ts'
import type { Bus } from '../types/bus.ts'
import { type BusOptions, busOptionNames, planBus } from './options.ts'
import type { BusWire, WireEvents } from './wire.ts'
import { WiredBus } from './wired-bus.ts'

/** What `addEventListener` of a BroadcastChannel gives. */
interface Arrival {
  readonly data: unknown
}

/**
 * Makes a bus between the main thread and the workers (`node:worker_threads`) of one process, each of which calls this
 * with the same `nameSpace`. Messages pass through a BroadcastChannel: no server is needed, and none is lost. It does
 * not keep a thread alive. Throws `E_BAD_OPTION`.
 */
export function threadsBus(options: BusOptions = {}): Bus {
  checkNames('threadsBus', options, busOptionNames)
  const plan = planBus('threadsBus', options)
  return new WiredBus(new ThreadsWire(plan.nameSpace), plan)
}

class ThreadsWire implements BusWire {
  readonly canPublish = true
  readonly #channel: BroadcastChannel
  readonly #subscribed = new Set<string>()

  constructor(nameSpace: string) {
    this.#channel = new BroadcastChannel(nameSpace)
    this.#channel.unref()
  }

  open(events: WireEvents): void {
    this.#channel.onmessage = (arrival: unknown) => {
      const { data } = arrival as Arrival
      const [channel, bytes] = Array.isArray(data) ? (data as readonly unknown[]) : []
      if (typeof channel !== 'string' || !this.#subscribed.has(channel)) return
      // What others post to a channel of this name is not trusted to be bytes.
      events.message(channel, bytes instanceof Uint8Array ? bytes : new Uint8Array())
    }
    events.up()
  }

  publish(channel: string, bytes: Buffer): undefined {
    // A clone of a Buffer has all of the memory that it is a part of.
    this.#channel.postMessage([channel, new Uint8Array(bytes)])
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    for (const channel of channels) this.#subscribed.add(channel)
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#subscribed.delete(channel)
  }

  async close(): Promise<void> {
    this.#channel.close()
  }
}
