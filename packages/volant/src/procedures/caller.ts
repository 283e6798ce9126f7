/** Calls procedures in process, with the same middleware and checks, and without HTTP. */
import { madeOnce } from '../schema/made-once.ts'
import type { Context } from '../types/context.ts'
import { nextId } from '../context/id.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { CallContext, type CallSource } from './call-context.ts'
import { checkedEvents } from './events.ts'
import { type Served, served } from './output.ts'
import { unlessError } from './definition.ts'
import { namedTree, type Placed, proceduresOf } from './router.ts'
import type { Procedure, ProcedureContext, ProcedureKind, ProcedureTree, Router } from './types.ts'
import { LazyContext } from '../context/lazy-context.ts'

/** The values that a call has in place of a request. */
export interface CallerOptions {
  /** The request headers by lower-case name; default none. */
  headers?: Readonly<Record<string, string>> | undefined
  /** The cookies by name; default none. */
  cookies?: Readonly<Record<string, string>> | undefined
  /** The first value of `ctx.state`, as if an app's middleware had set it. Each call has a copy. */
  state?: Readonly<Record<string, unknown>> | undefined
  /** The address of the client; default an empty text. */
  ip?: string | undefined
  /** Aborts the calls; default a signal that is never aborted. */
  signal?: AbortSignal | undefined
}

/** The procedures of a router as functions: `await call.users.getUser({ id })`. */
export type Caller<R extends Router> = R extends Router<infer T> ? CallerOf<T> : never

type CallerOf<T extends ProcedureTree> = {
  readonly [K in keyof T]: T[K] extends Router<infer U>
    ? CallerOf<U>
    : T[K] extends Procedure<ProcedureKind, infer I, infer O>
      ? (...input: undefined extends I ? [input?: I] : [input: I]) => Promise<O>
      : never
}

/**
 * Calls procedures directly. `origin` is the context of a request, whose headers and state the calls see, or options;
 * by default there are no headers and no state. A call throws what the procedure throws: an `HTTPError`, a
 * `ValidationError` for its input, or an unexpected error. Headers that its middleware sets go to the reply of the
 * request; without a request they have no effect.
 */
export function caller<R extends Router>(
  router: R,
  origin: Context | ProcedureContext | CallerOptions = {},
): Caller<R> {
  const from = sourceOf(origin)
  return namedTree(
    proceduresOf(router).values(),
    (placed) => (input: unknown) => callInProcess(inProcess(placed), from, input),
  ) as Caller<R>
}

const known = new WeakMap<Placed, Served>()

/** Prepares a procedure at its first call. */
function inProcess(placed: Placed): Served {
  return madeOnce(known, placed, () =>
    served(placed, process.env['NODE_ENV'] === 'production' ? 'strip' : 'throw'),
  )
}

async function callInProcess(placed: Served, from: CallSource, input: unknown): Promise<unknown> {
  const { path, procedure, output } = placed
  const value = unlessError(await procedure.perform(new CallContext(from, placed, input).detach()))
  if (procedure.kind === 'subscription') return checkedEvents(path, value, output)
  return output === null ? value : output.valueOf(value)
}

function sourceOf(origin: Context | ProcedureContext | CallerOptions): CallSource {
  const given: unknown = origin
  if (given instanceof LazyContext || given instanceof CallContext) return given
  checkOptionNames('caller', origin, ['headers', 'cookies', 'state', 'ip', 'signal'])
  const {
    headers = {},
    cookies = {},
    state = {},
    ip = '',
    signal = new AbortController().signal,
  } = origin as CallerOptions
  return { headers, cookies, state, ip, signal, id: nextId() }
}
