/** When a worker that has ended is started again. */

const first = 100
const longest = 10_000
/** A worker that has served for so many milliseconds makes up for one that failed. */
const sound = 1_000
/** The share by which times differ, so that processes of several machines do not start at once. */
const spread = 0.2

/**
 * At once after the first failure, then after 100 ms, 200 ms, … up to 10 s. Each second that a worker has served takes
 * one failure back: those that are killed from outside, or crash now and then, are started again at once.
 */
export class RestartDelay {
  #failures = 0
  #served = Infinity

  /** Is called when a worker serves. */
  serves(): void {
    this.#served = performance.now()
  }

  /** Gives the milliseconds until the next start. */
  next(): number {
    const served = Math.max(0, performance.now() - this.#served)
    this.#served = Infinity
    this.#failures = Math.max(0, this.#failures - Math.floor(served / sound))
    const failures = this.#failures++
    if (failures === 0) return 0
    const time = Math.min(first * 2 ** (failures - 1), longest)
    return time * (1 - spread + 2 * spread * Math.random())
  }
}
