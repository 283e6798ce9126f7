/** The options of `rateLimit`, checked. */
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkChoice, checkFunction, checkInteger, checkNames } from '../options/checks.ts'
import { millisecondsOf } from '../options/duration.ts'
import { briefValue } from '../errors/brief-value.ts'
import { listedPeers } from '../request/trust.ts'
import type { Context } from '../types/context.ts'
import type { ResponseInfo } from '../types/declaration.ts'
import type { RequestContext } from '../types/request.ts'
import { type KeyGenerator, type KeyOf, keyFrom, keyOfWith } from './key.ts'
import type { Quota, RateLimitAlgorithm, RateLimitStore } from './store.ts'

/** One limit: so many units in so much time, for each key. */
export interface RateLimitPolicy {
  /** The units that a key may have in `timeWindow`, from 1. */
  max: number
  /** The window in milliseconds, or as `'30 seconds'`, `'1 minute'`, `'2 hours'`, `'1 day'`. Default a minute. */
  timeWindow?: number | string | undefined
  /**
   * - `gcra` (default): units come back one by one, evenly over the window. It needs one number a key.
   * - `fixed`: all units come back when the window, which begins with the first request, is over.
   * - `sliding`: as `fixed`, and what was taken in the window before counts for the share that a window ending now would
   *   have of it.
   */
  algorithm?: RateLimitAlgorithm | undefined
  /** The units that a key may have at once with `gcra`. Default `max`. */
  burst?: number | undefined
  /** Gives the key to count by. Default: the address of the client, of IPv6 its /64. */
  keyGenerator?: KeyGenerator | undefined
}

/** The options of `rateLimit`. */
export interface RateLimitOptions extends Omit<RateLimitPolicy, 'max'> {
  /** The units that a key may have in `timeWindow`, from 1. It is left out where `policies` are given. */
  max?: number | undefined
  /**
   * Several limits in place of one, by name. All are checked, and none is charged if one of them refuses. What a policy
   * leaves out it takes from the options beside it.
   */
  policies?: Readonly<Record<string, RateLimitPolicy>> | undefined
  /** The units that a request takes, from 1. A request that takes more than a key may ever have takes all of it. Default 1. */
  cost?: number | ((ctx: Context) => number | Promise<number>) | undefined
  /** Gives the units back once the reply is complete, if it returns true: `(ctx, { status }) => status < 400` counts failures alone. */
  refund?: ((ctx: Context, info: ResponseInfo) => boolean | Promise<boolean>) | undefined
  /**
   * Requests that are not counted: addresses, ranges such as `'10.0.0.0/8'`, `'loopback'`, `'private'` and keys, or a
   * function. The function gets the key of the first policy: `=` and the text that `keyGenerator` gave, `#` and a digest
   * of a long one, or an address.
   */
  allowList?: readonly string[] | ((ctx: Context, key: string) => boolean | Promise<boolean>) | undefined
  /** Is called for each request that is refused, with the key that was past its limit, as `allowList` gets it. */
  onExceeded?: ((ctx: Context, key: string) => unknown) | undefined
  /**
   * - `draft` (default): RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11.
   * - `legacy`: X-RateLimit-Limit, -Remaining and -Reset, of the limit that has least left.
   * - false: none. A 429 always has Retry-After.
   */
  headers?: 'draft' | 'legacy' | false | undefined
  /**
   * The most keys that each limit keeps in memory; past it the oldest go. Default 100,000. Where workers of `volant start`
   * count together, the size of their table is what counts: past it those go that would expire first.
   */
  cache?: number | undefined
  /** Counts for several processes: see `redisStore` of `volant/redis`. Default: in memory, where the workers of `volant start` count together, and any other process by itself. */
  store?: RateLimitStore | undefined
  /** The milliseconds that the store has to answer in, from 1 to 60,000. Default 50. */
  storeTimeout?: number | undefined
  /**
   * What happens while the store fails, or does not answer in time:
   *
   * - `local` (default): counts are in memory, as without a store, and a key may have `max` divided by `workers`.
   * - `allow`: requests pass uncounted.
   * - `deny`: requests are answered with 503.
   */
  onStoreError?: 'local' | 'allow' | 'deny' | undefined
  /**
   * How many share the store, for `onStoreError: 'local'`: processes, or with `volant start` machines, since its workers
   * count together. Default 1.
   */
  workers?: number | undefined
  /** The first part of names in the store. Default `volant-rate-limit`. */
  nameSpace?: string | undefined
  /**
   * The name of the limits. Limits of the same name count together: those of one app in memory, those of all workers with
   * `volant start`, all of them in a store, where it is required. It also is the name of a single limit in RateLimit fields. Default `default`.
   */
  groupId?: string | undefined
}

