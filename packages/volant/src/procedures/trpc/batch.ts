/** A request with several calls, answered all at once, or line by line as they are done. */
import { HTTPError } from '../../errors/errors.ts'
import { sendStream } from '../../reply/stream-reply.ts'
import { CallContext } from '../call-context.ts'
import type { Served } from '../output.ts'
import { unlessError } from '../definition.ts'
import type { ProcedureKind } from '../types.ts'
import { checkMethod, isDeferred, noProcedure, notStreamed, perform } from './call.ts'
import { Lines } from './lines.ts'
import type { Settings } from './options.ts'
import { failed, type Outcome, outcomeOf, replyBatch, replyError, settle } from './reply.ts'
import { type Asked, batchInput, batchInputs, callsOf, inputKindOf, wantsLines } from './request.ts'
import type { RequestContext } from '../../types/request.ts'

/** The calls run at the same time. One that fails leaves the others as they are. */
export function batch(
  ctx: RequestContext,
  path: string,
  procedures: ReadonlyMap<string, Served>,
  settings: Settings,
): unknown {
  let calls: Asked[]
  let type: ProcedureKind | undefined
  try {
    calls = callsOf(path, procedures, settings)
    type = typeOf(calls)
    if (inputKindOf(ctx, settings) !== 'json') throw new HTTPError(415, 'a batch is application/json')
  } catch (error) {
    return replyError(ctx, error, null, settings)
  }
  const paths = calls.map((call) => call.path)
  const running = start(ctx, calls, settings)
  if (!wantsLines(ctx)) return replyAll(ctx, calls, running, type, settings)
  try {
    const status = settle(ctx, 200, paths, type, [], settings, true)
    // It ends with its calls, which may still be answered when the server closes.
    sendStream(
      ctx,
      new Lines(
        ctx,
        running.map(async (value, index) => bare(calls[index] as Asked, await value)),
        paths,
        settings,
      ),
      { type: 'application/json', status },
      false,
    )
  } catch (error) {
    replyError(ctx, error, null, settings)
  }
  return undefined
}

function typeOf(calls: readonly Asked[]): ProcedureKind | undefined {
  const types = new Set(calls.flatMap(({ placed }) => placed?.procedure.kind ?? []))
  if (types.size < 2) return types.values().next().value
  throw new HTTPError(400, `Cannot mix procedure types in call: ${[...types].join(', ')}`)
}

/** Each has its own outcome; nobody has to look at all of them. */
function start(ctx: RequestContext, calls: readonly Asked[], settings: Settings): Promise<unknown>[] {
  const inputs = once(() => batchInputs(ctx))
  return calls.map((call, index) => {
    const outcome = (async () => {
      const { placed } = call
      if (placed === null) throw noProcedure(call.path)
      checkMethod(ctx, placed, settings)
      if (placed.procedure.kind === 'subscription')
        throw new HTTPError(400, 'Cannot batch subscription calls')
      const input = batchInput(inputs(), index, settings)
      return unlessError(await perform(placed, new CallContext(ctx, placed, input).detach()))
    })()
    outcome.catch(() => {})
    return outcome
  })
}

/** What is not well-formed is read once, too. */
function once<T>(read: () => T): () => T {
  let done: { value: T } | { error: unknown } | null = null
  return () => {
    if (done === null) {
      try {
        done = { value: read() }
      } catch (error) {
        done = { error }
      }
    }
    if ('error' in done) throw done.error
    return done.value
  }
}

/** Lines are written by nobody's serializer. */
function bare({ placed }: Asked, value: unknown): unknown {
  const output = placed?.output ?? null
  return output === null || isDeferred(value) ? value : output.stripped(value)
}

async function replyAll(
  ctx: RequestContext,
  calls: readonly Asked[],
  running: readonly Promise<unknown>[],
  type: ProcedureKind | undefined,
  settings: Settings,
): Promise<void> {
  const outcomes = await Promise.all(
    running.map(async (value, index): Promise<Outcome> => {
      const { path, placed } = calls[index] as Asked
      try {
        const data = await value
        if (isDeferred(data)) throw notStreamed(data)
        return outcomeOf(ctx, data, placed as Served, settings)
      } catch (error) {
        return { error: failed(ctx, error, path) }
      }
    }),
  )
  const paths = calls.map(({ path }) => path)
  try {
    replyBatch(ctx, outcomes, paths, type, settings)
  } catch (error) {
    replyError(ctx, error, null, settings)
  }
}
