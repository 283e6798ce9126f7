/** Behind each chart: every cell it was drawn from, and the commands that were run. */
import type { Table } from '../analysis.ts'
import type { Cell } from '../cell.ts'
import { type MetricName, metrics } from '../metrics.ts'
import { type Markup, html } from './html.ts'
import { fixed } from './number.ts'
import { scrollTable } from './scroll-table.ts'
import { titleOf } from './title.ts'

interface Named {
  readonly cell: Cell
  readonly label: string
  readonly title: string
}

export function rawData({ rows, scenario, variant }: Table): Markup {
  const cells = rows.flatMap((row) =>
    row.cells.map((cell) => ({ cell, label: row.label, title: titleOf(row.entry) })),
  )
  if (cells.length === 0) return html``
  const names = (Object.keys(metrics) as MetricName[]).filter((name) =>
    cells.some(({ cell }) => cell.metrics[name] !== undefined),
  )
  const lines = cells.map(({ cell, label, title }) => {
    const values = names.map((name) => html`<td>${exact(cell.metrics[name])}</td>`)
    const state = [cell.status === 'measured' ? null : cell.status, cell.reason, ...cell.flags].filter(
      Boolean,
    )
    return html`<tr data-entry="${label}">
      <th scope="row">${title}</th>
      <td>${cell.round + 1}</td>
      ${values}
      <td class="why">${state.join(', ')}</td>
      <td>${clock(cell.at)}</td>
    </tr>`
  })
  const label = `${scenario.title}, ${variant}: raw data`
  return html`<details class="raw">
    <summary>Raw data: ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} and their commands</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table>
        <thead>
          <tr>
            <th scope="col">entry</th>
            <th scope="col">round</th>
            ${names.map((name) => html`<th scope="col">${metrics[name].title}${metrics[name].unit && html` <small>${metrics[name].unit}</small>`}</th>`)}
            <th scope="col">status</th>
            <th scope="col">at (UTC)</th>
          </tr>
        </thead>
        <tbody>
          ${lines}
        </tbody>
      </table>
    </div>
    ${curveData(cells)}${commandList(cells)}
  </details>`
}

function curveData(cells: readonly Named[]): Markup | null {
  const points = cells.flatMap(({ cell, label, title }) =>
    (cell.series?.curve ?? []).map((point) => ({ point, label, title, round: cell.round })),
  )
  if (points.length === 0) return null
  const lines = points.map(
    ({ point, label, title, round }) =>
      html`<tr data-entry="${label}">
        <th scope="row">${title}</th>
        <td>${round + 1}</td>
        ${[point.share, point.offered, point.answered, point.p50, point.p99, point.p999].map((value) => html`<td>${exact(value)}</td>`)}
      </tr>`,
  )
  const titles = ['entry', 'round', 'share', 'offered/s', 'answered/s', 'p50 ms', 'p99 ms', 'p99.9 ms']
  return scrollTable('points of the curve', titles, lines)
}

/** Each command once, with those who ran it; commands that differ in a port or a seed alone are one. */
function commandList(cells: readonly Named[]): Markup | null {
  const commands = new Map<string, { command: string; titles: Set<string> }>()
  for (const { cell, title } of cells) {
    for (const command of cell.commands) {
      const key = command.replace(/(:|PORT[= ]|--port[= ])\d{4,5}\b|("seed":)\d+/g, '$1$2N')
      const known = commands.get(key) ?? { command, titles: new Set() }
      known.titles.add(title)
      commands.set(key, known)
    }
  }
  if (commands.size === 0) return null
  const lines = [...commands.values()].map(({ command, titles }) => `# ${[...titles].join('; ')}\n${command}`)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="commands">
    <pre>${lines.join('\n')}</pre>
  </div>`
}

/** As measured, to six digits. */
function exact(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–'
  return Number.isInteger(value) ? fixed(value, 0) : String(Number(value.toPrecision(6)))
}

function clock(at: string): string {
  return /T(\d\d:\d\d:\d\d)/.exec(at)?.[1] ?? at
}