export interface PolicyPlan extends Quota {
  readonly name: string
  readonly generate: KeyGenerator | undefined
  readonly keyOf: KeyOf
}

/** The checked options. */
export interface Plan {
  readonly policies: readonly PolicyPlan[]
  /** True where all policies count by the same key. */
  readonly hasOneKey: boolean
  readonly cost: number | ((ctx: Context) => number | Promise<number>)
  readonly refund: RateLimitOptions['refund']
  readonly allows: ((ctx: RequestContext, keys: readonly string[]) => unknown) | null
  readonly onExceeded: RateLimitOptions['onExceeded']
  readonly headers: 'draft' | 'legacy' | false
  readonly cache: number
  readonly store: RateLimitStore | null
  readonly storeTimeout: number
  readonly onStoreError: 'local' | 'allow' | 'deny'
  readonly workers: number
  readonly nameSpace: string
  readonly group: string | undefined
}

const policyNames = ['max', 'timeWindow', 'algorithm', 'burst', 'keyGenerator'] as const
const names = [
  ...policyNames,
  'policies',
  'cost',
  'refund',
  'allowList',
  'onExceeded',
  'headers',
  'cache',
  'store',
  'storeTimeout',
  'onStoreError',
  'workers',
  'nameSpace',
  'groupId',
] as const

const storeNames = ['storeTimeout', 'onStoreError', 'workers', 'nameSpace'] as const

/** The names in express-rate-limit and @fastify/rate-limit. */
const foreign = {
  windowMs: 'timeWindow',
  limit: 'max',
  ban: 'write another policy with a longer timeWindow',
  skip: 'write allowList: (ctx) => …',
  skipFailedRequests: 'write refund: (ctx, { status }) => status >= 400',
  skipSuccessfulRequests: 'write refund: (ctx, { status }) => status < 400',
  requestWasSuccessful: 'refund',
  handler: 'write onError of the app or scope, which gets the error; onExceeded hears of it',
  message: 'write onError of the app or scope, which gets the error',
  statusCode: 'write onError of the app or scope, which gets the error',
  errorResponseBuilder: 'write onError of the app or scope, which gets the error',
  standardHeaders: 'headers',
  legacyHeaders: "write headers: 'legacy'",
  addHeaders: 'headers',
  draft_polli_ratelimit_headers: 'headers',
  enableDraftSpec: 'headers',
  redis: 'write store: redisStore(client), of volant/redis',
  skipOnError: "write onStoreError: 'allow'",
  passOnStoreError: "write onStoreError: 'allow'",
  hook: 'a limit runs where it is registered; before the body on routes with beforeBody',
  global: 'app.use() limits all routes; a limit before a handler limits that route',
  whitelist: 'allowList',
  prefix: 'nameSpace',
  identifier: 'groupId',
} satisfies Readonly<Record<string, string>>

/** Throws `E_BAD_OPTION`. */
export function planOf(options: RateLimitOptions): Plan {
  checkNames('rateLimit', options, names, foreign)
  const { store, headers = 'draft', cache = 100_000, workers = 1, cost = 1 } = options
  const { refund, onExceeded, groupId, nameSpace = 'volant-rate-limit' } = options
  if (typeof cost !== 'function') checkUnits('rateLimit: cost', cost, ', or a function that gives one')
  checkFunction('rateLimit: refund', refund)
  checkFunction('rateLimit: onExceeded', onExceeded)
  if (groupId !== undefined) checkLabel('rateLimit: groupId', groupId)
  checkStore(store, options)
  const policies = policiesOf(options)
  return {
    policies,
    hasOneKey: new Set(policies.map(({ generate }) => generate)).size === 1,
    cost,
    refund,
    allows: allowing(options.allowList),
    onExceeded,
    headers: checkChoice('rateLimit: headers', headers, ['draft', 'legacy', false]),
    cache: checkInteger('rateLimit: cache', cache, [2, 10_000_000], 'a number of keys from 2 to 10,000,000'),
    store: store ?? null,
    storeTimeout: checkInteger(
      'rateLimit: storeTimeout',
      options.storeTimeout ?? 50,
      [1, 60_000],
      'ms from 1 to 60,000',
    ),
    onStoreError: checkChoice('rateLimit: onStoreError', options.onStoreError ?? 'local', [
      'local',
      'allow',
      'deny',
    ]),
    workers: checkInteger('rateLimit: workers', workers, [1, 10_000], 'a number of processes from 1'),
    nameSpace: checkLabel('rateLimit: nameSpace', nameSpace),
    group: groupId,
  }
}

