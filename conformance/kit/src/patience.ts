/**
 * This says how long a test waits for what may never come. It sees how slow the machine is for this process alone, so
 * another process has the time that a machine gives which is not slow.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * What is waited for in vain fails after this time, in ms, on a machine that is not slow, and after six times as long on
 * one that is. Cases give limits that must not come 10 minutes, so who waits for one of them has a hang.
 */
const usual = 50_000
/** The part of the time for which threads wait for a core, all together, that shows a slow machine. */
const share = 0.1
/** A slow machine is given half of the time again at most this often, so that a hang ends on it, too. */
const most = 10

const threads = '/proc/self/task'

const { performance } = globalThis

/** The sources of time, which a test of this class replaces. */
const real = { now: performance.now.bind(performance), coreWaits }

/**
 * The time within which something has to come. It is extended by half of itself as long as threads of this process wait
 * for a core, since a part of what is waited for has not run then.
 */
export class Patience {
  readonly #half: number
  readonly #sources: typeof real
  #end = 0
  #waits: ReadonlyMap<string, number> | null = null
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
    const isSlow = this.#waits === null || increase(this.#waits, waits) > share * this.#half
    if (!isSlow || this.#extended > most) return 0
    this.#waits = waits
    this.#extended++
    this.#end = this.#sources.now() + this.#half
    return this.#half
  }
}

/** Returns by how much the values have grown together. A thread that has ended does not take its past away. */
function increase(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const [thread, value] of after) sum += Math.max(0, value - (before.get(thread) ?? 0))
  return sum
}

/**
 * Returns for how long each thread of this process has waited for a core, in ms by its id: the second number of
 * `schedstat`, which is in ns. The map is empty where there is no `/proc`.
 */
export function coreWaits(): ReadonlyMap<string, number> {
  const waits = new Map<string, number>()
  for (const thread of existsSync(threads) ? readdirSync(threads) : []) {
    try {
      const [, wait = ''] = readFileSync(`${threads}/${thread}/schedstat`, 'latin1').split(' ')
      waits.set(thread, Number(wait) / 1e6)
    } catch {
      // It has ended since, or the kernel does not count.
    }
  }
  return waits
}
