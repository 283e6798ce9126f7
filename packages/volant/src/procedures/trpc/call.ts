/** One call of a procedure that came over tRPC, whatever the request around it. */
import { HTTPError } from '../../errors/errors.ts'
import { isThenable } from '../../types/thenable.ts'
import type { CallContext } from '../call-context.ts'
import type { Served } from '../output.ts'
import { unlessError } from '../definition.ts'
import type { ProcedureKind } from '../types.ts'
import type { Settings } from './options.ts'
import type { RequestContext } from '../../types/request.ts'

/**
 * What the procedure gives, checked by its output, or a promise of it; `context` is that of this call alone. An Error is
 * thrown where there is an output, and else is for the caller to throw: a promise of its own would cost each call one.
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

/** Refuses GET for what changes something, and POST for what does not unless the door allows it. */
export function checkMethod(ctx: RequestContext, { path, procedure }: Served, settings: Settings): void {
  const method = methods[procedure.kind]
  if (ctx.method === method) return
  const overrides = settings.allowMethodOverride && procedure.kind !== 'mutation'
  if (overrides && ctx.method === 'POST') return
  // RFC 9110 §15.5.6
  if (!ctx.replied) ctx.header('allow', overrides ? 'GET, POST' : method)
  throw new HTTPError(
    405,
    `Unsupported ${ctx.method}-request to ${procedure.kind} procedure at path "${path}"`,
  )
}

/** The error of a path nobody has. */
export function noProcedure(path: string): HTTPError {
  return new HTTPError(404, `No procedure found on path "${path}"`)
}

/**
 * Whether a value has parts that are still to come: those need a streamed batch. Only its own members are looked at,
 * as clients do.
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

/** What becomes of a deferred value in a reply that is sent at once. Nobody waits for its parts any more. */
export function notStreamed(value: unknown): HTTPError {
  for (const part of [value, ...Object.values(value as object)]) {
    // A rejection nobody handles would end the process.
    if (isThenable(part)) part.then(undefined, () => {})
    else if (isAsyncIterable(part)) stop(part[Symbol.asyncIterator]())
  }
  return new HTTPError(
    415,
    'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  )
}

/** Releases an iterator. A generator that waits runs its `finally` blocks when its wait is over. */
export function stop(iterator: AsyncIterator<unknown>): void {
  void (async () => iterator.return?.())().catch(() => {})
}
