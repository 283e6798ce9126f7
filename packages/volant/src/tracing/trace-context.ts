/** `traceContext()` makes each request a part of a trace, by W3C Trace Context and without OpenTelemetry. */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { checkChoice, checkNames } from '../options/checks.ts'
import { bad } from '../options/bad-option.ts'
import { foreignNames } from '../options/foreign-names.ts'
import type { Context } from '../types/context.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext, TraceIds } from '../types/request.ts'
import { randomFlag, randomId, readTraceparent, sampledFlag, writeTraceparent } from './traceparent.ts'
import { readTracestate } from './tracestate.ts'
import { trustOf, warnOfTraces } from './trust-parent.ts'

/** The options of `traceContext`. */
export interface TraceContextOptions {
  /**
   * True continues the trace that a request's `traceparent` names. It is for callers you know, since anybody else could
   * have their requests taken for a part of others' traces. With false, the default, each request begins a new trace. A
   * function decides for each request that carries a trace.
   */
  trustParent?: boolean | ((ctx: Context) => boolean) | undefined
  /** True asks those who are called to record a trace that begins here. A function decides for each one. Default false. */
  sampled?: boolean | ((ctx: Context) => boolean) | undefined
  /** The field of replies that tells the caller the ids; `false` sends none. Default false. */
  header?: 'traceresponse' | 'traceparent' | false | undefined
}

/** The trace that a request is a part of. */
export interface TraceContext {
  /** The id of the trace, 32 hexadecimal digits. */
  readonly traceId: string
  /** The id of this request, 16 hexadecimal digits. */
  readonly spanId: string
  /** The id that the caller has for the request; null where the trace begins here. */
  readonly parentId: string | null
  /** True where the trace is recorded. */
  readonly sampled: boolean
  /** The headers that pass the trace on: `fetch(url, { headers: ctx.state.trace.headers })`. */
  readonly headers: Readonly<{ traceparent: string; tracestate?: string }>
}

/**
 * Makes each request a part of a trace, by `traceparent` and `tracestate`:
 *
 *     const app = createApp().with(traceContext({ trustParent: true }))
 *     app.get('/', (ctx) => fetch(stock, { headers: ctx.state.trace.headers }))
 *
 * `ctx.state.trace` has the ids, and the log lines of the request have them too. A field that is absent or not valid
 * begins a new trace. Where `otel()` gives the request a span the ids are those of the span. Throws `E_BAD_OPTION`.
 */
export function traceContext(
  options: TraceContextOptions = {},
): FittingMiddleware<{ state: { trace: TraceContext } }> {
  checkNames('traceContext', options, ['trustParent', 'sampled', 'header'], foreignNames.traceContext)
  const trusts = trustOf('traceContext', options.trustParent)
  const warns = options.trustParent === undefined
  const samples = samplerOf(options.sampled)
  const header = checkChoice('traceContext: header', options.header ?? false, [
    'traceresponse',
    'traceparent',
    false,
  ])
  const layer = gateOf(
    (ctx) => {
      const trace = traceOf(ctx, trusts, warns, samples)
      const { traceId, spanId, sampled } = trace
      ctx.state['trace'] = trace
      ctx.more.trace ??= { ids: { traceId, spanId, traceFlags: sampled ? sampledFlag : 0 } }
      if (header !== false) ctx.place(header, header, trace.headers.traceparent)
    },
    header === false ? {} : { exposes: [header] },
  )
  return layer as FittingMiddleware<{ state: { trace: TraceContext } }>
}

hintMisuse(traceContext, 'app.with(traceContext())')

type Decision = (ctx: RequestContext) => boolean

function traceOf(
  ctx: RequestContext,
  trusts: Decision | null,
  warns: boolean,
  samples: Decision,
): TraceContext {
  const { exchange } = ctx
  const field = exchange.header('traceparent')
  const sent = field === undefined ? null : readTraceparent(field)
  if (sent !== null && warns) warnOfTraces('traceContext')
  const caller = sent !== null && trusts !== null && trusts(ctx) ? sent : null
  const span = ctx.rare?.trace?.ids
  const state = caller === null ? '' : readTracestate(exchange.header('tracestate'))
  if (span != null) return contextOf(span, caller?.traceId === span.traceId ? caller.spanId : null, state)
  if (caller !== null) return contextOf({ ...caller, spanId: randomId(8) }, caller.spanId, state)
  const traceFlags = randomFlag | (samples(ctx) ? sampledFlag : 0)
  return contextOf({ traceId: randomId(16), spanId: randomId(8), traceFlags }, null, '')
}

function contextOf(ids: TraceIds, parentId: string | null, state: string): TraceContext {
  const traceparent = writeTraceparent(ids)
  return {
    traceId: ids.traceId,
    spanId: ids.spanId,
    parentId,
    sampled: (ids.traceFlags & sampledFlag) !== 0,
    headers: state === '' ? { traceparent } : { traceparent, tracestate: state },
  }
}

function samplerOf(given: TraceContextOptions['sampled']): Decision {
  if (typeof given === 'function') return (ctx) => given(ctx as unknown as Context) === true
  if (given === undefined || typeof given === 'boolean') return () => given === true
  throw bad('traceContext: sampled', given, 'true, false or a function')
}
