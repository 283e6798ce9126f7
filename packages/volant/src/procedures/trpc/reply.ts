/** Replies in the form that tRPC's clients read, and reports errors. */
import { ContentType } from '@volant/engine'
import type { Context } from '../../types/context.ts'
import { HTTPError } from '../../errors/errors.ts'
import { jsonText, sendJson } from '../../reply/reply.ts'
import { send } from '../../reply/send.ts'
import { unlessError } from '../definition.ts'
import type { Served } from '../output.ts'
import type { ProcedureKind } from '../types.ts'
import { isDeferred, notStreamed } from './call.ts'
import { type ErrorShape, foreign, errorShapeOf } from './error-shape.ts'
import type { Settings } from './options.ts'
import { ChainPhase, ReplyPhase } from '../../types/phases.ts'
import type { RequestContext } from '../../types/request.ts'
import { isAbort, isExpectedAbort } from '../../reply/abort.ts'
import { errorChannel } from '../../report/channels.ts'

/** Replies `{ "result": { "data": … } }`. */
export function replyValue(ctx: RequestContext, value: unknown, served: Served, settings: Settings): void {
  const { path, procedure } = served
  try {
    unlessError(value)
    if (isDeferred(value)) throw notStreamed(value)
    const text = resultText(ctx, value, served, settings)
    const status = prepareHead(ctx, 200, [path], procedure.kind, [], settings)
    send(ctx, ContentType.json, text, status, 'json')
  } catch (error) {
    // The error may come from a getter of the value.
    replyError(ctx, error, served, settings)
  }
}

/**
 * Gives the result as JSON. Throws `E_NOT_SERIALISABLE`. The envelope is text and not an object, so that the serializer
 * of the output's schema writes the data (lab/pair trpc).
 */
export function resultText(
  ctx: RequestContext,
  value: unknown,
  { output }: Served,
  settings: Settings,
): string {
  if (settings.output !== null) {
    const data = output === null ? value : output.stripped(value)
    return jsonText(ctx, { result: { data: settings.output.serialize(data) } })
  }
  if (value === undefined) return '{"result":{}}'
  return `{"result":{"data":${output === null ? jsonText(ctx, value) : output.textOf(value)}}}`
}

/** Replies `{ "error": … }` with the status of the error. Never throws. */
export function replyError(
  ctx: RequestContext,
  error: unknown,
  /** The call that the reply is about; without `procedure` where its path names none. */
  call: { readonly path: string; readonly procedure?: Served['procedure'] } | null,
  settings: Settings,
): void {
  const shape = failed(ctx, error, call?.path)
  const paths = call === null ? [] : [call.path]
  let status = shape.data.httpStatus
  try {
    status = prepareHead(ctx, status, paths, call?.procedure?.kind, [shape], settings)
  } catch (second) {
    ctx.app.report(second, ctx)
  }
  try {
    sendJson(ctx, { error: transformed(shape, settings) }, status)
  } catch (second) {
    const error = unwritable(ctx, second, call?.path)
    if (ctx.phase <= ReplyPhase.reopened) sendJson(ctx, { error }, 500)
  }
}

/** Gives the result of one call in a batch, as JSON. */
export interface Outcome {
  readonly error: ErrorShape | null
  readonly text: string
}

/** Gives an error as JSON. One that cannot be written becomes another; the calls beside it keep their results. */
export function writtenError(ctx: RequestContext, error: ErrorShape, settings: Settings): Outcome {
  try {
    return { error, text: jsonText(ctx, transformed(error, settings)) }
  } catch (second) {
    const shape = unwritable(ctx, second, error.data.path)
    return { error: shape, text: JSON.stringify(shape) }
  }
}

export function replyBatch(
  ctx: RequestContext,
  outcomes: readonly Outcome[],
  paths: readonly string[],
  type: ProcedureKind | undefined,
  settings: Settings,
): void {
  const errors = outcomes.flatMap(({ error }) => error ?? [])
  const statuses = new Set(outcomes.map(({ error }) => error?.data.httpStatus ?? 200))
  const [only = 200] = statuses
  // Calls with different statuses have the status 207 (RFC 4918 §13).
  const status = prepareHead(ctx, statuses.size > 1 ? 207 : only, paths, type, errors, settings)
  send(ctx, ContentType.json, `[${outcomes.map(({ text }) => text).join()}]`, status, 'json')
}

/** Sets the headers of every reply and those of `responseMeta`; gives the status. */
export function prepareHead(
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

/** Reports an error to those who watch the app, and gives the shape that the client gets. */
export function failed(ctx: RequestContext, error: unknown, path: string | undefined): ErrorShape {
  const known = error instanceof HTTPError ? error : foreign(error)
  // An error that reached the error handler was published before.
  if (errorChannel.hasSubscribers && ctx.chain !== ChainPhase.failed) errorChannel.publish({ ctx, error })
  if (ctx.rare?.watch) ctx.rare.failure ??= error
  const isOver = (ctx.exchange.aborted && isAbort(error)) || isExpectedAbort(ctx, error)
  if ((known === null || known.status === 500) && !isOver) ctx.app.report(error, ctx)
  if (known?.headers !== undefined && ctx.phase <= ReplyPhase.sending) {
    try {
      for (const [name, value] of Object.entries(known.headers)) ctx.header(name, value)
    } catch (bad) {
      ctx.app.report(bad, ctx)
    }
  }
  return errorShapeOf(error, path)
}

function transformed(shape: ErrorShape, settings: Settings): unknown {
  return settings.output === null ? shape : settings.output.serialize(shape)
}

/** Gives the error to send in place of one that cannot be written, because of its data or the transformer. */
export function unwritable(ctx: RequestContext, error: unknown, path: string | undefined): ErrorShape {
  ctx.app.report(error, ctx)
  return errorShapeOf(error, path)
}
