/** Whose trace a request continues: `otel()` with the propagator of the SDK, and `traceContext()` alone. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { after, afterEach, before, test } from 'node:test'
import { context, propagation, trace } from '@opentelemetry/api'
import { AlwaysOnSampler, ParentBasedSampler, type ReadableSpan } from '@opentelemetry/sdk-trace-node'
import { stderrLines } from '@volant/test-kit'
import { traceContext, type TraceContextOptions } from 'volant/middleware'
import { otel, type OtelOptions } from 'volant/otel'
import { onEach } from '../src/sites.ts'
import { Telemetry } from '../src/telemetry.ts'
import { traceparents, tracestates } from '../src/trace-parents.ts'

const warnings: string[] = []
const valid = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0'

/** `fetch` would not send all of these headers. */
async function ask(
  url: string,
  headers: Record<string, string | string[]>,
): Promise<{ body: Record<string, unknown>; headers: Record<string, unknown>; status: number }> {
  const sent = request(url, { headers, agent: false })
  sent.end()
  const [reply] = await once(sent, 'response')
  let text = ''
  for await (const chunk of reply.setEncoding('utf8')) text += chunk
  return { body: JSON.parse(text), headers: reply.headers, status: reply.statusCode }
}

onEach('the trace of the caller', (site) => {
  let telemetry: Telemetry
  before(() => {
    telemetry = Telemetry.register(new ParentBasedSampler({ root: new AlwaysOnSampler() }))
  })
  afterEach(() => telemetry.reset())
  after(() => telemetry.end())

  function traced(options: OtelOptions) {
    const app = site.app()
    app.use(otel(options))
    app.get('/', () => {
      const carrier: Record<string, string> = {}
      propagation.inject(context.active(), carrier)
      const { traceId, traceFlags } = trace.getActiveSpan()?.spanContext() ?? {}
      return { active: { traceId, traceFlags }, carrier }
    })
    return app
  }

  function following(options: TraceContextOptions) {
    const app = site.app()
    app.with(traceContext(options)).get('/', (ctx) => ctx.state.trace)
    return app
  }

  test(`${traceparents.length} values of traceparent have the verdict of the specification`, async () => {
    const spans = traced({ trustParent: true })
    const ids = following({ trustParent: true })
    await site.serve(spans, async (spansAt) => {
      await site.serve(ids, async (idsAt) => {
        for (const { why, field, continued } of traceparents) {
          const { body } = await ask(idsAt, { traceparent: field })
          const { traceparent } = body['headers'] as { traceparent: string }
          assert.match(traceparent, /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-0[0-3]$/, why)
          assert.equal(traceparent.slice(3, 35), body['traceId'])
          if (continued === null) {
            assert.deepEqual([body['parentId'], body['sampled']], [null, false], why)
            assert.notEqual(body['traceId'], traceparents[0]?.continued?.[0], why)
          } else {
            assert.deepEqual([body['traceId'], body['parentId'], body['sampled']], continued, why)
            assert.notEqual(body['spanId'], body['parentId'])
          }
          const { active, carrier } = (await ask(spansAt, { traceparent: field })).body as {
            active: { traceId: string; traceFlags: number }
            carrier: Record<string, string>
          }
          assert.equal(carrier['traceparent']?.slice(3, 35), active.traceId)
          // The SDK's own parser differs in nothing that is in the table.
          if (continued === null) assert.notEqual(active.traceId, traceparents[0]?.continued?.[0], why)
          else
            assert.deepEqual(
              [active.traceId, active.traceFlags & 1],
              [continued[0], continued[2] ? 1 : 0],
              why,
            )
          const count = continued === null || continued[2] ? 1 : 0
          const all = await telemetry.ended(count)
          assert.deepEqual(
            all.map((span) => span.parentSpanContext?.spanId),
            count === 0 ? [] : [continued?.[1]],
            why,
          )
          telemetry.reset()
        }
      })
    })
  })

  test('tracestate is passed on as far as it is valid', async () => {
    await site.serve(following({ trustParent: true }), async (url) => {
      for (const [why, tracestate, passed] of tracestates) {
        const { body } = await ask(url, { traceparent: `${valid}1`, tracestate })
        const { tracestate: sent = '' } = body['headers'] as { tracestate?: string }
        assert.equal(sent, passed, why)
      }
      // Several fields are one list.
      const { body } = await ask(url, { traceparent: `${valid}1`, tracestate: ['a=1', 'b=2'] })
      assert.equal((body['headers'] as { tracestate: string }).tracestate, 'a=1,b=2')
      // Without a valid trace it means nothing.
      for (const headers of [{ tracestate: 'a=1' }, { traceparent: 'x', tracestate: 'a=1' }]) {
        assert.equal('tracestate' in ((await ask(url, headers)).body['headers'] as object), false)
      }
    })
  })

  test('a hostile tracestate harms no request with a span', async () => {
    await site.serve(traced({ trustParent: true }), async (url) => {
      for (const [why, tracestate] of tracestates) {
        const { status } = await ask(url, { traceparent: `${valid}1`, tracestate, baggage: tracestate })
        assert.equal(status, 200, why)
        const [span] = (await telemetry.ended(1)) as [ReadableSpan]
        assert.ok((span.spanContext().traceState?.serialize().length ?? 0) <= 512, why)
        telemetry.reset()
      }
    })
  })

  test('two fields are none', async () => {
    await site.serve(following({ trustParent: true }), async (url) => {
      const { body } = await ask(url, { traceparent: [`${valid}1`, `${valid}1`] })
      assert.equal(body['parentId'], null)
    })
  })

  test('without trustParent a new trace is linked to the caller, whatever its flag', async () => {
    const lines = await stderrLines(async () => {
      await site.serve(traced({}), async (url) => {
        for (const flag of ['1', '0']) {
          await ask(url, { traceparent: valid + flag, baggage: 'user=ada' })
          const [span] = (await telemetry.ended(1)) as [ReadableSpan]
          assert.equal(span.parentSpanContext, undefined)
          assert.notEqual(span.spanContext().traceId, valid.slice(3, 35))
          assert.deepEqual(
            span.links.map((link) => [link.context.traceId, link.context.spanId]),
            [[valid.slice(3, 35), valid.slice(36, 52)]],
          )
          telemetry.reset()
        }
      })
    })
    warnings.push(...lines.filter((line) => line.includes('otel({ trustParent: true })')))
    // It is said once in a process.
    assert.equal(warnings.length, 1)
  })

  test('trustParent decides for each request that carries a trace', async () => {
    const asked: string[] = []
    const app = traced({
      trustParent: (ctx) => {
        asked.push(ctx.path)
        return ctx.headers['x-inside'] === 'yes'
      },
    })
    await site.serve(app, async (url) => {
      await ask(url, {})
      await ask(url, { traceparent: `${valid}1` })
      await ask(url, { traceparent: `${valid}1`, 'x-inside': 'yes', baggage: 'user=ada' })
      const parents = (await telemetry.ended(3)).map((span) => span.parentSpanContext?.spanId)
      assert.deepEqual(parents, [undefined, undefined, valid.slice(36, 52)])
      assert.deepEqual(asked, ['/', '/'])
    })
  })

  test('baggage of a caller that is trusted goes on, without a trace too', async () => {
    for (const trustParent of [true, false]) {
      await site.serve(traced({ trustParent }), async (url) => {
        const { carrier } = (await ask(url, { baggage: 'user=ada' })).body as {
          carrier: { baggage?: string }
        }
        assert.equal(carrier.baggage, trustParent ? 'user=ada' : undefined)
      })
    }
  })

  test('traceContext: replies tell the ids, a span decides them, and logs have them', async () => {
    const lines: string[] = []
    const app = site.app({ log: { destination: { write: (line: string) => void lines.push(line) } } })
    app.use(otel())
    app.with(traceContext({ header: 'traceresponse' })).get('/', (ctx) => {
      ctx.log.info('here')
      return ctx.state.trace
    })
    await site.serve(app, async (url) => {
      const { body, headers } = await ask(url, {})
      const span = await telemetry.only()
      const { traceId, spanId } = span.spanContext()
      assert.deepEqual([body['traceId'], body['spanId'], body['sampled']], [traceId, spanId, true])
      assert.equal(headers['traceresponse'], `00-${traceId}-${spanId}-01`)
      const line = lines.map((each) => JSON.parse(each)).find(({ msg }) => msg === 'here')
      assert.deepEqual([line.trace_id, line.span_id, line.trace_flags], [traceId, spanId, '01'])
    })
  })
})
