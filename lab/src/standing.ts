/** Who is ahead of whom, by rounds that were measured side by side; ties are called ties. */
import { type Row, type Table, isTie } from './analysis.ts'
import { type MetricName, metrics } from './metrics.ts'
import { type Estimate, pairedRatio } from './statistics.ts'
import { isOurs } from './ours.ts'

/** Fewer say nothing about who is ahead. */
const leastRounds = 5

/** `undecided`: too few rounds. */
export type Verdict = 'ahead' | 'tie' | 'behind' | 'undecided'

export interface Standing {
  readonly own: Row
  readonly other: Row
  /** Of the headline metric, own over other. */
  readonly ratio: Estimate
  readonly verdict: Verdict
}

/** Null when they have no round in common, or the metric is not one of which ratios tell something. */
export function standing(own: Row, other: Row, headline: MetricName, noise: number | null): Standing | null {
  const { direction } = metrics[headline]
  if (direction === 'none' || headline === 'slope') return null
  const [left, right] = [valuesByRound(own, headline), valuesByRound(other, headline)]
  const rounds = [...left.keys()].filter((round) => right.has(round))
  if (rounds.length === 0) return null
  const ratio = pairedRatio(
    rounds.map((round) => left.get(round) as number),
    rounds.map((round) => right.get(round) as number),
  )
  return { own, other, ratio, verdict: verdictOf(ratio, rounds.length, direction === 'lower', noise) }
}

/**
 * The best entry with JavaScript that is not Volant, of all or of those on one adapter; null when there is none with
 * the headline metric. It runs on the Node.js of the row `own`, or on no Node.js.
 */
export function bestOther(table: Table, own = '', adapter: string | null = null): Row | null {
  const version = nodeSuffix(own)
  const isRival = ({ entry, label }: Row): boolean =>
    entry.javascript &&
    !isOurs(entry) &&
    (adapter === null || entry.adapter === adapter) &&
    (nodeSuffix(label) === version || !entry.runtime.startsWith('Node.js'))
  return ranked(table).find(isRival) ?? null
}

/** `@20` of `fastify@20`. */
function nodeSuffix(label: string): string {
  return /@\d+/.exec(label)?.[0] ?? ''
}

/** Rows that have the headline metric, the best first. */
export function ranked({ rows, scenario }: Table): Row[] {
  const sign = metrics[scenario.headline].direction === 'higher' ? -1 : 1
  return rows
    .filter((row) => headlineOf(row, scenario.headline) !== null)
    .toSorted((a, b) => sign * (medianOf(a, scenario.headline) - medianOf(b, scenario.headline)))
}

/** They are not rivals, so they stand apart from those who are. */
export function lastWithoutJavaScript(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => Number(b.entry.javascript) - Number(a.entry.javascript))
}

/** Null for a row without the metric. */
export function headlineOf(row: Row, headline: MetricName): Estimate | null {
  const estimate = row.estimates[headline]
  return estimate && Number.isFinite(estimate.median) ? estimate : null
}

function medianOf(row: Row, headline: MetricName): number {
  return headlineOf(row, headline)?.median ?? 0
}

function valuesByRound(row: Row, headline: MetricName): Map<number, number> {
  const values = new Map<number, number>()
  for (const { status, round, metrics: found } of row.cells) {
    const value = found[headline]
    if (status === 'measured' && value !== undefined && value > 0) values.set(round, value)
  }
  return values
}

function verdictOf(ratio: Estimate, rounds: number, lower: boolean, noise: number | null): Verdict {
  if (rounds < leastRounds) return 'undecided'
  if (isTie(ratio, noise)) return 'tie'
  return ratio.median < 1 === lower ? 'ahead' : 'behind'
}

/** `32 % lower`, `5.0 times`. */
export function difference(ratio: number): string {
  if (!Number.isFinite(ratio)) return '–'
  if (ratio >= 2) return `${ratio.toFixed(1)} times`
  const percent = Math.abs(ratio - 1) * 100
  if (percent < 0.05) return 'the same'
  return `${percent.toFixed(percent < 9.95 ? 1 : 0)} % ${ratio < 1 ? 'lower' : 'higher'}`
}
