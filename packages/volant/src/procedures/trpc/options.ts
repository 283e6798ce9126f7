/** Options of the tRPC endpoint. */
import type { Context } from '../../types/context.ts'
import { bad } from '../../options/bad-option.ts'
import { checkFlag, checkNames } from '../../options/checks.ts'
import type { ErrorShape } from './error-shape.ts'
import type { ProcedureKind } from '../types.ts'

/** Carries values that JSON cannot write; superjson is one. Clients need the same one. */
export interface Transformer {
  /** Turns a value into one that JSON can write. */
  serialize(value: unknown): unknown
  /** Turns it back. */
  deserialize(value: unknown): unknown
}

/** What `responseMeta` is called with. */
export interface ResponseMetaCall {
  /** The context of the request. */
  readonly ctx: Context
  /** The kind of the procedures called; undefined where no call names a procedure. */
  readonly type: ProcedureKind | undefined
  /** The paths of the calls, in their order. */
  readonly paths: readonly string[]
  /** The errors of calls that failed; empty for a streamed reply, which begins before calls fail. */
  readonly errors: readonly ErrorShape[]
  /** Whether the reply is streamed. */
  readonly streamed: boolean
}

/** Options of `trpc`. */
export interface TRPCOptions {
  /**
   * The path in front of all procedures; default `/trpc`. Requests below it that match no route also get errors of tRPC's
   * shape; with `/` such requests belong to the app.
   */
  prefix?: string | undefined
  /**
   * The most calls in one request, 1 to 1,000; default 100. A request with more gets 400 before any of them runs: give the
   * client's link the same `maxItems`.
   */
  maxBatchSize?: number | undefined
  /** Accepts queries with POST as well, for inputs too long for a URL. Default false. */
  allowMethodOverride?: boolean | undefined
  /**
   * Accepts multipart/form-data for mutations, whose input is then a `FormData`. A page of another site can send such a
   * form with the user's cookies, without a preflight: check Origin, or use SameSite cookies. Default false.
   */
  acceptForms?: boolean | undefined
  /** One for both directions, or one for each. Without it values are plain JSON. */
  transformer?: Transformer | { input: Transformer; output: Transformer } | undefined
  /** Gives status and headers of a reply. It is called when the calls are done, or before a streamed reply begins. */
  responseMeta?:
    | ((
        call: ResponseMetaCall,
      ) => { status?: number | undefined; headers?: Record<string, string> | undefined } | undefined)
    | undefined
  /** Milliseconds without an event after which a subscription sends a ping; default 15,000, 0 for none. */
  pingInterval?: number | undefined
  /** Milliseconds after which the server ends a subscription, so that its client connects again; default 0: never. */
  maxSubscription?: number | undefined
  /** Milliseconds without an event after which a client connects again; default 0: never. It must exceed `pingInterval`. */
  reconnectAfter?: number | undefined
}

type OwnOptions = Omit<TRPCOptions, 'transformer' | 'responseMeta'>

/** The options with their defaults. */
export interface Settings extends Readonly<{ [K in keyof OwnOptions]-?: NonNullable<OwnOptions[K]> }> {
  readonly input: Transformer | null
  readonly output: Transformer | null
  readonly responseMeta: NonNullable<TRPCOptions['responseMeta']> | null
}

const defaults = {
  prefix: '/trpc',
  maxBatchSize: 100,
  allowMethodOverride: false,
  acceptForms: false,
  transformer: undefined,
  responseMeta: undefined,
  pingInterval: 15_000,
  maxSubscription: 0,
  reconnectAfter: 0,
} as const satisfies Record<keyof TRPCOptions, unknown>

/** Throws `E_BAD_OPTION` with the name of the option. */
export function settingsOf(options: TRPCOptions): Settings {
  checkNames('trpc', options, Object.keys(defaults))
  const {
    prefix = defaults.prefix,
    maxBatchSize = defaults.maxBatchSize,
    transformer,
    responseMeta,
  } = options
  if (!Number.isInteger(maxBatchSize) || maxBatchSize < 1 || maxBatchSize > 1_000) {
    throw bad('trpc.maxBatchSize', maxBatchSize, 'a whole number from 1 to 1,000')
  }
  if (responseMeta !== undefined && typeof responseMeta !== 'function') {
    throw bad('trpc.responseMeta', responseMeta, 'a function')
  }
  const flag = (name: 'allowMethodOverride' | 'acceptForms'): boolean =>
    checkFlag(`trpc.${name}`, options[name], defaults[name])
  const pingInterval = checkMilliseconds('pingInterval', options)
  const reconnectAfter = checkMilliseconds('reconnectAfter', options)
  if (reconnectAfter > 0 && (pingInterval === 0 || pingInterval >= reconnectAfter)) {
    throw bad(
      'trpc.reconnectAfter',
      reconnectAfter,
      `more than pingInterval, which is ${pingInterval}: clients of quiet subscriptions would connect again and again`,
    )
  }
  return {
    prefix,
    maxBatchSize,
    allowMethodOverride: flag('allowMethodOverride'),
    acceptForms: flag('acceptForms'),
    ...transformers(transformer),
    responseMeta: responseMeta ?? null,
    pingInterval,
    maxSubscription: checkMilliseconds('maxSubscription', options),
    reconnectAfter,
  }
}

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

/** The longest time that a timer of Node.js takes. */
const longest = 2_147_483_647

function checkMilliseconds(
  name: 'pingInterval' | 'maxSubscription' | 'reconnectAfter',
  options: TRPCOptions,
): number {
  const value = options[name] === undefined ? defaults[name] : options[name]
  if (Number.isInteger(value) && value >= 0 && value <= longest) return value
  throw bad(`trpc.${name}`, value, 'a whole number of checkMilliseconds, 0 for none')
}
