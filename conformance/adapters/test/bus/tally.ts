/** A receiver that counts what arrives, what is reported as lost, and what should not be. */
import type { BusGap, BusReceiver } from 'volant/bus'

/** What a process has heard. A stream is a publisher and a topic. */
export interface Heard {
  readonly received: number
  /** Messages that came again, or after a later one of their stream. */
  readonly wrong: number
  /** The sum of the numbers in gaps. */
  readonly lost: number
  readonly gaps: Record<string, number>
  /** The number of the last message of each stream. */
  readonly last: Record<string, number>
}

export class Tally implements BusReceiver {
  received = 0
  readonly last = new Map<string, number>()
  #wrong = 0
  #lost = 0
  readonly #gaps = new Map<string, number>()

  /** Messages are `PUBLISHER:NUMBER`, and perhaps more after another colon. */
  message(topic: string, data: string | Buffer): void {
    this.received++
    const [publisher, number] = data.toString().split(':', 2)
    const stream = `${publisher} ${topic}`
    if (Number(number) <= (this.last.get(stream) ?? -1)) this.#wrong++
    this.last.set(stream, Number(number))
  }

  gap({ reason, lost }: BusGap): void {
    this.#gaps.set(reason, (this.#gaps.get(reason) ?? 0) + 1)
    this.#lost += lost ?? 0
  }

  figures(): Heard {
    return {
      received: this.received,
      wrong: this.#wrong,
      lost: this.#lost,
      gaps: Object.fromEntries(this.#gaps),
      last: Object.fromEntries(this.last),
    }
  }
}
