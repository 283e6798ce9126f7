/** How long a test waits for what may never come: a time that only a hang takes, however slow the machine is. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * What is waited for in vain fails after this time, in ms, on a machine that is not slow. It is less than a minute, which
 * cases take for limits that must not come: what waits for those is a hang.
 */
const usual = 50_000
/** The part of the time for which threads wait for a core, all together, that shows a slow machine. */
const share = 0.1
/** How often a slow machine is given half of the time again, so that a hang ends on it, too. */
const most = 10

const threads = '/proc/self/task'

const { performance } = globalThis

/** The sources of time, which a test of this class replaces. */
const real = { now: performance.now.bind(performance), coreWaits }

/**
 * The time within which something has to come. It begins again by half as long as threads of this process wait for a core,
 * since then a part of what is waited for has not run.
 */
export class Patience {
  readonly #half: number
  readonly #sources: typeof real
  #end = 0
  #waits: number | null = null
  #extended = 0

  /** `time` is in ms. */
  constructor(time = usual, sources = real) {
    this.#half = time / 2
    this.#sources = sources
    this.renew()
  }

  /** Begins anew, because a part of what is waited for has come. */
  renew(): void {
    this.#end = this.#sources.now() + this.#half
    this.#waits = null
    this.#extended = 0
  }

  /** Returns for how long to wait until the next call, in ms; 0 when it was in vain. */
  left(): number {
    const left = this.#end - this.#sources.now()
    if (left > 0) return left
    const waits = this.#sources.coreWaits()
    const isSlow = this.#waits === null || waits - this.#waits > share * this.#half
    if (!isSlow || this.#extended > most) return 0
    this.#waits = waits
    this.#extended++
    this.#end = this.#sources.now() + this.#half
    return this.#half
  }
}

/**
 * For how long the threads of this process have waited for a core, in ms and all together: the second number of each
 * `schedstat`, in ns. 0 where there is no `/proc`.
 */
function coreWaits(): number {
  let sum = 0
  for (const thread of existsSync(threads) ? readdirSync(threads) : []) {
    try {
      sum += Number(readFileSync(`${threads}/${thread}/schedstat`, 'latin1').split(' ')[1])
    } catch {
      // It has ended since, or the kernel does not count.
    }
  }
  return sum / 1e6
}
