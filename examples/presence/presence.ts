/**
 * Who is in a room, over all processes. Each process tells the others its own members: when they change, when another
 * process asks, and as a heartbeat. One that has not been heard of for three heartbeats is gone, and its members with it.
 */
import { randomUUID } from 'node:crypto'
import type { Bus, BusReceiver } from 'volant/bus'

interface Told {
  from: string
  members: string[]
  /** True asks all others to tell theirs. */
  asks?: boolean
}

export class Presence implements BusReceiver {
  readonly #id = randomUUID()
  readonly #bus: Bus
  readonly #topic: string
  readonly #every: number
  readonly #changed: (members: string[]) => void
  /** The members here, and how many connections each has. */
  readonly #own = new Map<string, number>()
  readonly #others = new Map<string, { members: string[]; seen: number }>()
  readonly #timer: NodeJS.Timeout
  readonly #end: () => void
  #last = '[]'

  /** `changed` gets the members of all processes, sorted; `every` is the heartbeat in milliseconds. */
  constructor(bus: Bus, topic: string, every: number, changed: (members: string[]) => void) {
    this.#bus = bus
    this.#topic = topic
    this.#every = every
    this.#changed = changed
    this.#end = bus.subscribe(topic, this)
    this.#timer = setInterval(() => this.#beat(), every)
    void bus.ready(topic).then(() => this.#tell(true))
  }

  get members(): string[] {
    const all = [...this.#own.keys(), ...[...this.#others.values()].flatMap(({ members }) => members)]
    return [...new Set(all)].toSorted()
  }

  get isEmpty(): boolean {
    return this.#own.size === 0
  }

  join(member: string): void {
    this.#own.set(member, (this.#own.get(member) ?? 0) + 1)
    this.#tell()
    this.#compare()
  }

  leave(member: string): void {
    const left = (this.#own.get(member) ?? 1) - 1
    if (left > 0) this.#own.set(member, left)
    else this.#own.delete(member)
    this.#tell()
    this.#compare()
  }

  message(_topic: string, data: string | Buffer): void {
    const { from, members, asks } = JSON.parse(String(data)) as Told
    if (members.length === 0) this.#others.delete(from)
    else this.#others.set(from, { members, seen: Date.now() })
    if (asks === true) this.#tell()
    this.#compare()
  }

  /** What was lost may have been anything: the others tell theirs anew. */
  gap(): void {
    this.#tell(true)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#own.clear()
    this.#tell()
    this.#end()
  }

  #beat(): void {
    for (const [id, { seen }] of this.#others) {
      if (Date.now() - seen > 3 * this.#every) this.#others.delete(id)
    }
    this.#tell()
    this.#compare()
  }

  #tell(asks = false): void {
    const told: Told = { from: this.#id, members: [...this.#own.keys()], asks }
    this.#bus.publish(this.#topic, JSON.stringify(told), this)
  }

  #compare(): void {
    const members = this.members
    const text = JSON.stringify(members)
    if (text === this.#last) return
    this.#last = text
    this.#changed(members)
  }
}
