/** The plain statement: for each scenario who is ahead, and where Volant is not. */
import type { Row, Table } from '../analysis.ts'
import type { RunEntry } from '../cell.ts'
import { metrics } from '../metrics.ts'
import { type Content, type Markup, html } from './html.ts'
import { quantity } from './number.ts'
import { isOurs, ours } from '../ours.ts'
import {
  type Standing,
  type Verdict,
  bestOther,
  difference,
  headlineOf,
  ranked,
  standing,
} from '../standing.ts'
import { sweepsOf } from './sweep.ts'
import { titleOf } from './title.ts'

/** A table, with the link to its section. */
export interface Placed {
  readonly table: Table
  readonly id: string
  readonly scenario: string
  /** Of several tables of the scenario; empty for one alone. */
  readonly distinction: string
}

/** One line: a table, or the tables of a sweep. */
interface Line {
  readonly title: string
  readonly id: string
  readonly tables: readonly Judged[]
}

interface Judged {
  readonly table: Table
  readonly best: Row | null
  /** By label of ours: beside the best other entry, and beside the best other one on the same adapter. */
  readonly all: ReadonlyMap<string, Standing>
  readonly same: ReadonlyMap<string, Standing>
}

export function summarySection(placed: readonly Placed[]): Markup {
  const judged = placed.filter(({ table }) => ranked(table).length > 0)
  if (judged.length === 0) {
    return html`<section id="summary">
      <h2>Who is ahead</h2>
      <p>Nothing was measured in this run.</p>
    </section>`
  }
  const titles = ourTitles(judged)
  const labels = [...titles.keys()]
  const lines = linesOf(judged, labels)
  return html`<section id="summary">
    <h2>Who is ahead</h2>
    ${
      labels.length === 0
        ? html`<p>Volant was not measured in this run.</p>`
        : html`<ul class="statements">
            ${[...titles].map(([label, title]) => statement(label, title, lines))}
          </ul>`
    }
    <p class="note">
      Each adapter of Volant beside the best other entry that runs JavaScript, bare servers without a
      framework among them, and beside the best other one on the same adapter; by the metric the table is
      sorted by. A tie is a difference within the noise floor, or one whose 95 % interval holds zero.
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Who is ahead">
      <table class="summary">
        <thead>
          <tr>
            <th scope="col">scenario</th>
            <th scope="col">best other entry</th>
            ${[...titles.values()].map((title) => html`<th scope="col">${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${lines.map((line) => tableLine(line, labels))}
        </tbody>
      </table>
    </div>
  </section>`
}

/** By label, one column each; of an entry on several versions of Node.js the one without a version, where there is one. */
function ourTitles(placed: readonly Placed[]): Map<string, string> {
  const rows = placed.flatMap(({ table }) => table.rows).filter(({ entry }) => isOurs(entry))
  const labels = [...new Set(rows.map(({ label }) => label))].filter((label) => !label.includes('#'))
  const plain = ours.filter((label) => labels.includes(label))
  const shown = plain.length > 0 ? plain : labels.toSorted((a, b) => a.localeCompare(b, 'en'))
  const entryOf = (label: string): RunEntry => (rows.find((row) => row.label === label) as Row).entry
  return new Map(shown.map((label) => [label, titleOf(entryOf(label))]))
}

function linesOf(placed: readonly Placed[], labels: readonly string[]): Line[] {
  const lines: Line[] = []
  for (const scenario of new Set(placed.map(({ id }) => id))) {
    const own = placed.filter(({ id }) => id === scenario)
    const swept = new Set<Table>()
    for (const { prefix, points } of sweepsOf(own.map(({ table }) => table))) {
      const range = `${points[0]?.at} to ${points.at(-1)?.at}`
      const title = `${own[0]?.scenario}, ${prefix ? `${prefix} ` : ''}${range}`
      lines.push({ title, id: scenario, tables: points.map(({ table }) => judge(table, labels)) })
      for (const { table } of points) swept.add(table)
    }
    for (const { table, scenario: title, id, distinction } of own) {
      if (swept.has(table)) continue
      const tables = [judge(table, labels)]
      lines.push({ title: distinction ? `${title}, ${distinction}` : title, id, tables })
    }
  }
  return lines
}

function judge(table: Table, labels: readonly string[]): Judged {
  const [all, same] = [new Map<string, Standing>(), new Map<string, Standing>()]
  const best = bestOther(table, labels[0])
  for (const label of labels) {
    const own = table.rows.find((row) => row.label === label)
    if (!own) continue
    const near = bestOther(table, label, own.entry.adapter)
    const found = best && standing(own, best, table.scenario.headline, table.noise)
    const beside = near === best ? found : near && standing(own, near, table.scenario.headline, table.noise)
    if (found) all.set(label, found)
    if (beside) same.set(label, beside)
  }
  return { table, best, all, same }
}

function statement(label: string, title: string, lines: readonly Line[]): Markup {
  const judged = lines.flatMap(({ tables }) => tables)
  const all = judged.flatMap(({ all }) => all.get(label) ?? [])
  const same = judged.flatMap(({ same }) => same.get(label) ?? [])
  if (all.length === 0) return html`<li><b>${title}</b> was measured beside no other entry.</li>`
  const behind = lines.flatMap((line): Content[] => {
    const found = line.tables
      .flatMap(({ all }) => all.get(label) ?? [])
      .filter(({ verdict }) => verdict === 'behind')
    return found.length > 0 ? [html`<a href="#${line.id}">${line.title}</a> (${behindWhom(found)})`] : []
  })
  const adapter = same[0]?.own.entry.adapter
  const alike =
    same.some((found) => !all.includes(found)) && html` Of those on ${adapter} alone: ${counts(same)}.`
  return html`<li>
    <b>${title}</b>, in ${all.length} ${all.length === 1 ? 'table' : 'tables'}:
    ${counts(all)}.${alike}${
      behind.length > 0 &&
      html`<details>
        <summary>Where it is behind</summary>
        <ul>
          ${behind.map((where) => html`<li>${where}</li>`)}
        </ul>
      </details>`
    }
  </li>`
}

function counts(standings: readonly Standing[]): string {
  const count = (verdict: Verdict): number => standings.filter((one) => one.verdict === verdict).length
  const parts = [
    [count('ahead'), 'ahead of the best other entry in'],
    [count('tie'), 'level with the best in'],
    [count('behind'), 'behind the best in'],
  ] as const
  const undecided = count('undecided')
  return [
    ...parts.filter(([number]) => number > 0).map(([number, words]) => `${words} ${number}`),
    ...(undecided > 0 ? [`no verdict in ${undecided}, where there are fewer than five rounds`] : []),
  ].join(', ')
}

function behindWhom(found: readonly Standing[]): string {
  const names = [...new Set(found.map(({ other }) => titleOf(other.entry)))].join(', ')
  const ratios = found.map(({ ratio }) => ratio.median).toSorted((a, b) => a - b)
  const [least, most] = [difference(ratios[0] as number), difference(ratios.at(-1) as number)]
  return least === most ? `${names}, ${least}` : `${names}, ${least} to ${most}`
}

function tableLine({ title, id, tables }: Line, labels: readonly string[]): Markup {
  const { headline } = (tables[0] as Judged).table.scenario
  const [only] = tables.length === 1 ? tables : []
  const names = [...new Set(tables.flatMap(({ best }) => (best ? [titleOf(best.entry)] : [])))].join(', ')
  const best = only?.best && headlineOf(only.best, headline)
  const cells = labels.map((label) => (only ? verdictCell(only, label) : countCell(tables, label)))
  return html`<tr>
    <th scope="row"><a href="#${id}">${title}</a><small>${metrics[headline].title}</small></th>
    <td>${names || '–'}${best && html`<small>${quantity(headline, best.median)}</small>`}</td>
    ${cells}
  </tr>`
}

function countCell(tables: readonly Judged[], label: string): Markup {
  const all = tables.flatMap(({ all }) => all.get(label) ?? [])
  const parts = (['ahead', 'tie', 'behind', 'undecided'] as const).flatMap((verdict) => {
    const count = all.filter((one) => one.verdict === verdict).length
    return count > 0 ? [html`<div>${verdictWord(verdict)} in ${count} of ${tables.length}</div>`] : []
  })
  return html`<td>${parts.length > 0 ? parts : '–'}</td>`
}

function verdictCell({ table, all, same }: Judged, label: string): Markup {
  const { headline } = table.scenario
  const own = table.rows.find((row) => row.label === label)
  if (!own) return html`<td>–</td>`
  const estimate = headlineOf(own, headline)
  if (!estimate) return html`<td class="why">${own.problem ?? '–'}</td>`
  const [found, near] = [all.get(label), same.get(label)]
  const alike =
    near &&
    near !== found &&
    html`<small>on ${near.own.entry.adapter}: ${words(near)} (${titleOf(near.other.entry)})</small>`
  return html`<td>
    ${quantity(headline, estimate.median)}${found && html`<small>${words(found)}</small>`}${alike}
  </td>`
}

function words({ verdict, ratio }: Standing): Markup {
  return html`${verdictWord(verdict)}${verdict !== 'tie' && ` ${difference(ratio.median)}`} `
}

function verdictWord(verdict: Verdict): Markup {
  return html`<em class="${verdict}">${verdict === 'undecided' ? 'too few rounds' : verdict}</em>`
}
