/** VeloxTS's targets, as its document states them (its code tests others): in one place, printed with the result. */
import { tables, type Results } from './analysis.ts'
import type { MetricName } from './metrics.ts'
import type { Style } from './style.ts'
import { type Column, renderTable } from './table.ts'

interface Target {
  readonly scenario: string
  readonly variant: string
  readonly metric: MetricName
  /** What it must be below, or above for requests/s. */
  readonly limit: number
}

export const targets: readonly Target[] = [
  { scenario: 'veloxts-latency', variant: 'health', metric: 'p50', limit: 5 },
  { scenario: 'veloxts-throughput', variant: 'default', metric: 'rate', limit: 20_000 },
  { scenario: 'veloxts-memory', variant: 'default', metric: 'idleRss', limit: 80 },
  { scenario: 'veloxts-memory', variant: 'default', metric: 'loadedRss', limit: 120 },
  { scenario: 'veloxts-startup', variant: 'default', metric: 'start', limit: 1_000 },
]

/** Null when it was not measured. */
export interface Judged {
  readonly target: Target
  readonly entry: string
  readonly value: number
  readonly met: boolean
}

export function judgeTargets(results: Results): Judged[] {
  const all = tables(results)
  return targets.flatMap((target) => {
    const table = all.find(
      ({ scenario, variant }) => scenario.name === target.scenario && variant === target.variant,
    )
    return (table?.rows ?? []).flatMap((row) => {
      const value = row.estimates[target.metric]?.median
      if (value === undefined) return []
      const met = target.metric === 'rate' ? value > target.limit : value < target.limit
      return [{ target, entry: row.label, value, met }]
    })
  })
}

const columns: readonly Column[] = [
  { title: 'target', align: 'left' },
  { title: 'of VeloxTS', align: 'left' },
  { title: 'entry', align: 'left' },
  { title: 'measured', align: 'right' },
]

export function targetLines(results: Results, style: Style): string[] {
  const judged = judgeTargets(results)
  if (judged.length === 0) return []
  const rows = judged.map(({ target, entry, value, met }) => [
    met ? 'met' : 'missed',
    `${target.scenario} ${target.metric} ${target.metric === 'rate' ? '>' : '<'} ${target.limit.toLocaleString('en-US')}`,
    entry,
    value.toLocaleString('en-US', { maximumFractionDigits: 1 }),
  ])
  const [title, ...lines] = renderTable(columns, rows)
  return ['', style.bold(title as string), ...lines]
}

/** The JSON of the document, from what was measured; what was not is left out. One object for each entry. */
export function documentFiles({ run, cells }: Results): Map<string, string> {
  const files = new Map<string, string>()
  const judged = judgeTargets({ run, cells })
  const all = tables({ run, cells })
  const of = (entry: string, scenario: string, variant = 'default') =>
    all
      .find((table) => table.scenario.name === scenario && table.variant === variant)
      ?.rows.find((row) => row.label === entry)?.estimates
  for (const entry of new Set(judged.map((one) => one.entry))) {
    const met = (...metrics: MetricName[]): boolean =>
      judged.every((one) => one.entry !== entry || !metrics.includes(one.target.metric) || one.met)
    const throughput = of(entry, 'veloxts-throughput')
    const latency = of(entry, 'veloxts-latency', 'health')
    const memory = of(entry, 'veloxts-memory')
    const startup = of(entry, 'veloxts-startup')
    const times = (estimates: typeof throughput) => ({
      p50: estimates?.p50?.median,
      p95: estimates?.p95?.median,
      p99: estimates?.p99?.median,
      p999: estimates?.p999?.median,
    })
    const content = {
      timestamp: run.startedAt,
      nodeVersion: run.machine.node,
      platform: run.machine.kernel.split(' ', 1)[0],
      entry,
      ...(throughput?.rate && {
        throughput: {
          requestsPerSecond: throughput.rate.median,
          latency: times(throughput),
          meetsTarget: met('rate'),
        },
      }),
      ...(latency?.p50 && { latency: { ...times(latency), meetsTarget: met('p50') } }),
      ...(memory?.idleRss && {
        memory: {
          rss: memory.idleRss.median,
          rssUnderLoad: memory.loadedRss?.median,
          rssAfter: memory.afterRss?.median,
          meetsTarget: met('idleRss', 'loadedRss'),
        },
      }),
      ...(startup?.start && {
        startup: { startupTimeMs: startup.start.median, meetsTarget: met('start') },
      }),
    }
    files.set(
      `benchmark-results-${run.startedAt.slice(0, 10)}-${entry}.json`,
      `${JSON.stringify(content, null, 2)}\n`,
    )
  }
  return files
}
