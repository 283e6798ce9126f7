/** Wires between buses of a test, which do to messages what a test wants. */
import {
  type Bus,
  type BusGap,
  busOver,
  type BusOptions,
  type BusReceiver,
  type BusWire,
  type WireEvents,
} from 'volant/bus'

export class Hub {
  readonly wires = new Set<HubWire>()

  /** Makes a bus, and gives its wire too. `reports` are what the bus reports. */
  join(options: BusOptions = {}): { bus: Bus; wire: HubWire; reports: string[] } {
    const wire = new HubWire(this)
    const reports: string[] = []
    const bus = busOver(wire, { report: (error) => void reports.push(String(error)), ...options })
    this.wires.add(wire)
    return { bus, wire, reports }
  }

  /** Gives bytes to all that are subscribed. */
  pass(channel: string, bytes: Uint8Array): void {
    for (const wire of this.wires) wire.arrive(channel, bytes)
  }
}

export class HubWire implements BusWire {
  canPublish = true
  /** What was published, in its order. */
  readonly published: { channel: string; bytes: Buffer }[] = []
  readonly channels = new Set<string>()
  /** What the wire was asked, such as `+ channel`. */
  readonly asked: string[] = []
  /** What `publish` does with bytes; by default everybody gets them. */
  onPublish: (channel: string, bytes: Buffer) => Promise<unknown> | undefined
  /** What `subscribe` waits for. */
  onSubscribe: () => Promise<unknown> = () => Promise.resolve()
  isClosed = false
  /** False keeps the wire from being up when it is opened. */
  opensUp = true
  readonly #hub: Hub
  #events: WireEvents | null = null

  constructor(hub: Hub) {
    this.#hub = hub
    this.onPublish = (channel, bytes) => {
      hub.pass(channel, bytes)
      return Promise.resolve()
    }
  }

  open(events: WireEvents): void {
    this.#events = events
    if (this.opensUp) events.up()
  }

  publish(channel: string, bytes: Buffer): Promise<unknown> | undefined {
    this.published.push({ channel, bytes })
    return this.onPublish(channel, bytes)
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    this.asked.push(...channels.map((channel) => `+ ${channel}`))
    await this.onSubscribe()
    for (const channel of channels) this.channels.add(channel)
  }

  async unsubscribe(channel: string): Promise<void> {
    this.asked.push(`- ${channel}`)
    this.channels.delete(channel)
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.#hub.wires.delete(this)
  }

  arrive(channel: string, bytes: Uint8Array): void {
    if (this.channels.has(channel)) this.#events?.message(channel, bytes)
  }

  /** Loses the connection that receives. */
  down(): void {
    this.channels.clear()
    this.#events?.down(new Error('cut'))
  }

  up(): void {
    this.#events?.up()
  }
}

/** A receiver that keeps what it gets. */
export class Ear implements BusReceiver {
  readonly heard: (string | Buffer)[] = []
  readonly gaps: BusGap[] = []
  readonly topics: string[] = []

  message(topic: string, data: string | Buffer): void {
    this.topics.push(topic)
    this.heard.push(data)
  }

  gap(gap: BusGap): void {
    this.gaps.push(gap)
  }

  /** The gaps, in words that tests compare. */
  get lost(): string[] {
    return this.gaps.map(({ lost, reason }) => `${reason} ${lost}`)
  }
}

/** Two buses, of which the far one hears the topic `t` by `ear`. `options` are those of the other. */
export async function pair(options: BusOptions = {}) {
  const hub = new Hub()
  const near = hub.join(options)
  const { bus: far, reports: farReports } = hub.join()
  const ear = new Ear()
  far.subscribe('t', ear)
  await far.ready('t')
  return { hub, ...near, far, farReports, ear }
}
