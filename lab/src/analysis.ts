/** From cells to tables: medians over rounds, ratios to a base paired by round, ties within the noise. */
import type { Cell, Flag, Lane, Run, RunEntry, RunScenario } from './cell.ts'
import { type MetricName, metrics } from './metrics.ts'
import { baseName } from './ours.ts'
import type { Point } from './scenario.ts'
import { type Estimate, pairedRatio, summarize } from './statistics.ts'

export interface Results {
  readonly run: Run
  readonly cells: readonly Cell[]
}

/** One entry in one variant of a scenario, over the rounds. */
export interface Row {
  readonly entry: RunEntry
  readonly label: string
  /** What its ratio is to: the base of the table, or the same entry on the Node.js of this row. */
  readonly base: string
  readonly estimates: Readonly<Partial<Record<MetricName, Estimate>>>
  /** Of the headline metric, over the base's of the same round. */
  readonly ratio: Estimate | null
  /** It cannot be told from the base: the ratio is within the noise, or its interval holds 1. */
  readonly tie: boolean
  /** Of most of its cells. */
  readonly flags: readonly Flag[]
  readonly rounds: number
  readonly discarded: number
  /** Why there are no figures, or not all: disqualified, failed, or not run. */
  readonly problem: string | null
  readonly cells: readonly Cell[]
}

export interface Table {
  readonly scenario: RunScenario
  readonly variant: string
  readonly lane: Lane
  /** Of a closed loop at one of several counts of connections. */
  readonly point?: Point
  /** What ratios are to: the entry that was measured twice, else the first with figures. */
  readonly base: string
  /** What one entry differed from itself: the far end of the interval of its ratio to its second measurement, less 1. */
  readonly noise: number | null
  /** By the headline metric, the best first, entries without figures last. */
  readonly rows: readonly Row[]
}

/** Entry that is the base of ratios where it is in a run. */
export const preferredBase = 'native'

export function tables({ run, cells }: Results): Table[] {
  return run.scenarios.flatMap((scenario) =>
    scenario.variants.map(({ name, lane, point }) => {
      const own = cells.filter((cell) => cell.scenario === scenario.name && cell.variant === name)
      return { ...tableOf(run, scenario, name, lane, own), ...(point && { point }) }
    }),
  )
}

function tableOf(
  run: Run,
  scenario: RunScenario,
  variant: string,
  lane: Lane,
  cells: readonly Cell[],
): Table {
  const { headline } = scenario
  const of = (label: string): Cell[] => cells.filter((cell) => cell.entry === label)
  const labels = [...new Set(cells.map((cell) => cell.entry))]
  const second = labels.find((label) => label.endsWith('#2'))
  const names = labels.filter((label) => label !== second)
  const measured = names.filter((label) => of(label).some((cell) => cell.status === 'measured'))
  const base =
    second?.slice(0, -2) ??
    measured.find((label) => label === preferredBase) ??
    measured.find((label) => baseName(label) === preferredBase) ??
    measured[0] ??
    ''
  const noise = second === undefined ? null : farthest(ratioOf(of(second), of(base), headline))
  const rows = names.map((label): Row => {
    const own = of(label)
    const good = own.filter((cell) => cell.status === 'measured')
    const against = baseFor(label, base, measured)
    const ratio = label === against ? null : ratioOf(own, of(against), headline)
    const bad = own.find((cell) => cell.status === 'disqualified' || cell.status === 'failed')
    const discarded = own.filter((cell) => cell.status === 'discarded')
    const problem =
      bad !== undefined
        ? `${bad.status}: ${bad.reason ?? 'no reason given'}`
        : good.length === 0
          ? `discarded: ${discarded[0]?.reason ?? 'no reason given'}`
          : null
    return {
      entry: entryNamed(run, label),
      label,
      base: against,
      // A server that did other work in one round has no figures in any.
      estimates: bad?.status === 'disqualified' ? {} : estimatesOf(good),
      ratio: bad?.status === 'disqualified' ? null : ratio,
      tie: ratio !== null && isTie(ratio, noise),
      flags: usualFlags(good),
      rounds: good.length,
      discarded: discarded.length,
      problem,
      cells: own,
    }
  })
  const direction = metrics[headline].direction === 'higher' ? -1 : 1
  const rank = (row: Row): number => {
    const value = row.estimates[headline]?.median
    return value === undefined ? Number.POSITIVE_INFINITY : direction * value
  }
  return {
    scenario,
    variant,
    lane,
    base,
    noise,
    rows: rows.toSorted((a, b) => rank(a) - rank(b) || a.label.localeCompare(b.label)),
  }
}

/** A row of another Node.js than the base is compared with the base on that Node.js, where it was measured. */
function baseFor(label: string, base: string, measured: readonly string[]): string {
  const onSame = baseName(base) + (/@\d+/.exec(label)?.[0] ?? '')
  return label !== base && measured.includes(onSame) ? onSame : base
}

/** A difference below the noise is none, and neither is one whose interval holds 1. */
export function isTie({ median, low, high }: Estimate, noise: number | null): boolean {
  return Math.abs(median - 1) <= (noise ?? 0) || (low <= 1 && high >= 1)
}

function entryNamed({ entries }: Run, label: string): RunEntry {
  const found = entries.find((entry) => entry.name === label)
  if (found) return found
  const about = 'not described in run.json'
  return {
    name: label,
    title: label,
    about,
    package: null,
    version: '',
    adapter: '',
    runtime: '',
    javascript: true,
  }
}

function estimatesOf(cells: readonly Cell[]): Partial<Record<MetricName, Estimate>> {
  const names = [...new Set(cells.flatMap((cell) => Object.keys(cell.metrics) as MetricName[]))]
  return Object.fromEntries(
    names.map((name) => {
      const values = cells.map((cell) => cell.metrics[name]).filter((value) => value !== undefined)
      return [name, summarize(values)]
    }),
  ) as Partial<Record<MetricName, Estimate>>
}

/** Paired by round; null when no round has both. */
function ratioOf(own: readonly Cell[], base: readonly Cell[], metric: MetricName): Estimate | null {
  const pairs = own.flatMap((cell) => {
    const other = base.find((one) => one.round === cell.round)
    if (cell.status !== 'measured' || other?.status !== 'measured') return []
    const [value, by] = [cell.metrics[metric], other.metrics[metric]]
    return value !== undefined && by !== undefined && by > 0 ? [[value, by] as const] : []
  })
  if (pairs.length === 0) return null
  return pairedRatio(
    pairs.map(([value]) => value),
    pairs.map(([, by]) => by),
  )
}

function farthest(ratio: Estimate | null): number | null {
  return ratio === null ? null : Math.max(Math.abs(ratio.low - 1), Math.abs(ratio.high - 1))
}

/** Gives the flags of more than half of the cells. */
export function usualFlags(cells: readonly Cell[]): Flag[] {
  const all = new Set(cells.flatMap((cell) => cell.flags))
  return [...all].filter(
    (flag) => cells.filter((cell) => cell.flags.includes(flag)).length * 2 > cells.length,
  )
}
