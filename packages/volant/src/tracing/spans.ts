/** The span of a request, from its start to the end of its reply. */
import {
  type Context,
  context,
  createContextKey,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api'
import type { Exchange } from '@volant/engine'
import {
  errorTypeOf,
  methodOf,
  nameOf,
  type Recorded,
  replyHeaders,
  requestAttributes,
  samplerAttributes,
} from './attributes.ts'
import { measure, measures } from './meters.ts'
import { isAbort } from '../reply/abort.ts'
import type { ResponseInfo } from '../types/declaration.ts'
import type { RequestContext, TraceIds } from '../types/request.ts'

/** Instrumentation of node:http leaves its span here for the framework that knows the route. */
const rpcKey = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA')

interface RPCMetadata {
  readonly type: unknown
  readonly span: Span
  route?: string
}

/** Such spans that a request has taken: what it calls in this process, by `inject` say, is no request of theirs. */
const taken = new WeakSet<RPCMetadata>()

/** Reads the headers of a request, for propagators. */
const fields: TextMapGetter<Exchange> = {
  get: (exchange, name) => exchange.header(name.toLowerCase()),
  keys: (exchange) => Object.keys(exchange.headers()),
}

/** What the spans of one `otel()` have in common. */
export interface SpanPlan extends Recorded {
  /** Decides whether the trace of the caller is continued; null where it never is. */
  readonly trusts: ((ctx: RequestContext) => boolean) | null
  /** Is called where a caller sent a trace, and nobody decided what becomes of it. */
  readonly warn: (() => void) | null
}

/** The trace of a request: the context that it runs in, which has its span. */
export class RequestTrace {
  readonly context: Context

  constructor(within: Context) {
    this.context = within
  }

  get ids(): TraceIds | null {
    const ids = trace.getSpanContext(this.context)
    return ids !== undefined && trace.isSpanContextValid(ids) ? ids : null
  }
}

/**
 * Starts the span of a request, which ends with its reply. A request whose span is not recorded, and that is not
 * measured, has no work left then. Throws what propagators, samplers and processors throw.
 */
export function startTrace(
  ctx: RequestContext,
  plan: SpanPlan,
  tracer: Tracer,
  carriers: readonly string[],
): RequestTrace {
  const { exchange } = ctx
  if (exchange.inheritsContext === true) {
    const outer = context.active()
    const foreign = foreignSpan(outer)
    if (foreign !== undefined) return joined(ctx, plan, outer, foreign)
  }
  const { pattern } = ctx.route
  const method = methodOf(ctx)
  let parent = ROOT_CONTEXT
  let links: Link[] | null = null
  if (carries(exchange, carriers)) {
    const extracted = propagation.extract(ROOT_CONTEXT, exchange, fields)
    const caller = trace.getSpanContext(extracted)
    if (plan.trusts !== null && plan.trusts(ctx)) parent = extracted
    else if (caller !== undefined) {
      links = [{ context: caller }]
      plan.warn?.()
    }
  }
  let within = parent
  let recorded: Span | null = null
  if (!isUnsampled(parent, exchange)) {
    const attributes = samplerAttributes(method, ctx.path, pattern)
    const options =
      links === null ? { kind: SpanKind.SERVER, attributes } : { kind: SpanKind.SERVER, attributes, links }
    const span = tracer.startSpan(nameOf(method, pattern), options, parent)
    within = trace.setSpan(parent, span)
    if (span.isRecording()) {
      recorded = span
      span.setAttributes(requestAttributes(ctx, method, plan))
    }
  }
  const record = measures() ? measure(ctx, method, within) : null
  if (recorded !== null || record !== null) {
    const span = recorded
    ctx.more.listener = (_, info) => {
      record?.(info)
      if (span === null) return
      try {
        complete(span, ctx, info, plan)
      } finally {
        span.end()
      }
    }
  }
  return new RequestTrace(within)
}

/** Gives the span that instrumentation of node:http has started for this request, and will end. */
function foreignSpan(outer: Context): RPCMetadata | undefined {
  const metadata = outer.getValue(rpcKey) as RPCMetadata | undefined
  return metadata === undefined || metadata.type !== 'http' || taken.has(metadata) ? undefined : metadata
}

/** Adds what the instrumentation does not know. It measures the request itself. */
function joined(ctx: RequestContext, plan: SpanPlan, outer: Context, metadata: RPCMetadata): RequestTrace {
  const { span } = metadata
  const { pattern } = ctx.route
  taken.add(metadata)
  if (pattern !== null) metadata.route = pattern
  if (span.isRecording()) ctx.more.listener = (_, info) => complete(span, ctx, info, plan)
  return new RequestTrace(outer)
}

/** Adds the attributes of the reply to a span that is recorded. */
function complete(span: Span, ctx: RequestContext, info: ResponseInfo, { responseHeaders }: SpanPlan): void {
  const { status, error, aborted } = info
  span.setAttribute('http.response.status_code', status)
  if (responseHeaders.size > 0) span.setAttributes(replyHeaders(ctx, responseHeaders))
  const type = errorTypeOf(info)
  if (type === undefined) return
  span.setAttribute('error.type', type)
  // A client that disconnects is no fault of the server, and neither is a status below 500.
  const isFault = status >= 500 || (aborted && error !== undefined && !isAbort(error))
  if (!isFault) return
  span.setStatus({ code: SpanStatusCode.ERROR })
  if (error instanceof Error) span.recordException(error)
}

function carries(exchange: Exchange, carriers: readonly string[]): boolean {
  for (const name of carriers) if (exchange.header(name) !== undefined) return true
  return false
}

/** True where the trace is a caller's that is trusted, and the caller has decided against recording it. */
function isUnsampled(parent: Context, exchange: Exchange): boolean {
  if (parent === ROOT_CONTEXT) return false
  const caller = trace.getSpanContext(parent)
  // Formats of others may leave the decision open, which the context does not show.
  if (caller === undefined || exchange.header('traceparent') === undefined) return false
  return (caller.traceFlags & TraceFlags.SAMPLED) === 0
}
