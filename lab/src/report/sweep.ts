/** Variants that differ in one number, drawn as lines over it: `text-10`, `text-50`, `text-100` … */
import type { Table } from '../analysis.ts'
import { type MetricName, metrics } from '../metrics.ts'
import { type Markup, html } from './html.ts'
import { type Axis, type Line, lineChart } from './lines.ts'
import { brief, fixed, quantity } from './number.ts'
import type { Palette } from './palette.ts'
import { chosenScale, linearScale } from './scale.ts'
import { headlineOf } from '../standing.ts'
import { titleOf } from './title.ts'

/** Fewer are easier to read as bars. */
const leastVariants = 3

export interface Sweep {
  /** What the variants have in common; empty when they are numbers alone. */
  readonly prefix: string
  readonly points: readonly { readonly at: number; readonly table: Table }[]
}

/** The sweeps among tables of one scenario; what belongs to none is left out. */
export function sweepsOf(tables: readonly Table[]): Sweep[] {
  const groups = new Map<string, { prefix: string; points: { at: number; table: Table }[] }>()
  for (const table of tables) {
    const found = placeOf(table)
    if (found === null) continue
    const { prefix, at } = found
    const key = `${table.lane}\n${prefix}`
    const group = groups.get(key) ?? { prefix, points: [] }
    groups.set(key, group)
    group.points.push({ at, table })
  }
  return [...groups.values()]
    .filter(({ points }) => points.length >= leastVariants)
    .map(({ prefix, points }) => ({ prefix, points: points.toSorted((a, b) => a.at - b.at) }))
}

/** Null for a variant that has no number. */
function placeOf({ point, variant }: Table): { prefix: string; at: number } | null {
  if (point !== undefined) return { prefix: point.of === 'default' ? '' : point.of, at: point.connections }
  const match = /^(.*?)[-_ ]?(\d+)$/.exec(variant)
  return match && { prefix: match[1] ?? '', at: Number(match[2]) }
}

/** A chart of each sweep: the headline metric, and requests/s beside it where that is another one. */
export function sweepCharts(sweeps: readonly Sweep[], palette: Palette): Markup {
  const charts = sweeps.flatMap((sweep) => {
    const { scenario } = (sweep.points[0] as Sweep['points'][number]).table
    const names: MetricName[] = scenario.headline === 'rate' ? ['rate'] : [scenario.headline, 'rate']
    return names.map((name) => sweepChart(sweep, name, palette))
  })
  return html`<div class="charts">${charts}</div>`
}

function sweepChart({ prefix, points }: Sweep, name: MetricName, palette: Palette): Markup | null {
  const { scenario, lane } = (points[0] as Sweep['points'][number]).table
  const { title, unit, direction } = metrics[name]
  const titles = new Map(
    points.flatMap(({ table }) => table.rows.map((row) => [row.label, titleOf(row.entry)])),
  )
  const over =
    points.some(({ table }) => table.point !== undefined) ||
    /sweep|connection/.test(`${scenario.name} ${scenario.kind}`)
      ? 'connections'
      : prefix || scenario.name
  const lines = [...titles].map(([label, entry]): Line => {
    const drawn = points.flatMap(({ at, table }) => {
      const row = table.rows.find((candidate) => candidate.label === label)
      const estimate = row && headlineOf(row, name)
      return estimate
        ? [
            {
              x: at,
              y: estimate.median,
              tip: `${quantity(name, estimate.median)} at ${fixed(at, 0)} ${over}`,
            },
          ]
        : []
    })
    return { label, title: entry, points: drawn, dots: true }
  })
  const x: Axis = { title: over, scale: chosenScale, written: (value) => fixed(value, 0) }
  const y: Axis = { title, scale: (values) => linearScale(values, 5), written: brief }
  const better = direction === 'none' ? '' : `; ${direction} is better`
  const of = [prefix, lane === 'plain' ? '' : lane].filter(Boolean).join(', ')
  return lineChart(`${of ? `${of}: ` : ''}${title}${unit ? `, ${unit}` : ''}${better}`, lines, x, y, palette)
}
