/** The report of a run as one page that needs nothing else: no script is needed to read it, no request is made. */
import { type Results, type Row, type Table, tables } from '../analysis.ts'
import type { Run, RunScenario } from '../cell.ts'
import { criterionSection } from './criterion.ts'
import { entrySection } from './entries.ts'
import { type Markup, html, verbatim } from './html.ts'
import { legendSection } from './legend.ts'
import { facts, methodSection } from './method.ts'
import { paletteOf } from './palette.ts'
import { script } from './script.ts'
import { type DocumentPlace, type ScenarioPlace, distinction, documentSection } from './section.ts'
import { styleSheet } from './style-sheet.ts'
import { type Placed, summarySection } from './summary.ts'

/** A whole HTML document. Everything from the results is escaped. */
export function reportPage(results: Results): string {
  const { run } = results
  const all = tables(results).map((table) => withAbsent(table, run))
  const documents = documentsOf(run.scenarios, all)
  const palette = paletteOf(run.entries)
  const placed = documents.flatMap(({ title, scenarios }) =>
    scenarios.flatMap((place) => place.tables.map((table) => placedTable(title, place, table))),
  )
  // A run may be named by the path of its folder.
  const name = run.name.split('/').at(-1) || run.name
  const criterion = criterionSection(run.criterion ?? [])
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${name} – Volant lab</title>
        <style>
          ${verbatim(styleSheet)}
        </style>
      </head>
      <body>
        <a class="skip" href="#summary">Skip to the results</a>
        <header id="top">
          <h1>Volant lab: ${name}</h1>
          <p class="lead-in">
            HTTP servers on the same machine, doing work that is checked, one after another in random order.
            ${run.settings.quick && html`<strong>A quick run: less of everything, not for publishing.</strong> `}${run.settings.rounds === 1 ? 'One round' : `${run.settings.rounds} rounds`};
            medians, 95 % intervals, ties called ties. <a href="#method">How it was measured</a>.
          </p>
          <dl class="facts">
            ${facts(results).map(
              ([term, text]) =>
                html`<div>
                  <dt>${term}</dt>
                  <dd>${text}</dd>
                </div>`,
            )}
          </dl>
        </header>
        <div class="layout">
          ${contents(documents, criterion !== null)}
          <main>
            ${summarySection(placed)} ${legendSection(run)}
            ${documents.map((document) => documentSection(document, palette))} ${criterion}
            ${entrySection(run)}
            ${methodSection(
              run,
              all.some(({ noise }) => noise !== null),
            )}
          </main>
        </div>
        <a class="to-top" href="#top">Back to top</a>
        <script>
          ${verbatim(script)}
        </script>
      </body>
    </html> `
  return page.text
}

/** Every entry of the run is in every table that has figures, if only with the reason why it has no figures there. */
function withAbsent(table: Table, { entries }: Run): Table {
  if (table.rows.length === 0) return table
  const present = new Set(table.rows.map(({ label }) => label))
  const absent = entries
    .filter(({ name }) => !present.has(name) && !name.includes('@'))
    .map((entry): Row => {
      const problem = entry.error === undefined ? 'not measured here' : `not run: ${entry.error}`
      const none = { estimates: {}, ratio: null, tie: false, flags: [], rounds: 0, discarded: 0, cells: [] }
      return { entry, label: entry.name, base: table.base, problem, ...none }
    })
  return absent.length > 0 ? { ...table, rows: [...table.rows, ...absent] } : table
}

/** The documents by the names that scenarios give them, in the order they are told about; ours come last. */
const known: Readonly<Record<string, string>> = {
  ramapi: 'RamAPI',
  veloze: 'veloze-benchmarks',
  zapjs: 'ZapJS',
  nessen: 'Nessen',
  veloxts: 'VeloxTS',
}

function documentTitle(name: string): string {
  return Object.hasOwn(known, name) ? (known[name] as string) : name
}

function documentsOf(scenarios: readonly RunScenario[], all: readonly Table[]): DocumentPlace[] {
  const names = scenarios.map(({ document }) => document?.name ?? null)
  const order = [
    ...Object.keys(known).filter((name) => names.includes(name)),
    ...names.filter((name) => name !== null),
  ]
  const places = scenarios.map((scenario, index): ScenarioPlace => ({
    scenario,
    id: `s${index}-${scenario.name.replace(/[^A-Za-z0-9]+/g, '-')}`,
    tables: all.filter((table) => table.scenario.name === scenario.name),
  }))
  const documents = [...new Set<string | null>([...order, null])].map((name, index): DocumentPlace => ({
    id: `d${index}`,
    title: name === null ? 'Our own scenarios' : documentTitle(name),
    about:
      name === null
        ? 'What none of the documents measures.'
        : `The scenarios of the ${documentTitle(name)} document, with the work of every entry checked.`,
    scenarios: places.filter(({ scenario }) => (scenario.document?.name ?? null) === name),
  }))
  return documents.filter((document) => document.scenarios.length > 0)
}

function placedTable(document: string, { scenario, id, tables: own }: ScenarioPlace, table: Table): Placed {
  const more = distinction(table, own.length > 1)
  const from = scenario.document ? `${document}: ` : ''
  return { table, id, scenario: `${from}${scenario.title}`, distinction: more }
}

function contents(documents: readonly DocumentPlace[], criterion: boolean): Markup {
  return html`<nav aria-label="Contents">
    <ul>
      <li class="up"><a href="#top">Top of the page</a></li>
      <li><a href="#summary">Who is ahead</a></li>
      <li><a href="#legend">How to read the charts</a></li>
      ${documents.map(
        (document) =>
          html`<li>
            <a href="#${document.id}">${document.title}</a>
            <ul>
              ${document.scenarios.map(({ id, scenario }) => html`<li><a href="#${id}">${scenario.title}</a></li>`)}
            </ul>
          </li>`,
      )}${criterion && html`<li><a href="#criterion">Parser and router alone</a></li>`}
      <li><a href="#entries">Entries</a></li>
      <li><a href="#method">Method</a></li>
    </ul>
  </nav>`
}
