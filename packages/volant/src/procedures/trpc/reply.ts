/** Replies as tRPC's clients read them, and who is told of errors. */
import { ContentType } from '@volant/engine'
import type { Context } from '../../types/context.ts'
import { HTTPError } from '../../errors/errors.ts'
import { endReply, jsonText, sendJson } from '../../reply/reply.ts'
import type { Served } from '../output.ts'
import type { ProcedureKind } from '../types.ts'
import { type ErrorShape, foreign, shapeOf } from './error-shape.ts'
import type { Settings } from './options.ts'
import type { RequestContext } from '../../types/request.ts'
import { isAbort, isExpectedAbort } from '../../reply/abort.ts'
import { errorChannel } from '../../report/channels.ts'

/** Which call a reply is about. */
export interface Answered {
  readonly path: string
  /** Undefined where there is no such procedure. */
  readonly type: ProcedureKind | undefined
}

/** `{ "result": { "data": … } }`. */
export function replyValue(ctx: RequestContext, value: unknown, served: Served, settings: Settings): void {
  const { path, procedure } = served
  try {
    const text = resultText(ctx, value, served, settings)
    const status = settle(ctx, 200, [path], procedure.kind, [], settings)
    endReply(ctx, ContentType.json, text, status, 'json')
  } catch (error) {
    replyError(ctx, error, { path, type: procedure.kind }, settings)
  }
}

/** lab/pair trpc: the envelope is no object, so that the serializer of the output's schema writes its data. */
function resultText(ctx: RequestContext, value: unknown, { output }: Served, settings: Settings): string {
  if (settings.output !== null) {
    const data = output === null ? value : output.stripped(value)
    return jsonText(ctx, { result: { data: settings.output.serialize(data) } })
  }
  if (value === undefined) return '{"result":{}}'
  return `{"result":{"data":${output === null ? jsonText(ctx, value) : output.textOf(value)}}}`
}

/** `{ "error": … }`, with the status of the error. Never throws. */
export function replyError(
  ctx: RequestContext,
  error: unknown,
  answered: Answered | null,
  settings: Settings,
): void {
  const shape = failed(ctx, error, answered?.path)
  const paths = answered === null ? [] : [answered.path]
  let status = shape.data.httpStatus
  try {
    status = settle(ctx, status, paths, answered?.type, [shape], settings)
  } catch (second) {
    ctx.app.report(second, ctx)
  }
  try {
    sendJson(ctx, { error: written(shape, settings) }, status)
  } catch (second) {
    // Data of an error that is not as its schema says, or a transformer that does not take it.
    ctx.app.report(second, ctx)
    if (!ctx.replied) sendJson(ctx, { error: shapeOf(second, answered?.path) }, 500)
  }
}

/** What became of one call. */
export type Outcome = { readonly text: string } | { readonly error: ErrorShape }

/** The outcome of a call whose value is there. Throws `E_NOT_SERIALISABLE`. */
export function outcomeOf(ctx: RequestContext, value: unknown, served: Served, settings: Settings): Outcome {
  return { text: resultText(ctx, value, served, settings) }
}

/** All of a batch, in its order. */
export function replyBatch(
  ctx: RequestContext,
  outcomes: readonly Outcome[],
  paths: readonly string[],
  type: ProcedureKind | undefined,
  settings: Settings,
): void {
  const calls = outcomes.map((outcome) =>
    'error' in outcome ? errorText(ctx, outcome.error, settings) : { error: null, text: outcome.text },
  )
  const errors = calls.flatMap(({ error }) => error ?? [])
  const statuses = new Set(calls.map(({ error }) => error?.data.httpStatus ?? 200))
  const [only = 200] = statuses
  // RFC 4918 §13
  const status = settle(ctx, statuses.size > 1 ? 207 : only, paths, type, errors, settings)
  endReply(ctx, ContentType.json, `[${calls.map(({ text }) => text).join()}]`, status, 'json')
}

/** One that cannot be written is told as another error, and the calls beside it as they are. */
function errorText(
  ctx: RequestContext,
  error: ErrorShape,
  settings: Settings,
): { error: ErrorShape; text: string } {
  try {
    return { error, text: jsonText(ctx, { error: written(error, settings) }) }
  } catch (second) {
    ctx.app.report(second, ctx)
    const shape = shapeOf(second, error.data.path)
    return { error: shape, text: JSON.stringify({ error: shape }) }
  }
}

/** Headers that every reply has, and what `responseMeta` adds; gives the status. */
export function settle(
  ctx: RequestContext,
  status: number,
  paths: readonly string[],
  type: ProcedureKind | undefined,
  errors: readonly ErrorShape[],
  settings: Settings,
  streamed = false,
): number {
  ctx.vary('trpc-accept, accept')
  if (settings.responseMeta === null) return status
  const meta = settings.responseMeta({ ctx: ctx as unknown as Context, type, paths, errors, streamed })
  for (const [name, value] of Object.entries(meta?.headers ?? {})) ctx.header(name, value)
  return meta?.status ?? status
}

/** What the client is told of an error, once the others were told. */
export function failed(ctx: RequestContext, error: unknown, path: string | undefined): ErrorShape {
  const known = error instanceof HTTPError ? error : foreign(error)
  // What the error handler is given was told already.
  if (errorChannel.hasSubscribers && !ctx.failing) errorChannel.publish({ ctx, error })
  if (ctx.watch !== null) ctx.failure ??= error
  const isOver = (ctx.exchange.aborted && isAbort(error)) || isExpectedAbort(ctx, error)
  if ((known === null || known.status === 500) && !isOver) ctx.app.report(error, ctx)
  if (known?.headers !== undefined && !ctx.replied) {
    try {
      for (const [name, value] of Object.entries(known.headers)) ctx.header(name, value)
    } catch (bad) {
      ctx.app.report(bad, ctx)
    }
  }
  return shapeOf(error, path)
}

export function written(shape: ErrorShape, settings: Settings): unknown {
  return settings.output === null ? shape : settings.output.serialize(shape)
}
