/** Reads the calls of a tRPC request and their inputs. */
import { bag, BodyKind } from '@volant/engine'
import { HTTPError, refusal } from '../../errors/errors.ts'
import { parseJson } from '../../request/json.ts'
import { parseMediaType } from '../../request/media-type.ts'
import { queryValue } from '../../request/query.ts'
import type { Served } from '../output.ts'
import type { Settings } from './options.ts'
import type { RequestContext } from '../../types/request.ts'

export interface BatchedCall {
  readonly path: string
  /** The procedure; null where the path names none. */
  readonly placed: Served | null
}

/** True where the request is a batch: commas separate its calls, and indices name their inputs. */
export function isBatch({ exchange }: RequestContext): boolean {
  // Most requests are not, and their query need not be parsed.
  return exchange.query.includes('batch=') && queryValue(exchange.query, 'batch') === '1'
}

/** Gives the calls of a batch. Throws 400 for more than allowed, before anything is read. */
export function callsOf(
  path: string,
  procedures: ReadonlyMap<string, Served>,
  settings: Settings,
): BatchedCall[] {
  const { maxBatchSize } = settings
  // The split ends after one more path than allowed, so that a text of any length is refused early.
  const paths = path.split(',', maxBatchSize + 1)
  if (paths.length > maxBatchSize) {
    throw refusal(
      'E_BATCH_SIZE',
      `a batch has at most ${maxBatchSize} calls here: set maxItems: ${maxBatchSize} on the client's link`,
    )
  }
  return paths.map((each) => ({ path: each, placed: procedures.get(each) ?? null }))
}

export function singleInput(ctx: RequestContext, settings: Settings): unknown {
  return deserialized(rawInput(ctx), settings)
}

/** Gives the inputs of a batch by index, not deserialized yet. */
export function batchInputs(ctx: RequestContext): Readonly<Record<number, unknown>> {
  const value = rawInput(ctx)
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HTTPError(400, 'the input of a batch is an object with an input for each index')
  }
  return value as Record<number, unknown>
}

/** Gives the input of one call of a batch; undefined without one. */
export function batchInput(
  inputs: Readonly<Record<number, unknown>>,
  index: number,
  settings: Settings,
): unknown {
  return deserialized(Object.hasOwn(inputs, index) ? inputs[index] : undefined, settings)
}

/** A text that the transformer cannot read is the client's mistake: 400. */
function deserialized(value: unknown, { input }: Settings): unknown {
  if (value === undefined || input === null) return value
  try {
    return input.deserialize(value)
  } catch (cause) {
    throw new HTTPError(400, 'the input is not what the transformer writes', { cause })
  }
}

/** Reads `?input=` without parsing the whole query (lab/pair trpc). */
function rawInput(ctx: RequestContext): unknown {
  if (ctx.method === 'POST') return ctx.body
  const { query } = ctx.exchange
  const text = query === '' ? undefined : queryValue(query, 'input')
  return text === undefined || text === '' ? undefined : parsed(text, ctx.route.limits.maxJsonDepth)
}

function parsed(text: string, limit: number): unknown {
  try {
    return parseJson(text, limit)
  } catch (error) {
    if (!(error instanceof HTTPError)) throw error
    if (error.code === 'E_BODY_MALFORMED') throw new HTTPError(400, 'the input is not valid JSON')
    if (error.code === 'E_JSON_PROTO') throw refusal('E_JSON_PROTO', 'the input has the key __proto__')
    throw refusal('E_JSON_DEPTH', `the input is nested deeper than ${limit} levels`)
  }
}

export type InputKind = 'json' | 'form' | 'bytes'

/**
 * Tells how the procedure gets the input: as JSON, a form or bytes. Throws 415 for other types of POST, which a form on
 * another site could send without asking first.
 */
export function inputKindOf(ctx: RequestContext, settings: Settings): InputKind {
  if (ctx.method !== 'POST') return 'json'
  const type = ctx.exchange.header('content-type')
  if (type === 'application/json') return 'json'
  if (type === undefined) throw new HTTPError(415, 'Missing content-type header')
  const essence = parseMediaType(type)?.essence
  if (essence === 'application/json') return 'json'
  if (essence === 'multipart/form-data' && settings.acceptForms) return 'form'
  if (essence === 'application/octet-stream') return 'bytes'
  throw new HTTPError(415, `Unsupported content-type ${JSON.stringify(type)}: send application/json`)
}

/** Gives the input of a mutation that is not JSON: `FormData`, or a stream of bytes. */
export async function otherInput(ctx: RequestContext, kind: 'form' | 'bytes'): Promise<unknown> {
  if (kind === 'bytes') return ctx.exchange.bodyKind === BodyKind.none ? undefined : ctx.bodyStream
  try {
    return await ctx.request.formData()
  } catch (cause) {
    if (cause instanceof HTTPError && cause.status === 413) throw cause
    throw new HTTPError(400, 'the body is not valid multipart/form-data', { cause })
  }
}

/** True where the client asks for a streamed batch. */
export function wantsLines({ exchange }: RequestContext): boolean {
  const own = exchange.header('trpc-accept')
  if (own !== undefined) return own === 'application/jsonl'
  const accept = exchange.header('accept')
  return accept?.split(',').some((each) => each.trim() === 'application/jsonl') ?? false
}

/** Gives the id of the last event that the client of a subscription has seen; null without one. */
export function lastEventId({ exchange }: RequestContext): string | null {
  const id =
    exchange.header('last-event-id') ??
    queryValue(exchange.query, 'lastEventId') ??
    queryValue(exchange.query, 'Last-Event-Id')
  return id === undefined || id === '' ? null : id
}

/** Adds `lastEventId` to the input of a subscription, where its schema finds it however the client sent it. */
export function withLastEventId(input: unknown, id: string | null): unknown {
  if (id === null) return input
  if (input === undefined) return Object.assign(bag(), { lastEventId: id })
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  return { ...input, lastEventId: id }
}
