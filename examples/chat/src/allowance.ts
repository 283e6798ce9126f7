/** How much somebody may send over one WebSocket: `burst` at once, and then `perSecond`. */
export class Allowance {
  readonly #burst: number
  readonly #perSecond: number
  #left: number
  #at = performance.now()

  constructor(burst: number, perSecond: number) {
    this.#burst = this.#left = burst
    this.#perSecond = perSecond
  }

  /** Gives false where it is used up. */
  take(): boolean {
    const now = performance.now()
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1_000) * this.#perSecond)
    this.#at = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
