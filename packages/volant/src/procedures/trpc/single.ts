/** A request with one call. */
import { HTTPError } from '../../errors/errors.ts'
import { isThenable } from '../../types/thenable.ts'
import { CallContext } from '../call-context.ts'
import type { Served } from '../output.ts'
import { unlessError } from '../definition.ts'
import { checkMethod, isDeferred, notStreamed, perform } from './call.ts'
import type { Settings } from './options.ts'
import { type Answered, replyError, replyValue } from './reply.ts'
import { type InputKind, inputKindOf, otherInput, singleInput, wantsLines } from './request.ts'
import { subscribe } from './subscription.ts'
import type { RequestContext } from '../../types/request.ts'

/** lab/pair trpc: from the exchange to the reply without a web `Request` or `Response`. */
export function single(ctx: RequestContext, placed: Served, settings: Settings): unknown {
  const { path, procedure } = placed
  const answered: Answered = { path, type: procedure.kind }
  let kind: InputKind
  try {
    kind = inputKindOf(ctx, settings)
    if (wantsLines(ctx))
      throw new HTTPError(400, 'Streaming requests must be batched (you can do a batch of 1)')
  } catch (error) {
    return replyError(ctx, error, null, settings)
  }
  if (procedure.kind === 'subscription') return subscribe(ctx, placed, settings)
  let value: unknown
  try {
    checkMethod(ctx, placed, settings)
    const run = (input: unknown) => perform(placed, new CallContext(ctx, placed, input))
    value = kind === 'json' ? run(singleInput(ctx, settings)) : otherInput(ctx, kind).then(run)
  } catch (error) {
    return replyError(ctx, error, answered, settings)
  }
  if (!isThenable(value)) return replyTo(ctx, value, placed, settings)
  return value.then(
    (result) => replyTo(ctx, result, placed, settings),
    (error: unknown) => replyError(ctx, error, answered, settings),
  )
}

function replyTo(ctx: RequestContext, value: unknown, placed: Served, settings: Settings): void {
  const { path, procedure } = placed
  try {
    unlessError(value)
    if (!isDeferred(value)) return replyValue(ctx, value, placed, settings)
    throw notStreamed(value)
  } catch (error) {
    // The error may come from a getter of the value.
    replyError(ctx, error, { path, type: procedure.kind }, settings)
  }
}
