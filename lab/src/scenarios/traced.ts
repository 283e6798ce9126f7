import type { Scenario, Variant } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** Queues that lose nothing, since a server that drops spans does less. */
const batches = { OTEL_BSP_MAX_QUEUE_SIZE: '65536', OTEL_BSP_SCHEDULE_DELAY: '200' }

function variant(
  name: string,
  path: string,
  sampler: 'always_on' | 'always_off',
  spans: 'one' | 'usual' = 'one',
): Variant {
  return {
    name,
    lane: 'plain',
    measure: { kind: 'load', load: load(get(path, hello)) },
    environment: { OTEL_TRACES_SAMPLER: sampler, SPANS: spans, ...batches },
    spans: sampler === 'always_on' ? 'each' : 'none',
  }
}

/**
 * Ours: what a span for each request costs. The SDK's own share is the larger one, so `sdk` shows it: a handler that
 * starts and ends a span by itself.
 */
export const traced: Scenario = {
  name: 'traced',
  title: 'A traced request',
  about:
    'GET /traced, with a span for each request by the OpenTelemetry SDK, which is exported over OTLP or not sampled, with the spans that each makes unless it is told to make one alone (usual), GET /sdk, whose handler makes the span itself and is not sampled, and GET /none.',
  document: null,
  program: 'traces',
  headline: 'cpu',
  variants: [
    variant('exported', '/traced', 'always_on'),
    variant('usual', '/traced', 'always_on', 'usual'),
    variant('none', '/none', 'always_off'),
    variant('sdk', '/sdk', 'always_off'),
    variant('sampled-out', '/traced', 'always_off'),
  ],
  proofs: ['/none', '/sdk', '/traced'].map((path) => ({ path, status: 200, reply: hello })),
}
