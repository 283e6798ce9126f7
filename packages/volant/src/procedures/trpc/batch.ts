/** Answers a request with several calls by one array, or by a stream with a line for each value as it is ready. */
import type { RequestContext } from '../../types/request.ts'
import { HTTPError } from '../../errors/errors.ts'
import { sendStream } from '../../reply/stream-reply.ts'
import { CallContext } from '../call-context.ts'
import type { Served } from '../output.ts'
import { unlessError } from '../definition.ts'
import type { ProcedureKind } from '../types.ts'
import { checkMethod, isDeferred, noProcedure, notStreamed, perform } from './call.ts'
import { Lines } from './lines.ts'
import type { Settings } from './options.ts'
import {
  failed,
  type Outcome,
  prepareHead,
  replyBatch,
  replyError,
  resultText,
  writtenError,
} from './reply.ts'
import { type BatchedCall, batchInput, batchInputs, callsOf, inputKindOf, wantsLines } from './request.ts'

/** Runs the calls at the same time. One that fails does not stop the others. */
export function batch(
  ctx: RequestContext,
  path: string,
  procedures: ReadonlyMap<string, Served>,
  settings: Settings,
): unknown {
  let calls: BatchedCall[]
  let type: ProcedureKind | undefined
  try {
    calls = callsOf(path, procedures, settings)
    type = commonKind(calls)
    if (inputKindOf(ctx, settings) !== 'json') throw new HTTPError(415, 'a batch is application/json')
  } catch (error) {
    return replyError(ctx, error, null, settings)
  }
  const paths = calls.map((call) => call.path)
  const running = start(ctx, calls, settings)
  if (!wantsLines(ctx)) return replyAll(ctx, calls, running, type, settings)
  try {
    const status = prepareHead(ctx, 200, paths, type, [], settings, true)
    // The stream ends with its calls: a server that closes still waits for them.
    sendStream(
      ctx,
      new Lines(
        ctx,
        running.map(async (value, index) => bare(calls[index] as BatchedCall, await value)),
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

function commonKind(calls: readonly BatchedCall[]): ProcedureKind | undefined {
  const types = new Set(calls.flatMap(({ placed }) => placed?.procedure.kind ?? []))
  if (types.size < 2) return types.values().next().value
  throw new HTTPError(400, `Cannot mix procedure types in call: ${[...types].join(', ')}`)
}

/**
 * Starts the calls at once: what they set before they wait is in the head of a streamed reply. A rejected promise that
 * nobody reads must not end the process.
 */
function start(ctx: RequestContext, calls: readonly BatchedCall[], settings: Settings): Promise<unknown>[] {
  const inputs = inputsOf(ctx)
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

/** The inputs are read once. The function gives them, or throws what is wrong with them. */
function inputsOf(ctx: RequestContext): () => ReturnType<typeof batchInputs> {
  try {
    const inputs = batchInputs(ctx)
    return () => inputs
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Gives the value without undeclared properties: lines are written by JSON.stringify, which leaves none out. */
function bare({ placed }: BatchedCall, value: unknown): unknown {
  const output = placed?.output ?? null
  return output === null || isDeferred(value) ? value : output.stripped(value)
}

async function replyAll(
  ctx: RequestContext,
  calls: readonly BatchedCall[],
  running: readonly Promise<unknown>[],
  type: ProcedureKind | undefined,
  settings: Settings,
): Promise<void> {
  const outcomes = await Promise.all(
    running.map(async (value, index): Promise<Outcome> => {
      const { path, placed } = calls[index] as BatchedCall
      try {
        const data = await value
        if (isDeferred(data)) throw notStreamed(data)
        return { error: null, text: resultText(ctx, data, placed as Served, settings) }
      } catch (error) {
        const written = writtenError(ctx, failed(ctx, error, path), settings)
        return { error: written.error, text: `{"error":${written.text}}` }
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
