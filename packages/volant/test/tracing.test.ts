/** The options of `otel()` and `traceContext()`. What they do with an SDK, and over sockets, is in `conformance/otel`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cors, type VolantError } from 'volant'
import { traceContext, type TraceContextOptions } from 'volant/middleware'
import { otel, type OtelOptions } from 'volant/otel'
import { Kit } from './kit.ts'

const kit = new Kit()

describe('options', () => {
  for (const [options, message] of [
    [5, /otel takes an object of options/],
    [{ ignore: '/health' }, /otel: ignore takes paths such as .* or a function .*, not "\/health"/],
    [{ ignore: ['health'] }, /otel: ignore takes paths such as .*, not "health"/],
    [{ trustParent: 'yes' }, /otel: trustParent takes true, false or a function/],
    [{ captureHeaders: ['x'] }, /otel: captureHeaders takes an object of options/],
    [{ captureHeaders: { requests: ['x'] } }, /captureHeaders has no option "requests".*"request"/],
    [{ captureHeaders: { request: 'x' } }, /captureHeaders\.request takes an array of header names/],
    [{ captureHeaders: { request: ['a b'] } }, /captureHeaders\.request takes/],
    [{ captureHeaders: { request: ['Authorization'] } }, /no headers whose values are secrets/],
    [{ captureHeaders: { response: ['set-cookie'] } }, /no headers whose values are secrets/],
    [{ redactQuery: 'token' }, /otel: redactQuery takes an array of names/],
    [{ redactQuery: [''] }, /otel: redactQuery takes names of query parameters/],
    [{ ignorePaths: ['/x'] }, /otel has no option "ignorePaths"; did you mean "ignore"/],
    [{ serviceName: 'shop' }, /OTEL_SERVICE_NAME/],
    [{ sampler: {} }, /OTEL_TRACES_SAMPLER/],
  ] as const) {
    test(`otel(${JSON.stringify(options)})`, () => {
      assert.throws(
        () => otel(options as OtelOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && message.test(error.message),
      )
    })
  }

  for (const [options, message] of [
    [null, /traceContext takes an object of options/],
    [{ trustParent: 1 }, /traceContext: trustParent takes true, false or a function/],
    [{ trust: true }, /traceContext has no option "trust"; did you mean "trustParent"/],
    [{ sampled: 1 }, /traceContext: sampled takes true, false or a function/],
    [{ header: 'x-trace' }, /traceContext: header takes traceresponse, traceparent, false/],
  ] as const) {
    test(`traceContext(${JSON.stringify(options)})`, () => {
      assert.throws(
        () => traceContext(options as unknown as TraceContextOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && message.test(error.message),
      )
    })
  }

  test('what is not called is said', () => {
    assert.throws(() => kit.app().use(otel as never), /write app\.use\(otel\(\)\)/)
    assert.throws(() => kit.app().use(traceContext as never), /write app\.with\(traceContext\(\)\)/)
  })
})

test('traceContext: the reply has the ids where that is asked for, and pages of other origins may read them', async () => {
  const app = kit.app()
  app.use(cors({ origin: ['https://page.example'] }))
  app
    .with(traceContext({ header: 'traceresponse', sampled: true }))
    .get('/', (ctx) => ({ sent: ctx.state.trace.headers.traceparent }))
  const { headers, body } = await app.inject({ url: '/', headers: { origin: 'https://page.example' } })
  assert.match(headers['traceresponse'] as string, /^00-[\da-f]{32}-[\da-f]{16}-03$/)
  assert.equal((JSON.parse(body.toString()) as { sent: string }).sent, headers['traceresponse'])
  assert.equal(headers['access-control-expose-headers'], 'traceresponse')
})

test('traceContext: a thousand requests have ids of their own', async () => {
  const app = kit.app()
  app.with(traceContext()).get('/', (ctx) => `${ctx.state.trace.traceId} ${ctx.state.trace.spanId}`)
  const seen = new Set<string>()
  for (let count = 0; count < 1_000; count++) {
    for (const id of (await app.inject('/')).body.toString().split(' ')) seen.add(id)
  }
  assert.equal(seen.size, 2_000)
})
