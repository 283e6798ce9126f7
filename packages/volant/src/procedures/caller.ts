/** Procedures called in process: the same middleware and checks, and no HTTP. */
import { bag } from '@volant/engine'
import type { Context } from '../types/context.ts'
import { nextId } from '../context/id.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { CallContext, type Origin } from './call-context.ts'
import { checkedEvents } from './events.ts'
import { type Served, served } from './output.ts'
import { unlessError } from './definition.ts'
import { type Placed, proceduresOf } from './router.ts'
import type { Procedure, ProcedureContext, ProcedureKind, ProcedureTree, Router } from './types.ts'
import { LazyContext } from '../context/lazy-context.ts'

/** Stands in for a request where there is none. */
export interface CallerOptions {
  /** By lower-case name; default none. */
  headers?: Readonly<Record<string, string>> | undefined
  /** By name; default none. */
  cookies?: Readonly<Record<string, string>> | undefined
  /** What `ctx.state` begins with, as if an app's middleware had set it. Each call has a copy. */
  state?: Readonly<Record<string, unknown>> | undefined
  /** Default an empty text. */
  ip?: string | undefined
  /** Default one that is never aborted. */
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
 * Calls procedures directly. `origin` stands in for the request: the context of one, whose headers and state the calls
 * then see, or options; by default there are no headers and no state. What a call throws is what the procedure threw:
 * `HTTPError`, `ValidationError` for its input, or an error nobody expected. Headers its middleware sets are those of
 * the reply to the request, and nothing without one.
 */
export function caller<R extends Router>(
  router: R,
  origin: Context | ProcedureContext | CallerOptions = {},
): Caller<R> {
  const from = originOf(origin)
  const root = bag()
  for (const placed of proceduresOf(router).values()) {
    let place = root
    for (const name of placed.names.slice(0, -1)) place = (place[name] ??= bag()) as Record<string, unknown>
    place[placed.names.at(-1) as string] = (input: unknown) => call(inProcess(placed), from, input)
  }
  return root as Caller<R>
}

const known = new WeakMap<Placed, Served>()

/** Nothing is compiled for procedures that nobody calls. */
function inProcess(placed: Placed): Served {
  let made = known.get(placed)
  if (made === undefined) {
    made = served(placed, process.env['NODE_ENV'] === 'production' ? 'strip' : 'throw')
    known.set(placed, made)
  }
  return made
}

async function call(placed: Served, from: Origin, input: unknown): Promise<unknown> {
  const { path, procedure, output } = placed
  const value = unlessError(await procedure.perform(new CallContext(from, placed, input).detach()))
  if (procedure.kind === 'subscription') return checkedEvents(path, value, output)
  return output === null ? value : output.valueOf(value)
}

function originOf(origin: Context | ProcedureContext | CallerOptions): Origin {
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
