import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Results } from '../src/analysis.ts'
import type { Cell } from '../src/cell.ts'
import type { MetricName } from '../src/metrics.ts'
import { scenarioOf } from '../src/scenario.ts'
import { documentFiles, judgeTargets, targetLines, targets } from '../src/targets.ts'
import { styleFor } from '../src/style.ts'
import { inventedRun } from './invented-run.ts'

const {
  run,
  cells: [some],
} = inventedRun()

function resultsOf(
  values: readonly [scenario: string, variant: string, metrics: Cell['metrics']][],
): Results {
  const scenarios = [...new Set(values.map(([name]) => name))].map((name) => {
    const { title, about, headline, variants } = scenarioOf(name)
    return { name, title, about, document: null, kind: 'load', variants, headline }
  })
  const cells = values.map(([scenario, variant, metrics]) => ({
    ...(some as Cell),
    scenario,
    variant,
    entry: 'fast',
    round: 0,
    metrics,
  }))
  return { run: { ...run, scenarios }, cells }
}

const all = resultsOf([
  ['veloxts-throughput', 'default', { cpu: 20, rate: 50_000, p50: 1, p95: 2, p99: 3, p999: 4 }],
  ['veloxts-latency', 'health', { cpu: 20, p50: 6, p95: 7, p99: 8, p999: 9 }],
  ['veloxts-memory', 'default', { idleRss: 60, loadedRss: 130, afterRss: 90 }],
  ['veloxts-startup', 'default', { start: 200, idleRss: 50 }],
])

test('every target is about a metric of a scenario and variant that are there', () => {
  for (const { scenario, variant } of targets)
    assert.ok(
      scenarioOf(scenario).variants.some(({ name }) => name === variant),
      `${scenario} ${variant}`,
    )
})

test('requests/s must be above, the rest below; the limit itself is missed', () => {
  const met = Object.fromEntries(judgeTargets(all).map((one) => [one.target.metric, one.met]))
  assert.deepEqual(met, { p50: false, rate: true, idleRss: true, loadedRss: false, start: true })
  const at = (metric: MetricName, value: number) =>
    judgeTargets(resultsOf([['veloxts-throughput', 'default', { cpu: 1, [metric]: value }]])).map(
      (one) => one.met,
    )
  assert.deepEqual([...at('rate', 20_000), ...at('rate', 20_001)], [false, true])
})

test('what was not measured is not judged, and has no line', () => {
  const only = resultsOf([['veloxts-startup', 'default', { start: 1_500 }]])
  assert.equal(judgeTargets(only).length, 1)
  const lines = targetLines(only, styleFor(false))
  assert.match(lines.at(-1) as string, /^missed +veloxts-startup start < 1,000 +fast +1,500$/)
  assert.deepEqual(targetLines(inventedRun(), styleFor(false)), [])
})

test("the document's file has what was measured, and nothing else", () => {
  const files = documentFiles(all)
  assert.deepEqual([...files.keys()], ['benchmark-results-2020-01-01-fast.json'])
  const content = JSON.parse([...files.values()][0] as string) as Record<string, unknown>
  assert.deepEqual(content['throughput'], {
    requestsPerSecond: 50_000,
    latency: { p50: 1, p95: 2, p99: 3, p999: 4 },
    meetsTarget: true,
  })
  assert.deepEqual(content['latency'], { p50: 6, p95: 7, p99: 8, p999: 9, meetsTarget: false })
  assert.deepEqual(content['memory'], { rss: 60, rssUnderLoad: 130, rssAfter: 90, meetsTarget: false })
  assert.deepEqual(content['startup'], { startupTimeMs: 200, meetsTarget: true })
  const [[, partial]] = [...documentFiles(resultsOf([['veloxts-startup', 'default', { start: 5 }]]))] as [
    [string, string],
  ]
  assert.deepEqual(Object.keys(JSON.parse(partial) as object), [
    'timestamp',
    'nodeVersion',
    'platform',
    'entry',
    'startup',
  ])
})
