/** One table for a closed loop at several counts of connections: what a request costs each entry at each of them. */
import type { Results, Row, Table } from './analysis.ts'
import { tables } from './analysis.ts'
import { type MetricName, figure, heading, metrics } from './metrics.ts'

/** The tables of one scenario and variant, by connections. */
export interface Points {
  readonly title: string
  readonly scenario: string
  readonly of: string
  readonly tables: readonly Table[]
}

export interface PointsLine {
  readonly row: Row
  /** One for each table: cost with its interval, and ratio to the base with its interval. */
  readonly cells: readonly { readonly value: string; readonly ratio: string }[]
}

/** Those that were measured at two points or more. */
export function pointsOf(results: Results): Points[] {
  const groups = new Map<string, Points & { tables: Table[] }>()
  for (const table of tables(results)) {
    if (table.point === undefined || table.rows.length === 0) continue
    const { scenario, point } = table
    const key = `${scenario.name} ${point.of}`
    const title = `${scenario.title}${point.of === 'default' ? '' : `, ${point.of}`}`
    const group = groups.get(key) ?? { title, scenario: scenario.name, of: point.of, tables: [] }
    group.tables.push(table)
    groups.set(key, group)
  }
  return [...groups.values()]
    .filter((group) => group.tables.length > 1)
    .map((group) => ({
      ...group,
      tables: group.tables.toSorted((a, b) => connectionsOf(a) - connectionsOf(b)),
    }))
}

export function connectionsOf({ point }: Table): number {
  return point?.connections ?? 0
}

/** By what they cost at the most connections, the entries first that have figures at every point. */
export function pointsLines({ tables: all }: Points): PointsLine[] {
  const last = all.at(-1) as Table
  const labels = [...new Set([...last.rows, ...all.flatMap(({ rows }) => rows)].map(({ label }) => label))]
  const lines = labels.map((label) => {
    const rows = all.map((table) => table.rows.find((row) => row.label === label))
    const cells = rows.map((row) => cellOf(row, last.scenario.headline))
    return { row: rows.findLast((row) => row !== undefined) as Row, cells, missing: rows.includes(undefined) }
  })
  return lines.toSorted((a, b) => Number(a.missing) - Number(b.missing))
}

export function pointsHeading({ tables: [first] }: Points): string {
  return heading((first as Table).scenario.headline)
}

function cellOf(row: Row | undefined, headline: MetricName): { value: string; ratio: string } {
  const found = row?.estimates[headline]
  if (row === undefined || found === undefined) return { value: '–', ratio: '' }
  const { digits } = metrics[headline]
  const span = (low: number, high: number, places: number): string =>
    `${low.toFixed(places)}–${high.toFixed(places)}`
  const interval = row.rounds > 1 ? ` (${span(found.low, found.high, digits)})` : ''
  const value = `${figure(headline, found.median)}${interval}`
  if (row.label === row.base) return { value, ratio: '1' }
  if (row.ratio === null) return { value, ratio: '' }
  const { median, low, high } = row.ratio
  const beside = row.rounds > 1 ? ` (${span(low, high, 2)})` : ''
  return { value, ratio: `${row.tie ? '= ' : ''}${median.toFixed(2)}${beside}` }
}
