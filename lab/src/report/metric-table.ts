/** The table of a variant: every entry, those that could not be measured at its end with their reason. */
import type { Row, Table } from '../analysis.ts'
import type { Flag } from '../cell.ts'
import { type MetricName, isRate, metrics } from '../metrics.ts'
import { type Markup, html } from './html.ts'
import { figure, fixed, span } from './number.ts'
import { isOurs } from '../ours.ts'
import { lastWithoutJavaScript, ranked } from '../standing.ts'
import { titleIn, titleOf } from './title.ts'

/** For guards rather than readers: in the raw data alone. */
const unlisted: readonly MetricName[] = ['mean', 'worst', 'waited', 'little', 'requests']

/** The metrics that have a bearing on the reading of a whole row. */
const flagTitles: Record<Flag, string> = {
  'generator-bound': 'its core was under 95 % busy, so requests/s is a lower bound; CPU per request stands',
  disturbed: 'other work took its core for 5 % of the time or more',
  coarse: 'CPU time was read in steps of 10 ms',
}

export function metricTable(table: Table): Markup {
  const columns = columnsOf(table)
  const measured = lastWithoutJavaScript(ranked(table))
  const others = table.rows.filter((row) => !measured.includes(row))
  const withoutHeadline = others.filter(({ problem }) => problem === null)
  const problems = others.filter(({ problem }) => problem !== null)
  const { scenario, base } = table
  const ratios = scenario.headline !== 'slope' && measured.some(({ ratio }) => ratio !== null)
  const head = columns.map((name) => {
    const { title, unit, direction } = metrics[name]
    const better = direction === 'none' ? '' : `${direction} is better`
    return html`<th scope="col" data-better="${direction}" title="${better}">
      ${title}${unit && html` <small>${unit}</small>`}
    </th>`
  })
  const ratioHead = ratios && html`<th scope="col" data-better="lower">÷ ${titleIn(table, base)}</th>`
  const lines = [...measured, ...withoutHeadline].map((row) => rowLine(row, columns, ratios))
  const width = columns.length + (ratios ? 1 : 0)
  const broken = problems.map(
    (row) =>
      html`<tr class="problem${isAbsent(row) && ' absent'}" data-entry="${row.label}">
        <th scope="row">${titleOf(row.entry)}</th>
        <td class="why" colspan="${width}">${row.problem}${discarded(row)}</td>
      </tr>`,
  )
  const label = `${scenario.title}, ${table.variant}, ${table.lane}`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table class="sortable">
        <thead>
          <tr>
            <th scope="col">entry</th>
            ${head[0]}${ratioHead}${head.slice(1)}
          </tr>
        </thead>
        <tbody>
          ${lines}${broken}
        </tbody>
      </table>
    </div>
    ${notes(table)}`
}

/** The headline first, then those that any row has, in their declared order. */
function columnsOf({ rows, scenario: { headline } }: Table): MetricName[] {
  const known = (Object.keys(metrics) as MetricName[]).filter(
    (name) => !unlisted.includes(name) && rows.some((row) => row.estimates[name]),
  )
  return [headline, ...known.filter((name) => name !== headline)]
}

function rowLine(row: Row, columns: readonly MetricName[], ratios: boolean): Markup {
  const { label, entry, flags, ratio, rounds, base } = row
  const values = columns.map((name, index) => valueCell(row, name, index === 0))
  const kind = entry.javascript ? (isOurs(entry) ? 'ours' : 'other') : 'limit'
  const tie = row.tie && rounds > 1 && label !== base
  const ratioCell =
    ratios &&
    (ratio
      ? html`<td data-value="${ratio.median}">
          ${fixed(ratio.median, 2)}${tie && html` <em class="tie">tie</em>`}${rounds > 1 && html`<small>${span(ratio, 2)}</small>`}
        </td>`
      : html`<td${label === base && html` data-value="1"`}>${label === base ? '1' : '–'}</td>`)
  const marks = [
    ...(entry.javascript ? [] : ['no JavaScript']),
    ...flags,
    ...(row.problem === null ? [] : [row.problem]),
    ...(row.discarded > 0 ? [`${row.discarded} discarded`] : []),
  ]
  return html`<tr class="${kind}" data-entry="${label}">
    <th
      scope="row"
      title="${[entry.package ?? entry.name, entry.version, entry.runtime].filter(Boolean).join(', ')}"
    >
      ${titleOf(entry)}${marks.map((mark) => html`<small>${mark}</small>`)}
    </th>
    ${values[0]}${ratioCell}${values.slice(1)}
  </tr>`
}

function valueCell({ estimates, flags, rounds }: Row, name: MetricName, withInterval: boolean): Markup {
  const estimate = estimates[name]
  if (!estimate || !Number.isFinite(estimate.median)) return html`<td>–</td>`
  const bound = isRate(name) && flags.includes('generator-bound') ? '≥ ' : ''
  const bad = (name === 'errors' || name === 'non2xx') && estimate.median > 0
  const interval = withInterval && rounds > 1 && html`<small>${span(estimate, metrics[name].digits)}</small>`
  return html`<td${bad && html` class="bad"`} data-value="${estimate.median}">${bound}${figure(name, estimate.median)}${interval}</td>`
}

/** It was to be measured elsewhere alone; an entry that could not be run at all is told about as a problem. */
function isAbsent({ cells, entry }: Row): boolean {
  return cells.length === 0 && entry.error === undefined
}

function discarded(row: Row): string {
  return row.discarded > 0 ? ` (${row.discarded} discarded)` : ''
}

function notes(table: Table): Markup {
  const { rows, noise, base, lane, scenario } = table
  const flags = [...new Set(rows.flatMap((row) => row.flags))]
  const rounds = rows.map((row) => row.rounds).filter((count) => count > 0)
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)]
  const lines = [
    scenario.headline === 'slope'
      ? 'Slopes may be below zero, so they are not compared as ratios.'
      : noise === null || !Number.isFinite(noise)
        ? 'The noise floor was not measured here.'
        : `Noise floor: ±${fixed(noise * 100, 1)} %, found by measuring ${titleIn(table, base)} against itself; a smaller difference is a tie.`,
    rounds.length === 0
      ? null
      : most < 2
        ? 'One round: no intervals, and no verdicts.'
        : `Medians of ${least === most ? most : `${least} to ${most}`} rounds; in small print the 95 % interval.`,
    (lane === 'plain' || lane === 'pipelined' || lane === 'new connections') &&
    rows.some(({ estimates }) => estimates.p99)
      ? 'Latency in a closed loop leaves out what was not sent during a stall; only open loops tell it whole.'
      : null,
    lane === 'pipelined' ? 'Pipelined: never to be compared with plain rows.' : null,
    ...flags.map((flag) => `${flag}: ${flagTitles[flag]}.`),
  ]
  return html`<p class="note">${lines.filter(Boolean).join(' ')}</p>`
}
