/** Samples how late timers come and how much memory is in use, and says which share of requests to refuse. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface LoadLimits {
  readonly maxEventLoopDelay: number | undefined
  readonly maxHeapUsed: number | undefined
  readonly maxRss: number | undefined
}

/** The delay is measured this often, in milliseconds. */
const resolution = 10
/** The least that the share grows by, and below which it is nothing. */
const step = 0.1

export class Load {
  readonly #limits: LoadLimits
  readonly #interval: number
  #timer: NodeJS.Timeout | null = null
  #delays: ReturnType<typeof monitorEventLoopDelay> | null = null
  /** The share of requests to refuse, from 0 to 1. */
  shedding = 0
  /** The share for the delay alone. */
  #delayed = 0
  eventLoopDelay = 0
  heapUsed = 0
  rss = 0

  constructor(limits: LoadLimits, interval: number) {
    this.#limits = limits
    this.#interval = interval
  }

  get isStopped(): boolean {
    return this.#timer === null
  }

  /** Begins to sample. That does not keep the process alive. */
  start(): void {
    this.#delays = monitorEventLoopDelay({ resolution })
    this.#delays.enable()
    this.#timer = setInterval(() => this.#sample(), this.#interval).unref()
  }

  stop(): void {
    if (this.#timer === null) return
    clearInterval(this.#timer)
    this.#delays?.disable()
    this.#timer = null
    this.#delays = null
    this.shedding = 0
    this.#delayed = 0
  }

  #sample(): void {
    const { maxEventLoopDelay, maxHeapUsed, maxRss } = this.#limits
    this.eventLoopDelay = this.#delay()
    if (maxEventLoopDelay !== undefined)
      this.#delayed = shareFor(this.#delayed, this.eventLoopDelay / maxEventLoopDelay)
    this.shedding = this.#delayed
    if (maxHeapUsed === undefined && maxRss === undefined) return
    const { heapUsed, rss } = process.memoryUsage()
    this.heapUsed = heapUsed
    this.rss = rss
    if (heapUsed > (maxHeapUsed ?? Infinity) || rss > (maxRss ?? Infinity)) this.shedding = 1
  }

  /** Gives the average since the last sample. The figure of Node.js includes the time that it meant to wait. */
  #delay(): number {
    const delays = this.#delays as ReturnType<typeof monitorEventLoopDelay>
    const mean = delays.mean / 1e6 - resolution
    delays.reset()
    // There is no mean of nothing.
    return mean > 0 ? mean : 0
  }
}

/** Gives the next share, where the delay is `ratio` times its limit. */
function shareFor(before: number, ratio: number): number {
  if (ratio > 1) return Math.min(1, before + Math.max(step, ratio - 1))
  return before / 2 < step ? 0 : before / 2
}
