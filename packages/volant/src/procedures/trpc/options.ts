/** Checks the options of the tRPC endpoint. */
import type { Context } from '../../types/context.ts'
import { bad } from '../../options/bad-option.ts'
import { checkFlag, checkFunction, checkInteger, checkNames } from '../../options/checks.ts'
import type { ErrorShape } from './error-shape.ts'
import type { ProcedureKind } from '../types.ts'

/** Carries values that JSON cannot write; superjson is one. Clients need the same one. */
export interface Transformer {
  /** Turns a value into one that JSON can write. */
  serialize(value: unknown): unknown
  /** Turns that value back. */
  deserialize(value: unknown): unknown
}

/** The argument of `responseMeta`. */
export interface ResponseMetaCall {
  /** The context of the request. */
  readonly ctx: Context
  /** The kind of the procedures called; undefined where no call names a procedure. */
  readonly type: ProcedureKind | undefined
  /** The paths of the calls, in their order. */
  readonly paths: readonly string[]
  /** The errors of calls that failed; empty for a streamed reply, which begins before calls fail. */
  readonly errors: readonly ErrorShape[]
  /** True where the reply is streamed. */
  readonly streamed: boolean
}

/** The options of `trpc`. */
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
  /** The transformer, one for both directions or one for each. Without it values are plain JSON. */
  transformer?: Transformer | { input: Transformer; output: Transformer } | undefined
  /** Gives status and headers of a reply. It is called when the calls are done, or before a streamed reply begins. */
  responseMeta?:
    | ((
        call: ResponseMetaCall,
      ) => { status?: number | undefined; headers?: Record<string, string> | undefined } | undefined)
    | undefined
  /** The milliseconds without an event after which a subscription sends a ping; default 15,000, 0 for none. */
  pingInterval?: number | undefined
  /** The milliseconds after which the server ends a subscription; its client then connects again. Default 0: never. */
  maxSubscription?: number | undefined
  /** The milliseconds without an event after which a client connects again; above `pingInterval`, default 0: never. */
  reconnectAfter?: number | undefined
}

type OwnOptions = Omit<TRPCOptions, 'transformer' | 'responseMeta'>

/** The options with their defaults. */
export interface Settings extends Readonly<typeof defaults> {
  readonly input: Transformer | null
  readonly output: Transformer | null
  readonly responseMeta: NonNullable<TRPCOptions['responseMeta']> | null
}

const defaults: { readonly [K in keyof OwnOptions]-?: NonNullable<OwnOptions[K]> } = {
  prefix: '/trpc',
  maxBatchSize: 100,
  allowMethodOverride: false,
  acceptForms: false,
  pingInterval: 15_000,
  maxSubscription: 0,
  reconnectAfter: 0,
}

/** The range of a timer of Node.js. */
const timer = [0, 2_147_483_647] as const

/** Throws `E_BAD_OPTION` with the name of the option. */
export function settingsOf(options: TRPCOptions): Settings {
  checkNames('trpc', options, [...Object.keys(defaults), 'transformer', 'responseMeta'])
  const { transformer, responseMeta = null, ...given } = options
  const defined = Object.entries(given).filter(([, value]) => value !== undefined)
  const own = { ...defaults, ...(Object.fromEntries(defined) as Partial<typeof defaults>) }
  checkInteger('trpc.maxBatchSize', own.maxBatchSize, [1, 1_000], 'a whole number from 1 to 1,000')
  checkFlag('trpc.allowMethodOverride', own.allowMethodOverride, false)
  checkFlag('trpc.acceptForms', own.acceptForms, false)
  checkFunction('trpc.responseMeta', options.responseMeta)
  for (const name of ['pingInterval', 'maxSubscription', 'reconnectAfter'] as const)
    checkInteger(`trpc.${name}`, own[name], timer, 'a whole number of milliseconds, 0 for none')
  const { pingInterval, reconnectAfter } = own
  if (reconnectAfter > 0 && (pingInterval === 0 || pingInterval >= reconnectAfter)) {
    throw bad(
      'trpc.reconnectAfter',
      reconnectAfter,
      `more than pingInterval, which is ${pingInterval}: clients of quiet subscriptions would connect again and again`,
    )
  }
  return { ...own, ...transformers(transformer), responseMeta }
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
