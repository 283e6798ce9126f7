/** What a store of counts does. The one in memory is built in; `redisStore` of `volant/redis` is another. */

/** The way in which a limit counts. */
export type RateLimitAlgorithm = 'gcra' | 'fixed' | 'sliding'

/** The numbers of one limit. */
export interface Quota {
  /** The way in which it counts. */
  readonly algorithm: RateLimitAlgorithm
  /** The units that a key may have in a window. */
  readonly max: number
  /** The length of a window, in milliseconds. */
  readonly window: number
  /** The units that a key may have at once, with `gcra`. */
  readonly burst: number
}

/** What a request takes from one limit. */
export interface Take extends Quota {
  /** The name that the count has in the store. Those of one call have the same `{tag}`, for clusters of Redis. */
  readonly key: string
  /** The units. */
  readonly cost: number
}

/** How a limit stands for a key. Times are in milliseconds. */
export interface Level {
  /** False where the limit refuses the request. */
  readonly allowed: boolean
  /** The units that are left. */
  readonly remaining: number
  /** The time until the quota is there again: with `gcra` all of it, or one unit if none is left. */
  readonly reset: number
  /** The time until the units that were asked for are there; 0 where they were taken. */
  readonly retryAfter: number
}

/** Keeps the counts of limits for several processes. A store that cannot answer throws or rejects. */
export interface RateLimitStore {
  /** Takes the units of all limits, or of none if one of them refuses, and gives a level for each. */
  take(takes: readonly Take[]): Promise<readonly Level[]>
  /** Gives units back that were taken. */
  refund(takes: readonly Take[]): Promise<void>
  /** Forgets counts. */
  reset(keys: readonly string[]): Promise<void>
}
