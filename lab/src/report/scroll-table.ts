/** A table that scrolls inside its own box where the page is narrow. */
import { type Content, type Markup, html } from './html.ts'

/** `label` is for those who do not see the box; `kind` is a class of the table. */
export function scrollTable(
  label: string,
  titles: readonly string[],
  lines: readonly Content[],
  kind = '',
): Markup {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table${kind && html` class="${kind}"`}>
      <thead>
        <tr>
          ${titles.map((title) => html`<th scope="col">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
  </div>`
}
