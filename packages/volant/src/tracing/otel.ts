/** `otel()` gives each request a span and measures it, through the API of OpenTelemetry alone. */
import {
  context,
  createContextKey,
  propagation,
  type Context as OtelContext,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { enclosing, hintMisuse } from '../dispatch/declare.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { type IgnoredRequests, ignoring } from '../options/ignored-requests.ts'
import { checkFieldName } from '../middleware/header-option.ts'
import type { Context } from '../types/context.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { Enclosure, RequestContext } from '../types/request.ts'
import { RequestTrace, type SpanPlan, startTrace } from './spans.ts'
import { trustOf, warnOfTraces } from './trust-parent.ts'

/** The options of `otel`. */
export interface OtelOptions {
  /**
   * The requests without a span and a metric: paths, or a function that decides. What they call has no spans either.
   * Default none.
   */
  ignore?: IgnoredRequests | undefined
  /** The headers that spans have as attributes, those of requests and those that handlers and middleware set. Default none. */
  captureHeaders?:
    | { request?: readonly string[] | undefined; response?: readonly string[] | undefined }
    | undefined
  /**
   * True continues the trace that a request's `traceparent` names, and follows its decision: without its sampled flag
   * the request has no span. It is for callers you know, since anybody else could have each request recorded, or none.
   * With false, the default, a request begins a new trace, which is linked to the caller's. A function decides for each
   * request that carries a trace.
   */
  trustParent?: boolean | ((ctx: Context) => boolean) | undefined
  /**
   * The names of query parameters whose values are replaced by `REDACTED`, beside those that usually carry secrets, such
   * as `token`, `key`, `password`, `code` and `sig`. Default none.
   */
  redactQuery?: readonly string[] | undefined
}

/**
 * Gives each request of its scope a span, and measures it:
 *
 *     app.use(otel())
 *
 * The span is active in all that runs for the request, so that spans of databases and calls are its children. It is
 * named by method and route, and ends with the reply. `http.server.request.duration` and `http.server.active_requests`
 * are the metrics. Both go to the SDK that the process has registered, by `node --import ./telemetry.mjs` as a rule, and
 * cost little where there is none. Where `@opentelemetry/instrumentation-http` has made a span for a request on the
 * adapter `node-http`, that one gets the route. Throws `E_BAD_OPTION`.
 */
export function otel(options: OtelOptions = {}): FittingMiddleware {
  checkNames('otel', options, ['ignore', 'captureHeaders', 'trustParent', 'redactQuery'], foreignNames.otel)
  const ignores = options.ignore === undefined ? null : ignoring('otel: ignore', options.ignore)
  const plan: SpanPlan = {
    trusts: trustOf('otel', options.trustParent),
    warn: options.trustParent === undefined ? () => warnOfTraces('otel') : null,
    secrets: new Set([
      ...usualSecrets,
      ...checkEach('otel: redactQuery', options.redactQuery ?? [], 'an array of names', checkName),
    ]),
    ...headersOf(options.captureHeaders ?? {}),
  }
  return enclosing(enclosureOf(plan, ignores))
}

hintMisuse(otel, 'app.use(otel())')

/** What runs in it makes no spans: the SDK's own key says so. */
const suppressed = ROOT_CONTEXT.setValue(
  createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'),
  true,
)

function enclosureOf(plan: SpanPlan, ignores: ((ctx: RequestContext) => boolean) | null): Enclosure {
  let provider: unknown = null
  let tracer: Tracer
  let carriers: readonly string[] = []
  let failed = false

  /** Takes the SDK that is registered now: it may come after this middleware was made, and from another copy of the API. */
  function refresh(): void {
    const given = currentProvider()
    if (given !== provider) {
      provider = given
      tracer = given.getTracer('volant')
      carriers = []
    }
    if (carriers.length === 0) carriers = propagation.fields().filter((name) => isCarrier(name, plan))
  }

  /** Gives the context for a request; null where tracing fails, which is told once: requests do not fail with it. */
  function contextFor(ctx: RequestContext): OtelContext | null {
    try {
      if (ignores !== null && ignores(ctx)) return suppressed
      refresh()
      const started = startTrace(ctx, plan, tracer, carriers)
      ctx.more.trace = started
      return started.context
    } catch (error) {
      if (!failed) ctx.app.report(error, ctx)
      failed = true
      return null
    }
  }

  return (ctx, run) => {
    // An app that is mounted may have the middleware, too.
    if (ctx.rare?.trace instanceof RequestTrace) return run(ctx)
    const within = contextFor(ctx)
    if (within === null) run(ctx)
    else context.with(within, run, undefined, ctx)
  }
}

/** The state of a trace means nothing without the trace, and baggage is taken from nobody who is not trusted. */
function isCarrier(name: string, { trusts }: SpanPlan): boolean {
  return name !== 'tracestate' && (name !== 'baggage' || trusts !== null)
}

/** Gives the provider behind the API's own, which is the same before and after an SDK was registered. */
function currentProvider(): TracerProvider {
  const provider = trace.getTracerProvider()
  return provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider
}

/** These parameters often carry secrets; the first four are those of the semantic conventions. */
const usualSecrets = (
  'awsaccesskeyid signature sig x-goog-signature x-amz-signature x-amz-credential x-amz-security-token ' +
  'access_token id_token refresh_token token api_key apikey api-key key password secret client_secret code'
).split(' ')

const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie'])

function headersOf(given: unknown): Pick<SpanPlan, 'requestHeaders' | 'responseHeaders'> {
  checkNames('otel: captureHeaders', given, ['request', 'response'])
  const { request = [], response = [] } = given as NonNullable<OtelOptions['captureHeaders']>
  const wanted = 'an array of header names'
  return {
    requestHeaders: checkEach('otel: captureHeaders.request', request, wanted, checkHeader).map((name) => [
      name,
      `http.request.header.${name}`,
    ]),
    responseHeaders: new Map(
      checkEach('otel: captureHeaders.response', response, wanted, checkHeader).map((name) => [
        name,
        `http.response.header.${name}`,
      ]),
    ),
  }
}

function checkHeader(option: string, value: unknown): string {
  const name = checkFieldName(option, value)
  if (secretHeaders.has(name)) throw bad(option, value, 'no headers whose values are secrets')
  return name
}

function checkName(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value.toLowerCase()
  throw bad(option, value, 'names of query parameters')
}
