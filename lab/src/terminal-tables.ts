/** A run as tables for the terminal. */
import { type Results, type Row, type Table, tables } from './analysis.ts'
import { ageOf, commitsSince } from './code-state.ts'
import { commitsOf } from './commits.ts'
import { type MetricName, figure, heading, metrics } from './metrics.ts'
import { baseName } from './ours.ts'
import { type Points, connectionsOf, pointsHeading, pointsLines, pointsOf } from './points-table.ts'
import type { Estimate } from './statistics.ts'
import type { Style } from './style.ts'
import { type Column, renderTable } from './table.ts'
import { generatorsOf, versionsLine } from './versions.ts'

/** Told beside the headline, where they were measured, in this order. */
const beside: readonly MetricName[] = [
  'cpu',
  'messageCpu',
  'deliveryCpu',
  'socketMemory',
  'firstEcho',
  'start',
  'offered',
  'rate',
  'messageRate',
  'deliveryRate',
  'p50',
  'p95',
  'p99',
  'p999',
  'capacity',
  'highest',
  'goodput',
  'goodputShare',
  'slope',
  'mostRss',
  'idleRss',
  'loadedRss',
  'afterRss',
  'transfer',
  'errors',
  'non2xx',
  'rss',
  'busy',
]

export function resultLines(results: Results, style: Style, only?: readonly string[]): string[] {
  const { run } = results
  const { machine, settings } = run
  const lines = [
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, commit ${commitsOf(run)}`,
    versionsLine(run),
    ...ageLines(run),
    `${settings.cores}; generator ${generatorsOf(run)}`,
    `medians of ${settings.rounds} interleaved round${settings.rounds > 1 ? 's' : ''} of ${settings.window} s, with 95 % intervals${settings.quick ? '; quick: not for publishing' : ''}`,
  ]
  for (const points of pointsOf(results)) {
    if (only !== undefined && !only.includes(points.scenario)) continue
    lines.push('', ...pointsTable(points, style))
  }
  for (const table of tables(results)) {
    if (table.rows.length === 0) continue
    if (only !== undefined && !only.includes(table.scenario.name)) continue
    lines.push('', ...tableLines(table, style))
  }
  return lines
}

/** In the terminal with the number of commits, which a document cannot have: it would change with every commit. */
function ageLines(run: Results['run']): string[] {
  if (ageOf(run) !== 'older') return []
  const commits = commitsSince(run)
  const behind = commits === null ? '' : `: ${commits} commits have changed the engine or the framework since`
  return [`older than the code of this tree${behind}`]
}

function pointsTable(points: Points, style: Style): string[] {
  const columns: Column[] = [
    { title: 'entry', align: 'left' },
    ...points.tables.flatMap((table) => {
      const count = connectionsOf(table)
      return [
        { title: count === 1 ? '1 connection' : `${count} connections`, align: 'right' },
        { title: `/ ${baseName(table.base)}`, align: 'right' },
      ] as const
    }),
  ]
  const lines = pointsLines(points).map(({ row, cells }) => [
    `${row.label}${row.entry.javascript ? '' : ' °'}`,
    ...cells.flatMap(({ value, ratio }) => [value, ratio]),
  ])
  const title = `${points.title} · ${pointsHeading(points)}, by connections`
  return [style.bold(title), ...renderTable(columns, lines)]
}

export function titleOf({ scenario, variant, lane }: Table): string {
  const name = variant === 'default' ? '' : `, ${variant}`
  const labelled = lane === 'plain' || variant === lane ? '' : ` (${lane})`
  const document = scenario.document === null ? 'ours' : scenario.document.name
  return `${scenario.title}${name}${labelled} · ${document}: ${scenario.name}`
}

export function tableLines(table: Table, style: Style): string[] {
  const { rows, scenario, base } = table
  const present = (name: MetricName): boolean => rows.some((row) => row.estimates[name] !== undefined)
  const headline = scenario.headline
  const others = beside.filter((name) => name !== headline && present(name))
  const withRatio = rows.some((row) => row.ratio !== null)
  const columns: Column[] = [
    { title: 'entry', align: 'left' },
    { title: heading(headline), align: 'right' },
    { title: '95 %', align: 'right' },
    ...(withRatio
      ? ([
          { title: `/ ${baseName(base)}`, align: 'right' },
          { title: '95 %', align: 'right' },
        ] as const)
      : []),
    ...others.map((name) => ({ title: heading(name), align: 'right' }) as const),
  ]
  const lines = rows
    .filter((row) => Object.keys(row.estimates).length > 0)
    .map((row) => {
      const own = row.estimates[headline]
      const ratio = withRatio ? ratioCells(row) : []
      return [
        `${row.label}${row.entry.javascript ? '' : ' °'}`,
        own === undefined ? '–' : figure(headline, own.median),
        own === undefined || row.rounds < 2 ? '' : span(own, metrics[headline].digits),
        ...ratio,
        ...others.map((name) => cellOf(name, row)),
      ]
    })
  return [style.bold(titleOf(table)), ...renderTable(columns, lines), ...notes(table)]
}

function ratioCells(row: Row): string[] {
  if (row.label === row.base) return ['1', '']
  if (row.ratio === null) return ['', '']
  return [`${row.tie ? '= ' : ''}${row.ratio.median.toFixed(2)}`, row.rounds < 2 ? '' : span(row.ratio, 2)]
}

function cellOf(name: MetricName, row: Row): string {
  const value = row.estimates[name]
  if (value === undefined) return '–'
  if (name !== 'busy') return figure(name, value.median)
  const mark = row.flags.includes('disturbed') ? '~' : row.flags.includes('generator-bound') ? '*' : ''
  return `${mark}${figure(name, value.median)}`
}

function notes({ rows, noise, base }: Table): string[] {
  const lines: string[] = []
  if (rows.some((row) => !row.entry.javascript && row.problem === null))
    lines.push('° runs no JavaScript: not a rival but the limit')
  if (rows.some((row) => row.flags.includes('generator-bound')))
    lines.push('* generator-bound: its core was under 95 % busy, so requests/s is a lower bound')
  if (rows.some((row) => row.flags.includes('disturbed')))
    lines.push('~ disturbed: other work took its core for 5 % of the time or more')
  if (noise !== null) {
    lines.push(`noise floor ±${(noise * 100).toFixed(1)} % (${base} against itself)`)
  }
  if (rows.some((row) => row.tie))
    lines.push(`= a tie with ${base}: within the noise, or the interval holds 1`)
  for (const row of rows) {
    if (row.problem !== null) lines.push(`! ${row.label} ${row.problem}`)
    else if (row.discarded > 0) lines.push(`! ${row.label}: ${row.discarded} of its rounds discarded`)
  }
  return lines
}

function span({ low, high }: Estimate, digits: number): string {
  const written = (value: number): string =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${written(low)}–${written(high)}`
}
