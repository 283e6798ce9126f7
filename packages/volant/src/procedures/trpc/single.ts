/** Answers a request with one call. */
import { HTTPError } from '../../errors/errors.ts'
import { isThenable } from '../../types/thenable.ts'
import { CallContext } from '../call-context.ts'
import type { Served } from '../output.ts'
import { checkMethod, perform } from './call.ts'
import type { Settings } from './options.ts'
import { replyError, replyValue } from './reply.ts'
import { type InputKind, inputKindOf, otherInput, singleInput, wantsLines } from './request.ts'
import { subscribe } from './subscription.ts'
import type { RequestContext } from '../../types/request.ts'

/** Goes from the exchange to the reply without a web `Request` or `Response` (lab/pair trpc). */
export function single(ctx: RequestContext, placed: Served, settings: Settings): unknown {
  let kind: InputKind
  try {
    kind = inputKindOf(ctx, settings)
    if (wantsLines(ctx))
      throw new HTTPError(400, 'Streaming requests must be batched (you can do a batch of 1)')
  } catch (error) {
    return replyError(ctx, error, null, settings)
  }
  if (placed.procedure.kind === 'subscription') return subscribe(ctx, placed, settings)
  let value: unknown
  try {
    checkMethod(ctx, placed, settings)
    const run = (input: unknown) => perform(placed, new CallContext(ctx, placed, input))
    value = kind === 'json' ? run(singleInput(ctx, settings)) : otherInput(ctx, kind).then(run)
  } catch (error) {
    return replyError(ctx, error, placed, settings)
  }
  if (!isThenable(value)) return replyValue(ctx, value, placed, settings)
  return value.then(
    (result) => replyValue(ctx, result, placed, settings),
    (error: unknown) => replyError(ctx, error, placed, settings),
  )
}
