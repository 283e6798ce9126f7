/** Counts durations in buckets an eighth of a power of two wide: a quantile is at most 12.5 % too high. */

/** The number of buckets: 1 µs each up to 8 µs, then eight for each power of two up to 2^31 µs, which is 35 minutes. */
const size = 232
const longest = 2 ** 31 - 1

/** Recent figures cover at least this many milliseconds. */
const span = 2_000

/** The quantiles in milliseconds; null when there was nothing to measure. */
export interface Quantiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** The requests of the last two seconds, or since the figures were read before if that was longer ago. */
export interface Recent extends Quantiles {
  /** The seconds that these figures cover. */
  readonly seconds: number
  readonly requests: number
  /** The requests per second. */
  readonly rate: number
}

interface Mark {
  readonly at: number
  readonly total: number
  readonly counts: Float64Array
}

/** Costs 131 instructions a request, `createHistogram` of perf_hooks 301 (`node lab/libraries.mjs duration`). */
export class Latency {
  readonly #clock: () => number
  readonly #counts = new Float64Array(size)
  #total = 0
  // Recent figures begin at `#from`; `#next` takes its place when it is two seconds old.
  #from: Mark
  #next: Mark

  /** `clock` gives milliseconds. */
  constructor(clock = () => performance.now()) {
    this.#clock = clock
    this.#from = { at: clock(), total: 0, counts: new Float64Array(size) }
    this.#next = this.#from
  }

  get total(): number {
    return this.#total
  }

  /** Counts a duration in milliseconds, for every request that is measured (lab/pair middleware). */
  add(duration: number): void {
    const micros = duration * 1_000
    const index = indexOf(micros < longest ? micros | 0 : longest)
    this.#counts[index] = (this.#counts[index] as number) + 1
    this.#total++
  }

  /** Gives the quantiles since start. */
  quantiles(): Quantiles {
    return quantilesOf(this.#counts, this.#total)
  }

  recent(): Recent {
    const now = this.#clock()
    if (now - this.#next.at >= span) {
      this.#from = this.#next
      this.#next = { at: now, total: this.#total, counts: this.#counts.slice() }
    }
    const { at, total, counts } = this.#from
    const seconds = Math.max(now - at, 1) / 1_000
    const requests = this.#total - total
    return {
      seconds,
      requests,
      rate: requests / seconds,
      ...quantilesOf(
        this.#counts.map((count, index) => count - (counts[index] as number)),
        requests,
      ),
    }
  }
}

function indexOf(micros: number): number {
  if (micros < 8) return micros
  const power = 31 - Math.clz32(micros)
  return (power - 2) * 8 + ((micros >> (power - 3)) & 7)
}

/** Gives the end of a bucket, in milliseconds. */
function endOf(index: number): number {
  if (index < 8) return (index + 1) / 1_000
  return ((8 + (index & 7) + 1) * 2 ** ((index >> 3) - 1)) / 1_000
}

function quantilesOf(counts: Float64Array, total: number): Quantiles {
  let index = -1
  let seen = 0
  const next = (share: number): number | null => {
    if (total === 0) return null
    while (seen < Math.ceil(total * share)) seen += counts[++index] as number
    return endOf(index)
  }
  return { p50: next(0.5), p95: next(0.95), p99: next(0.99) }
}
