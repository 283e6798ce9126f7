/** Everybody who was to be measured: what exactly ran, or why it did not. */
import type { Run } from '../cell.ts'
import { type Markup, html } from './html.ts'
import { scrollTable } from './scroll-table.ts'
import { titleOf } from './title.ts'

export function entrySection({ entries }: Run): Markup {
  const lines = entries.map(
    (entry) =>
      html`<tr${entry.error !== undefined && html` class="problem"`} data-entry="${entry.name}"><th scope="row">${titleOf(entry)}</th><td>${entry.name}</td><td>${entry.package ?? '–'}</td><td>${entry.version}</td><td>${entry.adapter}</td><td>${entry.runtime}</td><td class="why">${entry.error ?? entry.about}${!entry.javascript && ' (no JavaScript)'}</td></tr>`,
  )
  const titles = ['entry', 'on the command line', 'package', 'version', 'adapter', 'runtime', 'about']
  return html`<section id="entries">
    <h2>Entries</h2>
    ${
      entries.length === 0
        ? html`<p>The run has no entries.</p>`
        : scrollTable('Entries', titles, lines, 'sortable plain')
    }
  </section>`
}
