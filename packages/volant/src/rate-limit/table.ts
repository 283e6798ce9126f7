/**
 * Numbers by key, for at most so many keys: the oldest go when there are more.
 *
 * Keys are in two generations. A key that is used moves to the young one; when that is full, it becomes the old one,
 * and the keys of the old one are gone. That costs no timer and no list, and nothing at all for a key that is young.
 */
export class Table {
  /** The numbers of the young generation: those of one key lie together. */
  values: Float64Array
  /** The keys that were dropped although their numbers still counted. */
  evicted = 0
  readonly #width: number
  readonly #capacity: number
  readonly #isLive: (values: Float64Array, at: number, now: number) => boolean
  #young = new Map<string, number>()
  #used = 0
  #old = new Map<string, number>()
  #oldValues: Float64Array

  /** A key has `width` numbers, which are 0 at first. `isLive` tells whether they still count. */
  constructor(
    width: number,
    keys: number,
    isLive: (values: Float64Array, at: number, now: number) => boolean,
  ) {
    this.#width = width
    this.#capacity = Math.max(1, Math.floor(keys / 2))
    this.#isLive = isLive
    this.values = new Float64Array(Math.min(this.#capacity, first) * width)
    this.#oldValues = new Float64Array(0)
  }

  /** The keys that there are numbers for. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Gives the index of the first number of `key` in `values`, until the next call. */
  at(key: string, now: number): number {
    const at = this.#young.get(key)
    return at === undefined ? this.#adopt(key, now) : at
  }

  /** As `at`, or −1 for a key without numbers. */
  find(key: string, now: number): number {
    const at = this.#young.get(key)
    if (at !== undefined) return at
    return this.#old.has(key) ? this.#adopt(key, now) : -1
  }

  /** Forgets the numbers of `key`. */
  delete(key: string): void {
    const at = this.#young.get(key)
    if (at !== undefined) this.values.fill(0, at, at + this.#width)
    this.#old.delete(key)
  }

  #adopt(key: string, now: number): number {
    const before = this.#old.get(key)
    if (before !== undefined) this.#old.delete(key)
    const from = this.#oldValues
    if (this.#used === this.#capacity) this.#age(now)
    const at = this.#used++ * this.#width
    if (at >= this.values.length) this.#grow()
    this.#young.set(copyOf(key), at)
    if (before !== undefined) {
      for (let each = 0; each < this.#width; each++) this.values[at + each] = from[before + each] as number
    }
    return at
  }

  #age(now: number): void {
    for (const at of this.#old.values()) if (this.#isLive(this.#oldValues, at, now)) this.evicted++
    this.#old = this.#young
    this.#oldValues = this.values
    this.#young = new Map()
    this.values = new Float64Array(Math.min(this.#capacity, first) * this.#width)
    this.#used = 0
  }

  #grow(): void {
    const slots = Math.min(this.#capacity, (this.values.length / this.#width) * 2)
    const grown = new Float64Array(slots * this.#width)
    grown.set(this.values)
    this.values = grown
  }
}

/**
 * Gives the same text in memory of its own. A key may be a part of a header, and V8 keeps the whole header as long as
 * such a part, or a text that was put together from it. Of texts below 13 characters V8 makes a copy itself.
 */
function copyOf(key: string): string {
  // UTF-16 leaves broken surrogates as they are.
  return key.length < 13 ? key : Buffer.from(key, 'utf16le').toString('utf16le')
}

/** The keys that there is room for at first. */
const first = 64
