/** Options of the tRPC door. */
import type { Context } from '../../types/context.ts'
import { bad } from '../../options/bad-option.ts'
import { checkFlag, checkNames } from '../../options/checks.ts'
import type { ErrorShape } from './error-shape.ts'
import type { ProcedureKind } from '../types.ts'

/** What carries values that JSON does not: superjson and the like. The client has to be given the same. */
export interface Transformer {
  /** From a value to what JSON can write. */
  serialize(value: unknown): unknown
  /** Back again. */
  deserialize(value: unknown): unknown
}

/** What `responseMeta` is told. */
export interface ResponseMetaCall {
  /** Of the request. */
  readonly ctx: Context
  /** Of the calls; undefined where none of them is a procedure. */
  readonly type: ProcedureKind | undefined
  /** Of the calls, in their order. */
  readonly paths: readonly string[]
  /** Those that failed; none where the reply is streamed, since nobody knows yet. */
  readonly errors: readonly ErrorShape[]
  /** The reply is streamed. */
  readonly streamed: boolean
}

/** Options of `trpc`. */
export interface TRPCOptions {
  /**
   * Of all procedures; default `/trpc`. Requests under it that no route takes have errors of tRPC's shape as well; where it
   * is `/` they are the app's.
   */
  prefix?: string | undefined
  /**
   * Calls in one request; default 100, 1 to 1,000. More are 400 before any of them runs: give the client's link the same
   * `maxItems`.
   */
  maxBatchSize?: number | undefined
  /** Queries are taken with POST as well, for inputs too long for a URL. Default false. */
  allowMethodOverride?: boolean | undefined
  /**
   * Mutations take multipart/form-data as well, and their input is a `FormData`. A page of another site can send such a
   * form with the user's cookies, and no browser asks first: check Origin, or keep to SameSite cookies. Default false.
   */
  acceptForms?: boolean | undefined
  /** For both directions, or one for each. Default JSON as it is. */
  transformer?: Transformer | { input: Transformer; output: Transformer } | undefined
  /** Status and headers of a reply, once its calls are done, or before a streamed one begins. */
  responseMeta?:
    | ((
        call: ResponseMetaCall,
      ) => { status?: number | undefined; headers?: Record<string, string> | undefined } | undefined)
    | undefined
  /** Milliseconds without an event after which a subscription sends a ping; default 15,000, 0 for none. */
  pingInterval?: number | undefined
  /** Milliseconds after which a subscription is ended, and its client connects again; default 0: never. */
  maxSubscription?: number | undefined
  /** Milliseconds without an event after which a client connects again; default 0: never. Longer than `pingInterval`. */
  reconnectAfter?: number | undefined
}

export interface Settings {
  readonly prefix: string
  readonly maxBatchSize: number
  readonly allowMethodOverride: boolean
  readonly acceptForms: boolean
  readonly input: Transformer | null
  readonly output: Transformer | null
  readonly responseMeta: NonNullable<TRPCOptions['responseMeta']> | null
  readonly pingInterval: number
  readonly maxSubscription: number
  readonly reconnectAfter: number
}

/** Throws `E_BAD_OPTION` with the name of the option. */
export function settingsOf(options: TRPCOptions): Settings {
  checkNames('trpc', options, names)
  const { prefix = '/trpc', maxBatchSize = 100, transformer, responseMeta } = options
  if (!Number.isInteger(maxBatchSize) || maxBatchSize < 1 || maxBatchSize > 1_000) {
    throw bad('trpc.maxBatchSize', maxBatchSize, 'a whole number from 1 to 1,000')
  }
  if (responseMeta !== undefined && typeof responseMeta !== 'function') {
    throw bad('trpc.responseMeta', responseMeta, 'a function')
  }
  const settings: Settings = {
    prefix,
    maxBatchSize,
    allowMethodOverride: checkFlag('trpc.allowMethodOverride', options.allowMethodOverride, false),
    acceptForms: checkFlag('trpc.acceptForms', options.acceptForms, false),
    ...transformers(transformer),
    responseMeta: responseMeta ?? null,
    pingInterval: milliseconds('pingInterval', options.pingInterval, 15_000),
    maxSubscription: milliseconds('maxSubscription', options.maxSubscription, 0),
    reconnectAfter: milliseconds('reconnectAfter', options.reconnectAfter, 0),
  }
  const { pingInterval, reconnectAfter } = settings
  if (reconnectAfter > 0 && (pingInterval === 0 || pingInterval >= reconnectAfter)) {
    throw bad(
      'trpc.reconnectAfter',
      reconnectAfter,
      `more than pingInterval, which is ${pingInterval}: quiet subscriptions would be connected again and again`,
    )
  }
  return settings
}

const names = [
  'prefix',
  'maxBatchSize',
  'allowMethodOverride',
  'acceptForms',
  'transformer',
  'responseMeta',
  'pingInterval',
  'maxSubscription',
  'reconnectAfter',
]

function transformers(given: TRPCOptions['transformer']): {
  input: Transformer | null
  output: Transformer | null
} {
  if (given === undefined) return { input: null, output: null }
  const { input, output } = 'input' in given ? given : { input: given, output: given }
  for (const each of [input, output]) {
    if (typeof each?.serialize !== 'function' || typeof each.deserialize !== 'function') {
      throw bad('trpc.transformer', given, 'an object with the functions serialize and deserialize')
    }
  }
  return { input, output }
}

/** What a timer takes. */
const longest = 2_147_483_647

function milliseconds(name: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= longest)
    return value as number
  throw bad(`trpc.${name}`, value, 'a whole number of milliseconds, 0 for none')
}
