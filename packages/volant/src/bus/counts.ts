/** The numbers of messages: those that are published here, and those that were heard of others. */
import type { Envelope, Numbers } from './envelope.ts'

/** Says how far the publisher of a topic has counted. */
export interface SentCount extends Numbers {
  number: number
}

/**
 * Keeps the counts of the topics that are published to here. It forgets those that were not published to for longest:
 * their next message begins another count. The first number of a count is higher than all before it, so that what is late is
 * not taken for new.
 */
export class SentCounts {
  readonly #most: number
  #recent = new Map<string, SentCount>()
  #older = new Map<string, SentCount>()
  #total = 0

  /** Keeps between half of `most` topics and all of them. */
  constructor(most: number) {
    this.#most = most
  }

  /** Counts a message to a topic. */
  next(topic: string): SentCount {
    this.#total++
    let count = this.#recent.get(topic)
    if (count === undefined) {
      count = this.#older.get(topic) ?? { start: this.#total, number: this.#total - 1 }
      if (this.#recent.size * 2 >= this.#most) {
        this.#older = this.#recent
        this.#recent = new Map()
      }
      this.#recent.set(topic, count)
    }
    count.number++
    return count
  }
}

/** The publishers of one topic whose last message is remembered. One that starts anew is another. */
const mostPublishers = 1_024

/** What was heard of the publishers of one topic. */
export class HeardCounts {
  readonly #publishers = new Map<string, { start: number; number: number; at: number }>()
  #clock = 0

  /**
   * Takes the numbers of a message or mark. Gives how many messages before it are missing, null where some may be and
   * nobody knows how many, and −1 for what was heard before.
   */
  take({ kind, publisher, start, number }: Envelope): number | null {
    const known = this.#publishers.get(publisher)
    if (known === undefined) {
      this.#remember(publisher, { start, number, at: ++this.#clock })
      // What was published before this process listened is no loss; a mark is one.
      return kind === 'mark' ? null : 0
    }
    if (number <= known.number) return -1
    const isSame = start === known.start
    const missing = number - known.number - (kind === 'mark' ? 0 : 1)
    known.start = start
    known.number = number
    known.at = ++this.#clock
    return isSame ? missing : null
  }

  #remember(publisher: string, heard: { start: number; number: number; at: number }): void {
    if (this.#publishers.size >= mostPublishers) {
      let [oldest, since] = ['', Infinity]
      for (const [each, { at }] of this.#publishers) if (at < since) [oldest, since] = [each, at]
      this.#publishers.delete(oldest)
    }
    this.#publishers.set(publisher, heard)
  }
}
