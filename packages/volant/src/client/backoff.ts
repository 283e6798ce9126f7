/** When the next attempt to connect is made, and whether there is one. */
import type { ReconnectOptions } from './socket-types.ts'
import { longest, within } from './send.ts'

/** These codes say that the server may be back soon (RFC 6455 §7.4.1, and its registry). */
const lostCodes = [1001, 1006, 1011, 1012, 1013, 1014]

/** How many attempts may fail before the first connection. */
const firstRetries = 10

export class Backoff {
  readonly stableAfter: number
  /** Counts the attempts since a connection was stable. */
  #tries = 0
  readonly #delay: number
  readonly #maxDelay: number
  readonly #retries: number | undefined
  readonly #when: NonNullable<ReconnectOptions['when']>

  /** Throws `TypeError` for a number that no wait can be made of. */
  constructor(reconnect: boolean | ReconnectOptions = true) {
    const {
      delay = 250,
      maxDelay = 30_000,
      stableAfter = 5_000,
      retries,
      when = ({ code }) => lostCodes.includes(code),
    }: ReconnectOptions = typeof reconnect === 'object' ? reconnect : {}
    this.#delay = within('delay', delay, 0, longest)
    this.#maxDelay = within('maxDelay', maxDelay, 0, longest)
    this.stableAfter = within('stableAfter', stableAfter, 0, longest)
    this.#retries = reconnect === false ? 0 : retries
    if (retries !== undefined) within('retries', retries, 0, Infinity)
    this.#when = reconnect === false ? () => false : when
  }

  /** True when a connection that was open, and ended like this, is made again. */
  isLost(end: { code: number; reason: string }): boolean {
    return this.#when(end)
  }

  /** Gives the wait before the next attempt (full jitter), or undefined when enough attempts have failed. */
  next(hasOpened: boolean): number | undefined {
    const most = this.#retries ?? (hasOpened ? Infinity : firstRetries)
    if (this.#tries >= most) return undefined
    return Math.random() * Math.min(this.#maxDelay, this.#delay * 2 ** this.#tries++)
  }

  reset(): void {
    this.#tries = 0
  }
}
