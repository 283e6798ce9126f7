/** Horizontal bars with 95 % intervals, and dots for single processes where there are some. */
import type { Row, Table } from '../analysis.ts'
import { type MetricName, isRate, metrics } from '../metrics.ts'
import type { Estimate } from '../statistics.ts'
import { type Markup, html } from './html.ts'
import { brief, figure, fixed, quantity, span } from './number.ts'
import { isOurs } from '../ours.ts'
import { type Scale, linearScale } from './scale.ts'
import { titleOf } from './title.ts'
import { headlineOf, lastWithoutJavaScript, ranked } from '../standing.ts'

export interface Bar {
  /** The name that readers know it by. */
  readonly title: string
  /** The label of an entry that can be chosen. */
  readonly entry?: string
  readonly kind: 'ours' | 'other' | 'limit'
  readonly estimate: Estimate
  /** False for a single measurement: there is no interval. */
  readonly interval: boolean
  /** As written at the end of the bar. */
  readonly value: string
  readonly notes?: readonly string[]
  /** Every single measurement. */
  readonly dots?: readonly number[]
}

/** The headline metric of a table, the best first; null when no row has it. */
export function headlineBars(table: Table): Markup | null {
  const rows = ranked(table)
  if (rows.length === 0) return null
  const { headline } = table.scenario
  const { title, unit, direction } = metrics[headline]
  const better = direction === 'none' ? '' : `; ${direction} is better`
  const caption = `${title}${unit ? `, ${unit}` : ''}${better}`
  return barChart(
    caption,
    lastWithoutJavaScript(rows).map((row) => barOf(row, table)),
  )
}

export function barChart(caption: string, bars: readonly Bar[]): Markup {
  const reach = bars.flatMap(({ estimate, dots = [] }) => [
    estimate.low,
    estimate.high,
    estimate.median,
    ...dots,
  ])
  const scale = linearScale(reach.filter(Number.isFinite), 4)
  const percent = percentOf(scale)
  const ticks = scale.ticks.map((tick) => html`<i style="left:${percent(tick)}%">${brief(tick)}</i>`)
  return html`<figure class="bars">
    <figcaption>${caption}</figcaption>
    <ol>
      ${bars.map((bar) => barLine(bar, scale))}
    </ol>
    <div class="axis" aria-hidden="true">
      <span></span>
      <div class="ticks">${ticks}</div>
      <span></span>
    </div>
  </figure>`
}

function percentOf(scale: Scale): (value: number) => string {
  return (value) => (scale.at(value) * 100).toFixed(2)
}

function barLine(bar: Bar, scale: Scale): Markup {
  const percent = percentOf(scale)
  const { title, entry, kind, estimate, interval, value, notes = [], dots = [] } = bar
  const [left, right] = [percent(estimate.low), percent(estimate.high)]
  const whisker = interval && html`<u style="left:${left}%;right:${(100 - Number(right)).toFixed(2)}%"></u>`
  const points = dots.map((dot) => html`<s style="left:${percent(dot)}%"></s>`)
  const tip = [title, value, ...notes].filter(Boolean).join('; ')
  const from = percent(Math.min(0, estimate.median))
  const width = (Math.abs(scale.at(estimate.median) - scale.at(0)) * 100).toFixed(2)
  return html`<li class="${kind}" ${entry !== undefined && html` data-entry="${entry}"`}>
    <div class="who">${title}${notes.map((note) => html` <small>${note}</small>`)}</div>
    <div class="track" data-tip="${tip}">
      <b style="left:${from}%;width:${width}%"></b>${whisker}${points}
    </div>
    <div class="value">${value}</div>
  </li>`
}

function barOf(row: Row, { scenario: { headline } }: Table): Bar {
  const estimate = headlineOf(row, headline) as Estimate
  const interval = row.rounds > 1
  const { digits, unit } = metrics[headline]
  const within = interval ? ` (${span(estimate, digits)})` : ''
  const notes: string[] = []
  if (!row.entry.javascript) notes.push('no JavaScript')
  if (row.tie && interval && headline !== 'slope' && row.label !== row.base) notes.push('tie')
  if (row.problem !== null) notes.push('not in every round')
  if (row.flags.includes('disturbed')) notes.push('disturbed')
  if (isRate(headline) && row.flags.includes('generator-bound')) notes.push('at least')
  return {
    title: titleOf(row.entry),
    entry: row.label,
    kind: row.entry.javascript ? (isOurs(row.entry) ? 'ours' : 'other') : 'limit',
    estimate,
    interval,
    value: `${unit.length > 2 ? figure(headline, estimate.median) : quantity(headline, estimate.median)}${within}`,
    notes,
    dots: headline === 'start' ? measuredValues(row, headline) : [],
  }
}

function measuredValues(row: Row, name: MetricName): number[] {
  return row.cells
    .filter(({ status }) => status === 'measured')
    .map(({ metrics: found }) => found[name])
    .filter((value) => value !== undefined && Number.isFinite(value)) as number[]
}

/** Nanoseconds with as many digits as they bear. */
export function nanoseconds(value: number): string {
  return `${fixed(value, value < 100 ? 1 : 0)} ns`
}
