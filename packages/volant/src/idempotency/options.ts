/** The options of `idempotency`, checked. */
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import {
  checkChoice,
  checkEach,
  checkFlag,
  checkFunction,
  checkInteger,
  checkNames,
  checkText,
} from '../options/checks.ts'
import { millisecondsOf } from '../options/duration.ts'
import type { Context } from '../types/context.ts'
import type { KeyStore } from '../types/store.ts'

/** The options of `idempotency`. */
export interface IdempotencyOptions {
  /**
   * Keeps keys and replies: `redisKeys(client)` of `volant/redis`, which several processes share, or `memoryKeys()` for one
   * process.
   */
  store: KeyStore
  /** True answers requests without a key with 400. Default false: they run as if this were not here. */
  required?: boolean | undefined
  /** The methods whose requests may have a key. Default POST and PATCH. */
  methods?: readonly string[] | undefined
  /**
   * Gives the caller that a key belongs to, so that nobody gets the reply of somebody else. Default: the subject of the
   * token or the id of the user that an authentication in front found, or what a user without an id passed it with; else
   * the session, else the headers Authorization and X-Api-Key, else the address of the client, of IPv6 its /64.
   * An authentication of your own whose users have no id may need it: requests fail
   * with `E_BAD_OPTION` then.
   */
  scope?: ((ctx: Context) => string | Promise<string>) | undefined
  /**
   * Gives what has to be the same where a key is repeated. Default: path, query and the bytes of the body. Method
   * and host have to be the same in any case. Routes that stream their body need one of their own.
   */
  fingerprint?: ((ctx: Context) => string | Promise<string>) | undefined
  /** The time for which a reply is kept: milliseconds, or a text such as `'2 hours'`. Default a day. */
  keepFor?: number | string | undefined
  /**
   * The time after which a key is free again where the process that had it has died. While a request runs its key is held
   * on. Default 30 seconds.
   */
  lockTimeout?: number | string | undefined
  /** The most bytes of a body that is kept, from 0 to 16 MiB. Default 64 KiB, 65,536. */
  maxReplySize?: number | undefined
  /**
   * Says whether a reply is kept. One that is not frees the key, so that a repetition runs anew. Default: all but those from
   * 500 on, 401, 408, 409, 425 and 429.
   */
  keeps?: ((ctx: Context, status: number) => boolean) | undefined
  /** The milliseconds that the store has to answer in, from 1 to 60,000. Default 1,000. */
  storeTimeout?: number | undefined
  /**
   * What happens to a request with a key while the store fails, or does not answer in time:
   *
   * - `deny` (default): it is answered with 503.
   * - `allow`: it runs, and so does its repetition.
   */
  onStoreError?: 'deny' | 'allow' | undefined
  /** The first part of names in the store. Default `volant-idempotency`. */
  nameSpace?: string | undefined
}

/** The checked options. */
export interface IdempotencyPlan {
  readonly store: KeyStore
  readonly isRequired: boolean
  readonly methods: ReadonlySet<string>
  readonly scope: IdempotencyOptions['scope']
  readonly fingerprint: IdempotencyOptions['fingerprint']
  readonly keepFor: number
  readonly lockTimeout: number
  readonly maxReplySize: number
  readonly keeps: (ctx: Context, status: number) => boolean
  readonly storeTimeout: number
  readonly onStoreError: 'deny' | 'allow'
  readonly nameSpace: string
}

const names = [
  'store',
  'required',
  'methods',
  'scope',
  'fingerprint',
  'keepFor',
  'lockTimeout',
  'maxReplySize',
  'keeps',
  'storeTimeout',
  'onStoreError',
  'nameSpace',
] as const

/** The names of other packages. */
const foreign = {
  ttl: 'keepFor',
  ttlMs: 'keepFor',
  expires: 'keepFor',
  enforceIdempotency: 'required',
  fingerprinter: 'fingerprint',
  storage: 'store',
  lockTtl: 'lockTimeout',
} satisfies Readonly<Record<string, string>>

/** The methods of requests that change something, and may have a body. */
const changing = ['POST', 'PATCH', 'PUT', 'DELETE'] as const

/** These say that nothing was done, and that the same request may be answered otherwise later. */
const passing: ReadonlySet<number> = new Set([401, 408, 409, 425, 429])

const day = 86_400_000

/** Throws `E_BAD_OPTION`. */
export function planOf(options: IdempotencyOptions): IdempotencyPlan {
  checkNames('idempotency', options, names, foreign)
  const { store, scope, fingerprint, keeps } = options
  checkStore(store)
  checkFunction('idempotency: scope', scope, 'a function that names the caller')
  checkFunction('idempotency: fingerprint', fingerprint, 'a function that gives a text')
  checkFunction('idempotency: keeps', keeps, 'a function that says whether a reply is kept')
  const within = (name: 'maxReplySize' | 'storeTimeout', fallback: number, most: number): number =>
    checkInteger(
      `idempotency: ${name}`,
      options[name] ?? fallback,
      [name === 'storeTimeout' ? 1 : 0, most],
      `an integer up to ${most.toLocaleString('en-US')}`,
    )
  return {
    store,
    isRequired: checkFlag('idempotency: required', options.required, false),
    methods: new Set(
      checkEach(
        'idempotency: methods',
        options.methods ?? ['POST', 'PATCH'],
        'an array of methods',
        (name, each) => checkChoice(name, each, changing),
      ),
    ),
    scope,
    fingerprint,
    keepFor: checkTime('idempotency: keepFor', options.keepFor ?? day, [1_000, 31 * day]),
    lockTimeout: checkTime('idempotency: lockTimeout', options.lockTimeout ?? 30_000, [100, day]),
    maxReplySize: within('maxReplySize', 65_536, 16_777_216),
    keeps: keeps ?? ((_, status) => status < 500 && !passing.has(status)),
    storeTimeout: within('storeTimeout', 1_000, 60_000),
    onStoreError: checkChoice('idempotency: onStoreError', options.onStoreError ?? 'deny', ['deny', 'allow']),
    nameSpace: checkText(
      'idempotency: nameSpace',
      options.nameSpace ?? 'volant-idempotency',
      /^[\w.:/-]{1,64}$/,
      '1 to 64 letters, digits and characters of _ . : / -',
    ),
  }
}

function checkTime(name: string, value: number | string, [min, max]: readonly [number, number]): number {
  const wanted = `milliseconds from ${min.toLocaleString('en-US')} to ${max / day} days, or a text such as '30 seconds', '2 hours', '1 day'`
  return checkInteger(name, millisecondsOf(value) ?? (value as number), [min, max], wanted)
}

function checkStore(store: unknown): void {
  const wanted =
    'redisKeys(client) of volant/redis, memoryKeys() for one process, or an object with get, set and del'
  if (store === undefined) throw new VolantError('E_BAD_OPTION', `idempotency takes a store: ${wanted}`)
  const { get, set, del } = (store ?? {}) as Partial<Record<keyof KeyStore, unknown>>
  if ([get, set, del].some((each) => typeof each !== 'function'))
    throw bad('idempotency: store', store, wanted)
}
