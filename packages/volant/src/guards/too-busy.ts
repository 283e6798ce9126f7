/** `tooBusy()` refuses requests with 503 while the process has more to do than it can. */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { errorTable, refusal, VolantError } from '../errors/errors.ts'
import { checkInteger, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { type IgnoredRequests, ignoring, probes } from '../options/ignored-requests.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { Load } from './load.ts'

/** The options of `tooBusy`. */
export interface TooBusyOptions {
  /**
   * The milliseconds by which timers may come late, on the average of `sampleInterval`. Default 200 where no other limit
   * is given, else none.
   */
  maxEventLoopDelay?: number | undefined
  /** The requests behind this middleware that may wait for their replies at once. Default: no limit. */
  maxInFlight?: number | undefined
  /** The bytes that may be in use on the heap of JavaScript. Default: no limit. */
  maxHeapUsed?: number | undefined
  /** The bytes of memory that the process may have. Default: no limit. */
  maxRss?: number | undefined
  /** The milliseconds between two looks at delay and memory, from 100. Default 1,000. */
  sampleInterval?: number | undefined
  /** The seconds after which clients are asked to come back. Default 10. */
  retryAfter?: number | undefined
  /** The requests that are never refused. Default `['/health', '/ready', '/metrics']`. */
  ignore?: IgnoredRequests | undefined
}

/** The figures of `tooBusy`. */
export interface TooBusyStats {
  /** The share of requests that is refused now for delay or memory, from 0 to 1. */
  readonly shedding: number
  /** The requests that were refused. */
  readonly refused: number
  /** The requests that wait for their replies; 0 without `maxInFlight`. */
  readonly inFlight: number
  /** The milliseconds by which timers came late in the last `sampleInterval`. */
  readonly eventLoopDelay: number
  /** The bytes in use on the heap of JavaScript when it was looked at last; 0 without a limit on memory. */
  readonly heapUsed: number
  /** The bytes of memory of the process when it was looked at last; 0 without a limit on memory. */
  readonly rss: number
}

/** A guard, as a middleware. */
export interface TooBusy extends FittingMiddleware<{ errors: { E_TOO_BUSY: { status: 503 } } }> {
  /** Gives the figures. */
  readonly stats: () => TooBusyStats
}

const limits = ['maxEventLoopDelay', 'maxInFlight', 'maxHeapUsed', 'maxRss'] as const

/**
 * Refuses requests with 503 (`E_TOO_BUSY`) and Retry-After while the process is past a limit:
 *
 *     app.use(tooBusy({ maxEventLoopDelay: 200, maxInFlight: 1_000 }))
 *
 * Delay and memory are looked at once in `sampleInterval`. Past `maxEventLoopDelay` a share of the requests is refused,
 * which grows while the delay stays above the limit (all from twice the limit on), and halves with each look below it:
 * refusing all and none in turn would only move the load. Past a limit on memory, and for requests that are too many at
 * once, each one is refused. A request that is let alone costs a comparison.
 *
 * Throws `E_BAD_OPTION`.
 */
export function tooBusy(options: TooBusyOptions = {}): TooBusy {
  checkNames('tooBusy', options, [...limits, 'sampleInterval', 'retryAfter', 'ignore'], foreignNames.tooBusy)
  for (const name of limits) {
    const value = options[name]
    if (value !== undefined) checkInteger(`tooBusy: ${name}`, value, [1, 2 ** 50], 'an integer from 1')
  }
  const { maxInFlight, maxHeapUsed, maxRss, sampleInterval = 1_000, retryAfter = 10 } = options
  checkInteger('tooBusy: sampleInterval', sampleInterval, [100, 60_000], 'milliseconds from 100 to 60,000')
  checkInteger('tooBusy: retryAfter', retryAfter, [1, 86_400], 'seconds from 1 to 86,400')
  const isIgnored = ignoring('tooBusy: ignore', options.ignore ?? [...probes, '/metrics'])
  const none = limits.every((name) => options[name] === undefined)
  const maxEventLoopDelay = none ? 200 : options.maxEventLoopDelay
  if (maxEventLoopDelay !== undefined && maxEventLoopDelay >= sampleInterval * 10) {
    throw new VolantError(
      'E_BAD_OPTION',
      `tooBusy: maxEventLoopDelay (${maxEventLoopDelay} ms) is ten times sampleInterval (${sampleInterval} ms) or more: lower it, or look less often`,
    )
  }
  const load = new Load({ maxEventLoopDelay, maxHeapUsed, maxRss }, sampleInterval)
  const admission = new Admission(load, maxInFlight ?? Infinity, String(retryAfter), isIgnored)
  const layer = gateOf(admission.gate(), {
    errors: {
      E_TOO_BUSY: {
        status: 503,
        description: errorTable.E_TOO_BUSY.meaning,
        headers: { 'Retry-After': 'The seconds after which the request may be sent again.' },
      },
    },
    exposes: ['Retry-After'],
    beforeBody: true,
    isOfRequest: true,
    onClose: () => load.stop(),
    ...(maxInFlight === undefined ? {} : { onResponse: (ctx) => admission.leave(ctx) }),
  })
  return Object.assign(layer, { stats: () => admission.stats() }) as TooBusy
}

hintMisuse(tooBusy, 'app.use(tooBusy())')

class Admission {
  readonly #load: Load
  readonly #maxInFlight: number
  readonly #retryAfter: string
  readonly #isIgnored: (ctx: RequestContext) => boolean
  /** The requests that passed and have no complete reply. */
  readonly #inFlight = new Set<object>()
  #refused = 0
  /** The part of a request that is due to be refused, after those that were. */
  #due = 0

  constructor(
    load: Load,
    maxInFlight: number,
    retryAfter: string,
    isIgnored: (ctx: RequestContext) => boolean,
  ) {
    this.#load = load
    this.#maxInFlight = maxInFlight
    this.#retryAfter = retryAfter
    this.#isIgnored = isIgnored
  }

  gate(): (ctx: RequestContext) => undefined {
    const load = this.#load
    const counts = this.#maxInFlight < Infinity
    return (ctx) => {
      if (load.isStopped) load.start()
      if (load.shedding === 0 && !counts) return undefined
      return this.#weigh(ctx)
    }
  }

  #weigh(ctx: RequestContext): undefined {
    if (this.#isIgnored(ctx)) return
    this.#due += this.#load.shedding
    if (this.#due >= 1) {
      this.#due -= 1
      return this.#refuse(ctx)
    }
    if (this.#maxInFlight === Infinity) return
    // One request may pass more than once, as middleware of an app and of a scope.
    if (this.#inFlight.size >= this.#maxInFlight && !this.#inFlight.has(ctx)) return this.#refuse(ctx)
    this.#inFlight.add(ctx)
  }

  leave(ctx: object): void {
    this.#inFlight.delete(ctx)
  }

  #refuse(ctx: RequestContext): never {
    this.#refused++
    ctx.place('retry-after', 'retry-after', this.#retryAfter)
    throw refusal('E_TOO_BUSY')
  }

  stats(): TooBusyStats {
    const { shedding, eventLoopDelay, heapUsed, rss } = this.#load
    return { shedding, refused: this.#refused, inFlight: this.#inFlight.size, eventLoopDelay, heapUsed, rss }
  }
}