function checkStore(store: unknown, options: RateLimitOptions): void {
  if (store === undefined) {
    for (const name of storeNames) {
      if (options[name] === undefined) continue
      throw new VolantError('E_BAD_OPTION', `rateLimit: ${name} is for a store, and there is none: add store`)
    }
    return
  }
  const { take, refund, reset } = (store ?? {}) as Partial<Record<keyof RateLimitStore, unknown>>
  if ([take, refund, reset].some((each) => typeof each !== 'function')) {
    throw bad('rateLimit: store', store, 'an object with take, refund and reset, such as redisStore(client)')
  }
  if (options.groupId === undefined) {
    throw new VolantError(
      'E_BAD_OPTION',
      "rateLimit: a store needs groupId, the name under which all processes count: groupId: 'api'. Two limits with the same name share their counts",
    )
  }
}

function policiesOf(options: RateLimitOptions): readonly PolicyPlan[] {
  const { policies, max } = options
  if (policies === undefined) {
    if (max === undefined) throw bad('rateLimit: max', max, 'an integer from 1: the requests in timeWindow')
    return [policyOf('rateLimit', options.groupId ?? 'default', options as RateLimitPolicy)]
  }
  const wanted =
    'an object of policies by name, as { burst: { max: 10, timeWindow: 1_000 }, day: { max: 1_000 } }'
  if (typeof policies !== 'object' || policies === null || Array.isArray(policies)) {
    throw bad('rateLimit: policies', policies, wanted)
  }
  if (max !== undefined) {
    throw new VolantError('E_BAD_OPTION', 'rateLimit: max and policies are both given: write one of them')
  }
  const entries = Object.entries(policies)
  if (entries.length === 0 || entries.length > mostPolicies) {
    throw bad('rateLimit: policies', policies, `${wanted}, from 1 to ${mostPolicies}`)
  }
  const { timeWindow, algorithm, burst, keyGenerator } = options
  return entries.map(([name, own]) => {
    const where = `rateLimit: policies.${name}`
    checkNames(where, own, policyNames, foreign)
    checkLabel(`${where}: the name of a policy`, name)
    return policyOf(where, name, { timeWindow, algorithm, burst, keyGenerator, ...own })
  })
}

const mostPolicies = 16

function policyOf(where: string, name: string, given: RateLimitPolicy): PolicyPlan {
  const { max, algorithm = 'gcra', burst, keyGenerator } = given
  checkUnits(`${where}: max`, max)
  checkChoice(`${where}: algorithm`, algorithm, ['gcra', 'fixed', 'sliding'])
  checkFunction(`${where}: keyGenerator`, keyGenerator, 'a function that gives a key')
  if (burst !== undefined && algorithm !== 'gcra') {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: burst is for the algorithm 'gcra': with '${algorithm}' a key may have max at once`,
    )
  }
  if (burst !== undefined) checkUnits(`${where}: burst`, burst)
  const window = checkWindow(`${where}: timeWindow`, given.timeWindow)
  if (algorithm === 'gcra' && max > window * 1_000) {
    throw bad(`${where}: max`, max, `at most ${window * 1_000} for a timeWindow of ${window} ms`)
  }
  return {
    name,
    algorithm,
    max,
    window,
    burst: burst ?? max,
    generate: keyGenerator,
    keyOf: keyOfWith(keyGenerator, `${where}: keyGenerator`),
  }
}

function checkUnits(name: string, value: unknown, or = ''): void {
  checkInteger(name, value, [1, 1_000_000_000], `an integer from 1 to 1,000,000,000${or}`)
}

function checkWindow(name: string, value: unknown = 60_000): number {
  const wanted =
    "milliseconds from 1 to 31 days, or a text such as '30 seconds', '1 minute', '2 hours', '1 day'"
  const ms = millisecondsOf(value) ?? value
  if (typeof ms !== 'number' || !Number.isInteger(ms) || ms < 1 || ms > 31 * 86_400_000)
    throw bad(name, value, wanted)
  return ms
}

/** Checks a name that stands in fields and in names of keys. */
function checkLabel(name: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/-]{1,64}$/.test(value)) return value
  throw bad(name, value, '1 to 64 letters, digits and characters of _ . : / -')
}

function allowing(given: unknown): Plan['allows'] {
  if (given === undefined) return null
  if (typeof given === 'function') return (ctx, [key]) => (given as Function)(ctx, key) as unknown
  const wanted = 'a list of addresses, ranges and keys, or a function'
  if (!Array.isArray(given)) throw bad('rateLimit: allowList', given, wanted)
  const keys = new Set<string>()
  const addresses: string[] = []
  for (const each of given as readonly unknown[]) {
    if (typeof each !== 'string' || each === '') {
      throw bad('rateLimit: allowList', briefValue(each), wanted)
    }
    if (listedPeers([each]) === null) keys.add(keyFrom(each))
    else addresses.push(each)
  }
  const isListed = addresses.length === 0 ? null : listedPeers(addresses)
  return (ctx, all) => all.some((key) => keys.has(key)) || (isListed !== null && isListed(ctx.ip, 0))
}
