/** What the parser and the router cost without a server around them. */
import type { CriterionResult } from '../cell.ts'
import { type Bar, barChart, nanoseconds } from './bars.ts'
import { type Markup, html } from './html.ts'

/** Crates that do the same work, measured beside ours: segments of the names of benchmarks. */
const others = ['httparse', 'matchit']
/** And the segments that are ours. */
const own = ['volant', 'wire']

interface Measured {
  readonly result: CriterionResult
  /** `core` of `core/wire/minimal_get`. */
  readonly group: string
  /** `minimal_get`; empty where the group has one case alone. */
  readonly work: string
  /** The crate that is not ours; null for ours. */
  readonly other: string | null
}

/** A chart and a table for each group, the same work of several crates side by side. */
export function criterionSection(results: readonly CriterionResult[]): Markup | null {
  const known = results.filter(({ nanoseconds: time }) => Number.isFinite(time))
  if (known.length === 0) return null
  const measured = known
    .map(measuredOf)
    .toSorted((a, b) => byNumber(a.work, b.work) || Number(a.other !== null) - Number(b.other !== null))
  const groups = [...new Set(measured.map(({ group }) => group))].toSorted(byNumber)
  return html`<section id="criterion">
    <h2>Parser and router alone</h2>
    <p>
      Medians of <code>cargo bench</code> with Criterion’s 95 % intervals: one core, no sockets, no
      JavaScript. httparse and matchit are crates of others; httparse alone checks less: no framing, no Host,
      no path, no bare line feed.
    </p>
    ${groups.map((group) =>
      criterionGroup(
        group,
        measured.filter((one) => one.group === group),
      ),
    )}
  </section>`
}

function measuredOf(result: CriterionResult): Measured {
  const segments = result.name.split('/')
  const other = segments.find((segment) => others.includes(segment)) ?? null
  const rest = segments.filter((segment) => segment !== other && !own.includes(segment))
  const work = rest.length > 1 ? (rest.pop() as string) : ''
  return { result, group: rest.join('/') || result.name, work, other }
}

/** `64` before `1460`. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

function criterionGroup(group: string, members: readonly Measured[]): Markup {
  const compared = members.some(({ other }) => other !== null)
  const bars = members.map(({ work, other, result: { nanoseconds: time, low, high } }): Bar => {
    const who = other ?? 'Volant'
    return {
      title: work || who,
      kind: other === null ? 'ours' : 'other',
      estimate: { median: time, low, high },
      interval: Number.isFinite(low) && Number.isFinite(high),
      value: nanoseconds(time),
      notes: work && compared ? [who] : [],
    }
  })
  const rows = members.map(
    ({ result: { name, nanoseconds: time, low, high } }) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${nanoseconds(time)}</td>
        <td>${nanoseconds(low)}</td>
        <td>${nanoseconds(high)}</td>
      </tr>`,
  )
  return html`<h3>${group}</h3>
    ${barChart('time, ns; lower is better', bars)}
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
