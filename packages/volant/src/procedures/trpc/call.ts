/** Runs one call of a procedure over tRPC, by itself or in a batch. */
import { HTTPError } from '../../errors/errors.ts'
import { isThenable } from '../../types/thenable.ts'
import type { CallContext } from '../call-context.ts'
import type { Served } from '../output.ts'
import { unlessError } from '../definition.ts'
import type { ProcedureKind } from '../types.ts'
import type { Settings } from './options.ts'
import type { RequestContext } from '../../types/request.ts'

/**
 * Runs a call: gives the checked value, or a promise of it. Without a declared output the value may be an Error, which
 * the caller throws: a promise for that alone would cost each call one.
 */
export function perform({ procedure, output }: Served, call: CallContext): unknown {
  const value = procedure.perform(call)
  if (output === null) return value
  if (isThenable(value)) return value.then((given) => output.check(unlessError(given)))
  return output.check(unlessError(value))
}

const methods: Readonly<Record<ProcedureKind, string>> = {
  query: 'GET',
  mutation: 'POST',
  subscription: 'GET',
}

/** Throws 405 for a mutation that is not POST, and for a query that is not GET, unless `allowMethodOverride` is set. */
export function checkMethod(ctx: RequestContext, { path, procedure }: Served, settings: Settings): void {
  const method = methods[procedure.kind]
  if (ctx.method === method) return
  const overrides = settings.allowMethodOverride && procedure.kind !== 'mutation'
  if (overrides && ctx.method === 'POST') return
  // A 405 names the methods that are allowed (RFC 9110 §15.5.6).
  if (!ctx.replied) ctx.header('allow', overrides ? 'GET, POST' : method)
  throw new HTTPError(
    405,
    `Unsupported ${ctx.method}-request to ${procedure.kind} procedure at path "${path}"`,
  )
}

export function noProcedure(path: string): HTTPError {
  return new HTTPError(404, `No procedure found on path "${path}"`)
}

/**
 * True where a value is or has members that come later, promises and async iterables: only a streamed batch carries
 * these. Deeper members are not examined, since clients do not look there.
 */
export function isDeferred(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (isAsyncIterable(value)) return true
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && (isThenable(member) || isAsyncIterable(member)))
      return true
  }
  return false
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as AsyncIterable<unknown> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}

/** Makes the error for a deferred value in a reply that is not streamed. Its parts are released. */
export function notStreamed(value: unknown): HTTPError {
  for (const part of [value, ...Object.values(value as object)]) {
    // An unhandled rejection would end the process.
    if (isThenable(part)) part.then(undefined, () => {})
    else if (isAsyncIterable(part)) stop(part[Symbol.asyncIterator]())
  }
  return new HTTPError(
    415,
    'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  )
}

/** Releases an iterator. A generator that is waiting runs its `finally` blocks when the wait is over. */
export function stop(iterator: AsyncIterator<unknown>): void {
  void (async () => iterator.return?.())().catch(() => {})
}
