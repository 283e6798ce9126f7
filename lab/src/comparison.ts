/** Two runs, or a run and a baseline: what got better, what got worse, and what cannot be told. */
import { type Results, tables } from './analysis.ts'
import { Failure } from './failure.ts'
import { type MetricName, metricOf, metrics } from './metrics.ts'
import type { Estimate } from './statistics.ts'

/** What a run says, small enough to keep. */
export interface Baseline {
  readonly format: 1
  readonly run: string
  readonly commit: string | null
  readonly machine: string
  readonly rows: readonly BaselineRow[]
}

export interface BaselineRow {
  readonly scenario: string
  readonly variant: string
  readonly entry: string
  readonly metric: MetricName
  readonly estimate: Estimate
  /** Of its table, as a share; 0 when it was not measured. */
  readonly noise: number
}

export interface Change {
  readonly row: BaselineRow
  readonly now: Estimate
  /** 0.1: worse by a tenth, whichever direction is worse for the metric. */
  readonly worse: number
  /** Beyond which it counts: the threshold, or the larger noise floor of the two. */
  readonly allowed: number
  readonly verdict: 'better' | 'worse' | 'same'
}

/** Judged beside the headline of each scenario, where they were measured. */
const judged: readonly MetricName[] = [
  'cpu',
  'messageCpu',
  'deliveryCpu',
  'socketMemory',
  'start',
  'idleRss',
  'highest',
  'goodputShare',
]

export function baselineOf(results: Results): Baseline {
  const { run } = results
  return {
    format: 1,
    run: run.name,
    commit: run.machine.commit,
    machine: `${run.machine.cpu}, ${run.machine.kernel}, Node.js ${run.machine.node}`,
    rows: tables(results).flatMap(({ scenario, variant, rows, noise }) =>
      rows.flatMap(({ label, estimates, problem }) =>
        [...new Set([headlineOf(scenario.headline), ...judged])].flatMap((metric) => {
          const estimate = estimates[metric]
          if (estimate === undefined || problem !== null || metrics[metric].direction === 'none') return []
          return [{ scenario: scenario.name, variant, entry: label, metric, estimate, noise: noise ?? 0 }]
        }),
      ),
    ),
  }
}

/** A slope near 0 has no share of itself: the most memory stands for it. */
function headlineOf(metric: MetricName): MetricName {
  return metric === 'slope' ? 'mostRss' : metric
}

/** Throws a `Failure` for what is no baseline, or has a metric without a declared direction. */
export function parseBaseline(text: string, where: string): Baseline {
  let baseline: Baseline
  try {
    baseline = JSON.parse(text) as Baseline
  } catch {
    throw new Failure(`${where} is cut short or no JSON: write it again with npm run lab -- baseline RUN`, 2)
  }
  if (baseline?.format !== 1 || !Array.isArray(baseline.rows))
    throw new Failure(`${where} is no baseline: write one with npm run lab -- baseline RUN`, 2)
  for (const row of baseline.rows) {
    metricOf(String(row?.metric), where)
    if (!Number.isFinite(row.estimate?.median) || !Number.isFinite(row.noise))
      throw new Failure(`${where}: a row of ${row.metric} has no estimate: write it again`, 2)
  }
  return baseline
}

/** Every row that both have. A change counts beyond `threshold` (a share) or the noise floor, whichever is larger. */
export function changes(before: Baseline, after: Baseline, threshold: number): Change[] {
  const key = ({ scenario, variant, entry, metric }: BaselineRow): string =>
    [scenario, variant, entry, metric].join('\0')
  const now = new Map(after.rows.map((row) => [key(row), row]))
  return before.rows.flatMap((row) => {
    const other = now.get(key(row))
    if (other === undefined) return []
    const allowed = Math.max(threshold, row.noise, other.noise)
    const worse = worsening(row.metric, row.estimate.median, other.estimate.median)
    const verdict = worse > allowed ? 'worse' : worse < -allowed ? 'better' : 'same'
    return [{ row, now: other.estimate, worse, allowed, verdict } as const]
  })
}

/** Rows of the baseline that the other does not have: not measured, or disqualified since. */
export function missing(before: Baseline, after: Baseline): BaselineRow[] {
  return before.rows.filter(
    (row) =>
      !after.rows.some(
        (other) =>
          other.scenario === row.scenario &&
          other.variant === row.variant &&
          other.entry === row.entry &&
          other.metric === row.metric,
      ),
  )
}

/** As a share of the value before. */
function worsening(metric: MetricName, before: number, now: number): number {
  const change = (now - before) / Math.max(Math.abs(before), 1e-9)
  return metrics[metric].direction === 'higher' ? -change : change
}
