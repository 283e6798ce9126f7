/**
 * What a traced request costs, in this process and without a socket: `node lab/tracing.mjs [off | on | none]`. Needs
 * compiled packages. `off` samples no span, `on` records each one, `none` has no SDK registered.
 *
 * The SDK alone is what any instrumentation has to call: `startSpan` with the same name and attributes, `setSpan`,
 * `context.with`, `end`, in an async resource of its own. "Ours" is what `otel()` adds to the bare route beyond that.
 * Rounds are short and take turns; the lower quartile counts, since other programs may run.
 */
import { AsyncResource } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../scripts/command.mjs'

const [sampling = 'off'] = process.argv.slice(2)
const require = createRequire(join(root, 'conformance/otel/package.json'))
const { context, ROOT_CONTEXT, SpanKind, trace } = require('@opentelemetry/api')
const { AlwaysOffSampler, AlwaysOnSampler, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const source = (path) => import(join(root, 'packages/volant/dist/src', path))
const { createApp } = await source('index.js')
const { otel } = await source('tracing/index.js')
const { CompiledApp } = await source('dispatch/compiled-app.js')

const rounds = 600
const requests = 1_000
/** Promises of a request settle before the next slice, as on a server. */
const slice = 50

if (sampling !== 'none') {
  const sampler = sampling === 'on' ? new AlwaysOnSampler() : new AlwaysOffSampler()
  new NodeTracerProvider({ sampler }).register()
}

let ended = 0
class Request extends AsyncResource {
  aborted = false
  halfClosed = false
  retained = false
  method = 'GET'
  path = '/traced'
  query = ''
  bodyKind = 0
  onAbort = null
  httpVersion = '1.1'
  authority = 'localhost:3000'
  remoteAddress = '127.0.0.1'

  constructor() {
    super('REQUEST', { requireManualDestroy: true })
  }

  end() {
    ended++
  }

  header() {}
  param() {}
}

/** The compiled app, which adapters hand their requests to. */
let core
const { dispatch } = CompiledApp.prototype
CompiledApp.prototype.dispatch = function (...given) {
  core = this
  return dispatch.apply(this, given)
}
const app = createApp({ signals: false })
app.get('/bare', (ctx) => ctx.json({ message: 'Hello World' }))
app.get('/traced', otel(), (ctx) => ctx.json({ message: 'Hello World' }))
for (const path of ['/bare', '/traced']) await app.inject(path)
CompiledApp.prototype.dispatch = dispatch

const tracer = trace.getTracer('alone')
const nothing = () => ended++
const alone = () => {
  const attributes = { 'http.request.method': 'GET', 'url.path': '/traced', 'http.route': '/traced' }
  const span = tracer.startSpan('GET /traced', { kind: SpanKind.SERVER, attributes }, ROOT_CONTEXT)
  context.with(trace.setSpan(ROOT_CONTEXT, span), nothing)
  span.end()
}

const ways = {
  bare: () => core.dispatch(new Request(), 0, 0),
  traced: () => core.dispatch(new Request(), 1, 0),
  resource: () => new Request().runInAsyncScope(nothing),
  sdk: () => new Request().runInAsyncScope(alone),
}
const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(ways)) {
    const start = process.hrtime.bigint()
    for (let count = 0; count < requests; count += slice) {
      for (let at = 0; at < slice; at++) run()
      await new Promise(setImmediate)
    }
    // The first rounds compile.
    if (round > rounds / 6) times[name].push(Number(process.hrtime.bigint() - start) / requests)
  }
}
const quartile = (name) => times[name].sort((one, other) => one - other)[times[name].length >> 2]
const sdk = quartile('sdk') - quartile('resource')
const traced = quartile('traced') - quartile('bare')
console.log(
  `Node.js ${process.versions.node}, ${sampling}: a bare request ${us(quartile('bare'))}, a traced one ${us(traced)} more; the SDK alone ${us(sdk)}, ours ${us(traced - sdk)} (µs)`,
)
process.exit(0)

function us(nanoseconds) {
  return (nanoseconds / 1_000).toFixed(2)
}
