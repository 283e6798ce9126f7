/** The same entry on several versions of Node.js, one column a version. */
import type { Table } from '../analysis.ts'
import { metrics } from '../metrics.ts'
import { type Markup, html } from './html.ts'
import { figure, span } from './number.ts'
import { baseName } from '../ours.ts'
import { headlineOf } from '../standing.ts'

/** Null unless labels are like `native@22`, of two versions or more. */
export function nodeVersions({ rows, scenario: { headline } }: Table): Markup | null {
  const versioned = rows.flatMap((row) => {
    const version = /@(\d[\w.]*)$/.exec(row.label)?.[1]
    return version === undefined ? [] : [{ row, version, name: baseName(row.label) }]
  })
  const versions = [...new Set(versioned.map(({ version }) => version))].toSorted(
    (a, b) => Number.parseFloat(a) - Number.parseFloat(b),
  )
  if (versions.length < 2) return null
  const { title, unit, digits } = metrics[headline]
  const names = [...new Set(versioned.map(({ name }) => name))]
  const lines = names.map((name) => {
    const columns = versions.map((version) => {
      const row = versioned.find((one) => one.name === name && one.version === version)?.row
      const estimate = row && headlineOf(row, headline)
      if (!row) return html`<td>–</td>`
      if (!estimate) return html`<td class="why">${row.problem ?? 'not measured'}</td>`
      return html`<td>
        ${figure(headline, estimate.median)}${row.rounds > 1 && html` <small>${span(estimate, digits)}</small>`}
      </td>`
    })
    const title = versioned.find((one) => one.name === name)?.row.entry.title
    return html`<tr data-entry="${name}">
      <th scope="row">${title}</th>
      ${columns}
    </tr>`
  })
  const caption = `${title}${unit ? `, ${unit}` : ''}, by version of Node.js`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table class="sortable">
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">entry</th>
          ${versions.map((version) => html`<th scope="col">Node.js ${version}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
  </div>`
}
