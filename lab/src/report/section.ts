/** A document with its scenarios, each with its charts, its tables and what is behind them. */
import type { Table } from '../analysis.ts'
import type { Lane, RunScenario } from '../cell.ts'
import { headlineBars } from './bars.ts'
import { latencyCurves } from './curve.ts'
import { type Markup, html } from './html.ts'
import { memoryLines } from './memory.ts'
import { metricTable } from './metric-table.ts'
import { nodeVersions } from './node-versions.ts'
import type { Palette } from './palette.ts'
import { rawData } from './raw.ts'
import { sweepCharts, sweepsOf } from './sweep.ts'

export interface ScenarioPlace {
  readonly scenario: RunScenario
  readonly id: string
  readonly tables: readonly Table[]
}

export interface DocumentPlace {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly scenarios: readonly ScenarioPlace[]
}

const laneTitles: Record<Lane, string> = {
  plain: 'keep-alive, no pipelining',
  pipelined: 'pipelined, not a headline figure',
  'new connections': 'a new connection for each request',
  'open loop': 'open loop',
  'no load': 'no load',
}

export function documentSection({ id, title, about, scenarios }: DocumentPlace, palette: Palette): Markup {
  return html`<section id="${id}">
    <h2>${title}</h2>
    <p>${about}</p>
    ${scenarios.map((place) => scenarioArticle(place, palette))}
  </section>`
}

function scenarioArticle({ scenario, id, tables }: ScenarioPlace, palette: Palette): Markup {
  const sweeps = sweepsOf(tables)
  const swept = new Set(sweeps.flatMap(({ points }) => points.map(({ table }) => table)))
  const alone = tables.filter((table) => !swept.has(table))
  return html`<article id="${id}">
    <h3>${scenario.title}</h3>
    <p>${scenario.about}</p>
    ${
      scenario.document &&
      html`<p class="original">The document measures it with</p>
        <div class="scroll" tabindex="0" role="region" aria-label="original command">
          <pre>${scenario.document.command}</pre>
        </div>`
    }${tables.length === 0 && html`<p class="why">No cell of it was finished in this run.</p>`}${sweeps.length > 0 && sweepCharts(sweeps, palette)}${sweeps.map(
      ({ points }) =>
        points.map(
          ({ table }) =>
            html`<details>
              <summary>${heading(table, true)}</summary>
              ${variantBody(table, palette)}
            </details>`,
        ),
    )}${alone.map(
      (table) =>
        html`<h4>${heading(table, tables.length > 1)}</h4>
          ${variantBody(table, palette)}`,
    )}
  </article>`
}

/** What tells a table from others of its scenario, in a title. */
export function distinction({ variant, lane }: Table, several: boolean): string {
  const name = several && variant !== 'default' && variant !== lane ? variant : ''
  return [name, lane === 'pipelined' ? 'pipelined' : ''].filter(Boolean).join(', ')
}

function heading({ variant, lane }: Table, several: boolean): string {
  const name = several && variant !== 'default' && variant !== lane ? `${variant}: ` : ''
  return `${name}${laneTitles[lane]}`
}

function variantBody(table: Table, palette: Palette): Markup {
  if (table.rows.length === 0) return html`<p class="why">No cell of it was finished in this run.</p>`
  const curves = latencyCurves(table, palette)
  const memory = memoryLines(table, palette)
  return html`${headlineBars(table)}${curves}${memory}${nodeVersions(table)}${metricTable(table)}${rawData(table)}`
}
