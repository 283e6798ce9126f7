/** What the parser and the router cost without a server around them. */
import type { CriterionResult } from '../cell.ts'
import { barChart, nanoseconds } from './bars.ts'
import { type Markup, html } from './html.ts'

/** A chart and a table for each group: `wire/parse` of `wire/parse/minimal`. */
export function criterionSection(results: readonly CriterionResult[]): Markup | null {
  const known = results.filter(({ nanoseconds: time }) => Number.isFinite(time))
  if (known.length === 0) return null
  const groups = new Map<string, CriterionResult[]>()
  for (const result of known) {
    const group = result.name.split('/').slice(0, -1).join('/') || result.name
    groups.set(group, [...(groups.get(group) ?? []), result])
  }
  return html`<section id="criterion">
    <h2>Parser and router alone</h2>
    <p>
      Medians of <code>cargo bench</code> with Criterion’s 95 % intervals: one core, no sockets, no
      JavaScript.
    </p>
    ${[...groups].map(([group, members]) => criterionGroup(group, members))}
  </section>`
}

function criterionGroup(group: string, members: readonly CriterionResult[]): Markup {
  const short = (name: string): string => name.slice(name.lastIndexOf('/') + 1)
  const bars = members.map(({ name, nanoseconds: time, low, high }) => ({
    label: short(name),
    kind: 'ours' as const,
    estimate: { median: time, low, high },
    interval: Number.isFinite(low) && Number.isFinite(high),
    value: nanoseconds(time),
  }))
  const rows = members.map(
    ({ name, nanoseconds: time, low, high }) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${nanoseconds(time)}</td>
        <td>${nanoseconds(low)}</td>
        <td>${nanoseconds(high)}</td>
      </tr>`,
  )
  return html`<h3>${group}</h3>
    ${barChart(`${group}, ns; lower is better`, bars)}
    <details>
      <summary>Raw data</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="${group}, raw data">
        <table>
          <thead>
            <tr>
              <th>benchmark</th>
              <th>time</th>
              <th>from</th>
              <th>to</th>
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </div>
    </details>`
}
